"""A scope per session where a systemd user manager gives one, and none where it will not."""

from pathlib import Path

import pytest
from tests.terminal_kit import Desk


@pytest.fixture
def manager(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine that looks as if a user manager runs; its `systemd-run` is written by the test."""
    runtime, programs = tmp_path / "runtime", tmp_path / "bin"
    (runtime / "systemd").mkdir(parents=True)
    (runtime / "systemd" / "private").touch()
    programs.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    return programs / "systemd-run"


def script(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o700)


def test_a_session_starts_in_a_scope_of_its_own(desk: Desk, manager: Path) -> None:
    asked = manager.parent / "asked"
    script(manager, f'echo "$@" > {asked}; while [ "$1" != -- ]; do shift; done; shift; exec "$@"')

    session = desk.start("sh", "-c", "exit 3")

    assert desk.ended(session).exit_code == 3
    assert "--user --scope" in asked.read_text()


def test_a_manager_that_refuses_is_gone_without(desk: Desk, manager: Path) -> None:
    script(manager, "exit 1")

    session = desk.start("sh", "-c", "exit 3")

    assert desk.ended(session).exit_code == 3


def test_a_missing_program_is_missing_in_a_scope_too(desk: Desk, manager: Path) -> None:
    script(manager, 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"')

    done = desk.cli("session", "start", "--json", "--", "no-such-program-at-all")

    assert "NOT_INSTALLED" in done.stdout


def test_no_scope_is_asked_for_when_it_is_not_wanted(
    desk: Desk, manager: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = manager.parent / "asked"
    script(manager, f"touch {asked}; exit 1")
    monkeypatch.setenv("IAI_MCP_SESSION_SCOPE", "0")

    session = desk.start("true")

    assert desk.ended(session).exit_code == 0
    assert not asked.exists()
