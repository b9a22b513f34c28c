"""Looking for agent programs that behave badly."""

import os
import time
from pathlib import Path

from iai_mcp.adapters.agent_runtime import LocalRuntime
from iai_mcp.domain.agents.profile import AgentProfile, Stdin


def program(folder: Path, name: str, text: str) -> AgentProfile:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return AgentProfile(name, name.title(), name, Stdin(), detect=f"{name} --version")


def test_programs_are_asked_all_at_once_and_none_may_hold_the_others_up(tmp_path: Path) -> None:
    slow = [program(tmp_path, f"slow{n}", "sleep 60 & wait") for n in range(4)]
    quick = program(tmp_path, "quick", "echo version 1.2.3-beta of quick")
    runtime = LocalRuntime({"PATH": f"{tmp_path}:{os.environ['PATH']}"}, patience=1.0)
    began = time.monotonic()
    found = runtime.detect([*slow, quick])
    took = time.monotonic() - began

    assert [d.problem for d in found[:4]] == ["it did not answer within 1 s"] * 4
    assert (found[4].version, found[4].problem) == ("1.2.3-beta", None)
    # One after the other would have taken four seconds at least.
    assert took < 4.0


def test_what_a_hanging_program_started_is_ended_too(tmp_path: Path) -> None:
    told = tmp_path / "pid"
    hanging = program(tmp_path, "hanging", f"sleep 60 & echo $! > {told}; wait")
    LocalRuntime({"PATH": f"{tmp_path}:{os.environ['PATH']}"}, patience=1.0).detect([hanging])

    status = Path(f"/proc/{told.read_text().strip()}/stat")
    assert not status.exists() or status.read_text().rpartition(")")[2].split()[0] == "Z"


def test_a_program_that_can_not_be_started_is_a_problem_not_a_crash(tmp_path: Path) -> None:
    broken = program(tmp_path, "broken", "")
    (tmp_path / "broken").write_text("#!/no/such/interpreter\n")
    (tmp_path / "quoted").write_text("#!/bin/sh\n")
    (tmp_path / "quoted").chmod(0o755)
    quoted = AgentProfile("quoted", "Quoted", "quoted", Stdin(), detect="quoted 'unclosed")
    runtime = LocalRuntime({"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    first, second = runtime.detect([broken, quoted])

    assert first.installed
    assert first.problem is not None
    assert "can not be started" in first.problem
    assert second.problem == "no closing quotation"
