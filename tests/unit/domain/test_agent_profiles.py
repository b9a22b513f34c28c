"""Profiles, projects, terminals and plans as values."""

from typing import Any

import pytest

from iai_mcp.domain.agents.launch import ArgsPlan, EnvPlan, FilePlan, RunFile, SpawnSpec
from iai_mcp.domain.agents.profile import (
    AgentProfile,
    ConventionFile,
    EnvVariable,
    Flag,
    Stdin,
    parse_injection,
)
from iai_mcp.domain.agents.terminal import SessionPhase, SessionStatus, TerminalSize
from iai_mcp.domain.errors import InvalidInput
from iai_mcp.domain.projects.project import Project, ProjectPath, RemoteRef


@pytest.mark.parametrize(
    ("spec", "injection"),
    [
        ("convention_file:CLAUDE.md", ConventionFile("CLAUDE.md")),
        ("flag:--append-system-prompt", Flag("--append-system-prompt")),
        ("env:AGENT_CONTEXT", EnvVariable("AGENT_CONTEXT")),
        ("stdin", Stdin()),
    ],
)
def test_an_injection_is_read_and_written_alike(spec: str, injection: object) -> None:
    assert parse_injection(spec) == injection
    assert str(injection) == spec


@pytest.mark.parametrize(
    "spec",
    [
        "convention_file:",
        "convention_file:a/b.md",
        "convention_file:..",
        "convention_file:a\\b",
        "flag:read",
        "flag:--",
        "env:1X",
        "env:A=B",
        "stdin:x",
        "pipe:x",
        "",
    ],
)
def test_an_injection_that_can_not_work_is_refused(spec: str) -> None:
    with pytest.raises(InvalidInput):
        parse_injection(spec)


@pytest.mark.parametrize(
    "wrong",
    [
        {"id": "Has Space"},
        {"name": ""},
        {"command": "  "},
        {"detect": " "},
        {"cwd_template": "relative"},
        {"cwd_template": "{home}"},
    ],
)
def test_an_invalid_profile_can_not_be_made(wrong: dict[str, str]) -> None:
    fields: dict[str, Any] = {"id": "p", "name": "P", "command": "p", "injection": Stdin()}
    with pytest.raises(InvalidInput):
        AgentProfile(**(fields | wrong))


def test_the_working_directory_follows_the_template() -> None:
    here = AgentProfile("p", "P", "p", Stdin())
    there = AgentProfile("p", "P", "p", Stdin(), cwd_template="{projectRoot}/sub")

    assert here.cwd("/p/.ideai/run/a", "/p") == "/p/.ideai/run/a"
    assert there.cwd("/p/.ideai/run/a", "/p") == "/p/sub"


def test_a_project_path_is_absolute_and_plain() -> None:
    assert ProjectPath("//home/ann/./shop/../shop/").text == "/home/ann/shop"
    with pytest.raises(InvalidInput):
        ProjectPath("shop")


def test_a_run_directory_can_not_leave_the_project() -> None:
    path = ProjectPath("/p")

    assert path.run_dir("a-1") == "/p/.ideai/run/a-1"
    for wrong in ("", "..", "a/b", ".hidden"):
        with pytest.raises(InvalidInput):
            path.run_dir(wrong)


def test_a_remote_is_local_or_a_machine_as_ssh_names_it() -> None:
    for right in ("local", "ssh://ann@host:22", "ssh://ann@host", "ssh://build-box"):
        assert str(RemoteRef.parse(right)) == right
    for wrong in ("ssh://", "ssh://a@h:99999", "ssh://-oProxy=x", "ssh://h/p", "http://x", ""):
        with pytest.raises(InvalidInput):
            RemoteRef.parse(wrong)


def test_a_project_has_a_name() -> None:
    with pytest.raises(InvalidInput):
        Project("p", " ", ProjectPath("/p"), 0)


def test_sizes_and_states_of_terminals_are_possible_ones() -> None:
    for wrong in ((0, 80), (24, 0), (24, 70_000)):
        with pytest.raises(InvalidInput):
            TerminalSize(*wrong)
    with pytest.raises(InvalidInput):
        SessionStatus(SessionPhase.RUNNING, 0)


def test_plans_stay_inside_the_run_directory() -> None:
    for target in ("../x", "/etc/x", "a/b", ""):
        with pytest.raises(InvalidInput):
            FilePlan(target)
        with pytest.raises(InvalidInput):
            ArgsPlan(("--read", "x"), target)
        with pytest.raises(InvalidInput):
            EnvPlan({"A": "x"}, target)
    for path in ("../x", "/x", "a/../x", "a//b"):
        with pytest.raises(InvalidInput):
            RunFile(path, "")


def test_a_program_starts_somewhere_and_is_named() -> None:
    with pytest.raises(InvalidInput):
        SpawnSpec(" ", (), "/p")
    with pytest.raises(InvalidInput):
        SpawnSpec("x", (), "relative")
    with pytest.raises(InvalidInput):
        SpawnSpec("x", ("a\0b",), "/p")


def test_the_address_of_a_far_project_is_a_machine_and_a_path() -> None:
    remote, path = RemoteRef.split("ssh://ann@host:22/srv/shop")

    assert (remote.machine, remote.port, path) == ("ann@host", 22, "/srv/shop")
    assert RemoteRef.split("ssh://host/~/shop")[1] == "~/shop"
    assert (
        Project("p", "Shop", ProjectPath(path), 0, remote).address == "ssh://ann@host:22/srv/shop"
    )
