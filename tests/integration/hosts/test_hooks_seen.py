"""The doctor tells when a host's hooks last ran, and warns where the host runs without them."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.integration.hosts.test_hosts_command import environment, hosts

TALK = '{"type": "session_meta", "payload": {"id": "s"}}\n'


def doctor(home: Path) -> dict[str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "iai_mcp.cli", "doctor", "--json"],
        env=environment(home),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    checks = {one["name"]: one for one in json.loads(done.stdout)["checks"]}
    return dict(checks["host codex"])


def hook(home: Path, event: str) -> None:
    subprocess.run(
        [sys.executable, "-m", "iai_mcp.cli", "hook", "codex", event],
        env=environment(home),
        input="{}",
        text=True,
        timeout=60,
        check=True,
    )


@pytest.fixture
def connected(home: Path) -> Path:
    """A home with Codex, connected, whose last session was before that."""
    rollout = home / ".codex/sessions/2026/03/01/rollout-1.jsonl"
    rollout.parent.mkdir(parents=True)
    rollout.write_text(TALK)
    before = time.time() - 3600
    os.utime(rollout, (before, before))
    assert hosts(home, "install", "codex", "--yes").returncode == 0
    return home


def later(home: Path, hours: float) -> None:
    """Codex was used so many hours from now."""
    (rollout,) = home.rglob("rollout-1.jsonl")
    moment = time.time() + hours * 3600
    os.utime(rollout, (moment, moment))


def test_a_host_that_was_not_used_since_is_not_warned_of(connected: Path) -> None:
    told = doctor(connected)
    assert told["status"] == "PASS"
    assert "none of them yet" in told["detail"]


def test_a_host_that_is_used_while_no_hook_comes_is_warned_of(connected: Path) -> None:
    later(connected, 0.1)
    told = doctor(connected)
    assert told["status"] == "WARN"
    assert "no hook came" in told["detail"]
    assert "/hooks" in told["fix"]
    assert "hooks.json" in told["fix"]


def test_hooks_that_ran_are_named_with_their_time(connected: Path) -> None:
    hook(connected, "SessionStart")
    hook(connected, "Stop")
    later(connected, 1)
    told = doctor(connected)
    assert told["status"] == "PASS"
    assert f"start {time.strftime('%Y-')}" in told["detail"]
    assert f"stop {time.strftime('%Y-')}" in told["detail"]
    assert "never: prompt" in told["detail"]
    later(connected, 3)
    assert doctor(connected)["status"] == "WARN"


def test_a_link_in_the_place_of_the_note_is_not_followed(connected: Path, tmp_path: Path) -> None:
    hook(connected, "Stop")
    (noted,) = Path(os.environ["IAI_MCP_STORE"]).rglob("codex.stop")
    noted.unlink()
    target = tmp_path / "somebody's"
    target.write_text("theirs")
    os.utime(target, (1, 1))
    noted.symlink_to(target)
    hook(connected, "Stop")
    assert target.stat().st_mtime == 1
