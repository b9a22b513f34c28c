"""One rule names an agent, for every command and method about agents and sessions."""

import pytest
from tests.integration.agents.conftest import Machine

from iai_mcp.api.table import call
from iai_mcp.domain.errors import InvalidInput, NotFound
from iai_mcp.workspace import open_workspace


def made(machine: Machine, name: str) -> dict[str, object]:
    agent = machine.json("agent", "create", name, "--profile", "shell")["agent"]
    assert isinstance(agent, dict)
    return agent


def slugs(machine: Machine) -> list[str]:
    agents = machine.json("agent", "list")["agents"]
    assert isinstance(agents, list)
    return [agent["slug"] for agent in agents]


def launched(machine: Machine, agent: str) -> str:
    session = machine.json("agent", "launch", agent, "--detach")["session"]
    assert isinstance(session, dict)
    return str(session["id"])


@pytest.mark.parametrize("name", ["Backend", "backend", "BACKEND"])
def test_a_second_delete_is_not_found_and_deletes_no_other_agent(
    machine: Machine, name: str
) -> None:
    first = made(machine, name)
    made(machine, name)
    machine.json("agent", "delete", "backend")

    for reference in ("backend", str(first["id"]), str(first["id"])[:8]):
        assert machine.error("agent", "delete", reference)["code"] == "NOT_FOUND"

    assert slugs(machine) == ["backend-2"]
    assert (machine.project / ".ideai/agents/backend-2.md").exists()


def test_a_second_delete_by_name_is_not_found(machine: Machine) -> None:
    made(machine, "C++ Dev (core)")
    made(machine, "c++ dev (core)")
    machine.json("agent", "delete", "C++ Dev (core)")

    assert machine.error("agent", "delete", "C++ Dev (core)")["code"] == "NOT_FOUND"
    assert slugs(machine) == ["c-dev-core-2"]


def test_a_name_that_two_agents_have_lists_both(machine: Machine) -> None:
    first, second = made(machine, "Backend"), made(machine, "Backend")

    error = machine.error("agent", "delete", "Backend")

    assert error["code"] == "INVALID"
    for agent in (first, second):
        assert f"{agent['slug']}) {agent['id']}" in error["message"]
    assert slugs(machine) == ["backend", "backend-2"]


def test_every_method_about_agents_takes_a_prefix_of_the_id_and_no_other_spelling(
    machine: Machine,
) -> None:
    agent = made(machine, "Backend Dev")
    workspace, project = open_workspace(), str(machine.project)
    prefix = str(agent["id"])[:6]
    for method in ("agents_show", "agents_edit", "agents_launch"):
        params: dict[str, object] = {"project": project, "print_only": True}
        call(workspace, method, {**params, "agent": prefix})
        for wrong in ("BACKEND DEV", "Backend-Dev", prefix[:5]):
            with pytest.raises(NotFound):
                call(workspace, method, {**params, "agent": wrong})


def test_sessions_are_found_by_the_agents_slug_name_and_id(machine: Machine) -> None:
    names = ("backend", "backend", "C++ Dev (core)")
    agents = [made(machine, name) for name in names]
    sessions = [launched(machine, str(agent["slug"])) for agent in agents]

    for agent, session in zip(agents, sessions, strict=True):
        for reference in (agent["slug"], agent["id"], str(agent["id"])[:8], session[:6]):
            assert machine.json("session", "logs", str(reference))["session"] == session
    assert machine.json("session", "logs", "C++ Dev (core)")["session"] == sessions[2]

    workspace = open_workspace()
    for reference in ("c++ dev (core)", "Backend", sessions[0][:5]):
        with pytest.raises(NotFound):
            call(workspace, "sessions_logs", {"session": reference})


def test_a_session_of_a_renamed_agent_is_found_by_its_present_name(machine: Machine) -> None:
    made(machine, "Ada")
    session = launched(machine, "ada")
    machine.json("agent", "edit", "ada", "--name", "Grace")

    assert machine.json("session", "logs", "Grace")["session"] == session
    assert machine.error("session", "logs", "Ada")["code"] == "NOT_FOUND"


def test_a_kill_by_a_name_that_two_agents_have_is_refused_even_if_one_of_them_runs(
    machine: Machine,
) -> None:
    made(machine, "Backend")
    made(machine, "Backend")
    launched(machine, "backend-2")

    with pytest.raises(InvalidInput, match="backend-2"):
        call(open_workspace(), "sessions_kill", {"session": "Backend"})
    assert machine.error("session", "kill", "backend")["code"] == "NOT_FOUND"
    machine.json("session", "kill", "backend-2")
