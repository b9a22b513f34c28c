"""What would be forgotten is counted and shown with the commands that go, the same everywhere."""

import argparse
from collections.abc import Callable

import pytest
from tests.support.answers import Json, ask

from iai_mcp.cli import forget, memory_access
from iai_mcp.core import dispatch
from iai_mcp.domain.errors import InvalidInput
from iai_mcp.store import MemoryStore

Told = Callable[..., str]


def _said(number: int) -> Json:
    return {"text": f"heron number {number}", "id": f"said {number}", "role": "user"}


def _ran(number: int) -> Json:
    command = f"make heron-{number}"
    return _did("command", f"ran {number}", command, {"command": command, "exit": 0})


def _changed(number: int) -> Json:
    path = f"heron/{number}.py"
    return _did("edit", f"edited {number}", f"changed {path}", {"path": path})


def _did(kind: str, mark: str, text: str, work: Json) -> Json:
    return {"kind": kind, "role": "tool", "id": mark, "text": text, "work": work}


def _capture(store: MemoryStore, session: str, cwd: str, *events: Json) -> None:
    given = {"session_id": session, "cwd": cwd, "events": list(events)}
    dispatch(store, "capture_events", given)


@pytest.fixture
def store(opened: Callable[[], MemoryStore]) -> MemoryStore:
    store = opened()
    _capture(store, "shop", "/shop", *map(_said, range(45)), *map(_ran, range(7)))
    _capture(store, "bank", "/bank", *map(_said, range(50, 53)), _ran(8))
    return store


@pytest.fixture
def told(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Told:
    """What `iai-mcp forget` prints."""

    def call(method: str, params: Json, *_: object, **__: object) -> Json:
        return dispatch(store, method, params)

    def run(*arguments: str) -> str:
        parser = argparse.ArgumentParser()
        forget.configure(parser)
        assert forget.run(parser.parse_args(arguments)) == 0
        return capsys.readouterr().out

    monkeypatch.setattr(memory_access, "call", call)
    return run


def test_projects_count_commands_too(store: MemoryStore) -> None:
    asked = {"query": "heron", "dry_run": True, "show": 5}
    would = ask(store, "memory_forget", **asked)

    assert would["matches"] == 56
    assert would["projects"] == {"/shop": 52, "/bank": 4}


def test_people_are_told_how_much_of_either(store: MemoryStore, told: Told) -> None:
    assert (
        "48 memories and 8 commands would go (52 in /shop, 4 in /bank)"
        in told("--query", "heron", "--dry-run").splitlines()
    )
    assert told("--query", "heron", "--yes").startswith("forgot 48 memories and 8 commands\n")


def test_an_agent_is_told_the_same_and_may_take_no_more_of_both(store: MemoryStore) -> None:
    with pytest.raises(InvalidInput, match="48 memories and 8 commands would go"):
        dispatch(store, "memory_forget", {"query": "heron", "visitor": True})
    assert ask(store, "memory_forget", query="heron", dry_run=True)["matches"] == 56


def test_commands_are_among_the_samples(store: MemoryStore, told: Told) -> None:
    lines = told("--query", "heron", "--dry-run").splitlines()

    assert sum("user: heron number" in line for line in lines) == 8
    assert sum("command: make heron-" in line for line in lines) == 2
    assert "  and 46 more" in lines


def test_a_session_whose_turns_others_repeat_shows_what_it_did(
    store: MemoryStore, told: Told
) -> None:
    same = "00000000-0000-4000-8000-000000000090"
    turn = {**_said(90), "id": same, "uid": same, "host": "claude-code"}
    turn["ts"] = "2026-03-01T09:30:00.123Z"
    _capture(store, "first", "/shop", turn)
    _capture(store, "fork", "/shop", turn, _ran(91), _changed(92))

    lines = told("--session-id", "fork", "--dry-run").splitlines()

    assert "1 command and 1 edit would go" in lines
    assert any("command: make heron-91" in line for line in lines)
    assert any("edit: changed heron/92.py" in line for line in lines)
    assert not any("more" in line for line in lines)
