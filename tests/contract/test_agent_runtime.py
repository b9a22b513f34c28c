"""What every `AgentRuntime` promises."""

import os
from pathlib import Path

import pytest
from tests.fakes.agent_runtime import FakeRuntime

from iai_mcp.adapters.agent_runtime import LocalRuntime
from iai_mcp.domain.agents.host_wiring import Invocation, MemoryWiring
from iai_mcp.domain.agents.launch import ArgsPlan, EnvPlan, FilePlan, StdinPlan
from iai_mcp.domain.agents.profile import AgentProfile, ConventionFile, EnvVariable, Flag, Stdin
from iai_mcp.ports.agent_world import AgentRuntime
from iai_mcp.remote.json_fields import Fields
from iai_mcp.remote.machine import Machine
from iai_mcp.remote.ports import RemoteRuntime

PROGRAM = AgentProfile("tool", "Tool", "tool", ConventionFile("T.md"), detect="tool --version")
ABSENT = AgentProfile("absent", "Absent", "no-such-program", Stdin(), detect="no-such-program -v")


@pytest.fixture(params=["fake", "local", "far"])
def runtime(request: pytest.FixtureRequest, tmp_path: Path) -> AgentRuntime:
    if request.param == "fake":
        return FakeRuntime(missing=["no-such-program"])
    tool = tmp_path / "tool"
    tool.write_text("#!/bin/sh\necho tool 1.0\n")
    tool.chmod(0o755)
    if request.param == "far":
        machine: Machine = request.getfixturevalue("far")
        home = Fields(machine.hello().all()).text("home")
        # As a person's login shell is set up: sshd's own PATH does not have it.
        Path(home, ".profile").write_text(f"echo hello; PATH={tmp_path}:$PATH\n")
        machine.close()
        return RemoteRuntime(machine)
    return LocalRuntime({"PATH": f"{tmp_path}:{os.environ['PATH']}"})


def launch(run_dir: str = "/p/.ideai/run/a") -> Invocation:
    memory = MemoryWiring(("py", "bridge"), ("py", "hook"), {"IAI_MCP_AGENT_ID": "a"})
    return Invocation("a", "Ada", "s-1", "/p", run_dir, memory)


def test_an_installed_program_is_found_and_says_its_version(runtime: AgentRuntime) -> None:
    found, absent = runtime.detect([PROGRAM, ABSENT])

    assert (found.profile_id, found.installed, found.version) == ("tool", True, "1.0")
    assert found.path is not None
    assert found.path.endswith("/tool")
    assert (absent.profile_id, absent.installed, absent.path) == ("absent", False, None)


def test_finding_needs_no_detect_command(runtime: AgentRuntime) -> None:
    assert runtime.find(PROGRAM) is not None
    assert runtime.find(ABSENT) is None


@pytest.mark.parametrize(
    ("injection", "plan"),
    [
        (ConventionFile("X.md"), FilePlan("X.md")),
        (Flag("--read"), ArgsPlan(("--read", "/p/.ideai/run/a/context.md"), "context.md")),
        (EnvVariable("CTX"), EnvPlan({"CTX": "/p/.ideai/run/a/context.md"}, "context.md")),
        (Stdin(), StdinPlan()),
    ],
)
def test_every_injection_becomes_its_plan(
    runtime: AgentRuntime,
    injection: ConventionFile | Flag | EnvVariable | Stdin,
    plan: FilePlan | ArgsPlan | EnvPlan | StdinPlan,
) -> None:
    profile = AgentProfile("tool", "Tool", "tool", injection, args=("--fast",))
    spec = runtime.prepare_invocation(profile, launch(), "/p/.ideai/run/a")

    assert spec.context_plan == plan
    assert spec.command == "tool"
    assert spec.args[:1] == ("--fast",)
    assert spec.cwd == "/p/.ideai/run/a"
    assert spec.env["IAI_MCP_AGENT_ID"] == "a"


def test_preparing_touches_nothing(runtime: AgentRuntime, tmp_path: Path) -> None:
    run_dir = tmp_path / "project" / ".ideai" / "run" / "a"
    first = runtime.prepare_invocation(PROGRAM, launch(str(run_dir)), str(run_dir))
    second = runtime.prepare_invocation(PROGRAM, launch(str(run_dir)), str(run_dir))

    assert first == second
    assert not (tmp_path / "project").exists()
