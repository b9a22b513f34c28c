"""Commands that a forked session repeats: forgetting one of the sessions, and moving to another store."""

import argparse
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.answers import Json, ask

from iai_mcp.cli import forget, memory_access
from iai_mcp.core import dispatch
from iai_mcp.ports.memories import Scope
from iai_mcp.store import MemoryStore

Opened = Callable[[], MemoryStore]
CALL = "toolu_01HhwMx5SXcsJv96qa9TXrxu"  # as long as hosts make them: the same in every session


def said(mark: str, text: str) -> Json:
    return {"role": "user", "id": mark, "text": text, "ts": "2026-03-01T10:00:00Z"}


def ran(command: str, turn: str = "", mark: str = CALL) -> Json:
    work = {"command": command, "output": "built the heron", "exit": 0}
    told = {"role": "tool", "kind": "command", "id": mark, "text": command, "work": work}
    return {**told, "ts": "2026-03-01T10:01:00Z", **({"turn": turn} if turn else {})}


def capture(store: MemoryStore, session: str, *events: Json) -> None:
    given = {"session_id": session, "host": "claude-code", "cwd": "/shop", "events": list(events)}
    dispatch(store, "capture_events", given)


def found(store: MemoryStore, word: str) -> int:
    return len(store.works.by_words([word], Scope(), ("command", "edit"), 9))


def is_in_the_index(store: MemoryStore, word: str) -> bool:
    with store.database.reading() as db:
        pages = [bytes(row[0]) for row in db.execute("SELECT block FROM work_words_data")]
    return any(word.encode() in page for page in pages)


def of_session(store: MemoryStore, session: str) -> int:
    return len(store.works.keys(Scope(session_id=session)))


def test_the_words_of_a_forgotten_prompt_do_not_lead_to_what_a_fork_keeps(opened: Opened) -> None:
    store = opened()
    capture(store, "a", said("p1", "please quokkaword the sprocket"), ran("make x", "p1"))
    capture(store, "b", said("p2", "something else"), ran("make x"))
    assert found(store, "quokkaword") == 1
    assert is_in_the_index(store, "quokkaword")

    ask(store, "memory_forget", session_id="a")

    assert found(store, "quokkaword") == 0
    assert not is_in_the_index(store, "quokkaword")
    assert [found(store, word) for word in ("make", "built")] == [1, 1]
    assert ask(store, "export_work_page")["records"][0]["turn"] is None


@pytest.mark.parametrize("by", ["query", "id"])
def test_the_words_of_a_forgotten_prompt_do_not_lead_to_what_it_asked_for(
    opened: Opened, by: str
) -> None:
    store = opened()
    other = said("p2", "please quokkaword the other sprocket")
    capture(store, "a", said("p1", "please wombatword the axle"), ran("make y", "p1"))
    capture(store, "a", other, ran("make z", "p2", "toolu_02HhwMx5SXcsJv96qa9TXrxu"))
    (prompt,) = ask(store, "memory_recall", cue="wombatword axle", kind="said")["hits"][:1]

    ask(
        store,
        "memory_forget",
        **({"query": "wombatword"} if by == "query" else {"ids": [prompt["id"]]}),
    )

    assert found(store, "wombatword") == 0
    assert not is_in_the_index(store, "wombatword")
    assert found(store, "make") == 2
    assert found(store, "quokkaword") == 1


def test_sleep_takes_out_the_words_of_prompts_that_an_older_version_forgot(opened: Opened) -> None:
    store = opened()
    capture(store, "a", said("p1", "please wombatword the axle"), said("p2", "and now?"))
    capture(store, "a", ran("make y", "p1"), ran("make z", "p2", "toolu_02HhwMx5SXcsJv96qa9TXrxu"))
    with store.database.writing() as db:
        db.execute("DELETE FROM memories WHERE text LIKE '%wombatword%'")
    assert found(store, "wombatword") == 1

    store.sleep.run()

    assert found(store, "wombatword") == 0
    assert not is_in_the_index(store, "wombatword")
    assert found(store, "make") == 2


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """What `iai-mcp forget` prints."""

    def run(store: MemoryStore, *arguments: str) -> str:
        def call(method: str, params: Json, *_: object, **__: object) -> Json:
            return dispatch(store, method, params)

        monkeypatch.setattr(memory_access, "call", call)
        parser = argparse.ArgumentParser()
        forget.configure(parser)
        assert forget.run(parser.parse_args(arguments)) == 0
        return capsys.readouterr().out

    return run


def test_a_session_that_has_only_what_another_repeats_can_be_forgotten(
    opened: Opened, told: Callable[..., str]
) -> None:
    store = opened()
    capture(store, "s1", ran("make x"))
    capture(store, "s2", ran("make x"))

    assert "1 command stays with another session" in told(store, "--session-id", "s1", "--dry-run")
    assert of_session(store, "s1") == 1
    lines = told(store, "--session-id", "s1", "--yes").splitlines()

    assert lines == ["forgot nothing for good", "1 command stays with another session"]
    assert (of_session(store, "s1"), of_session(store, "s2")) == (0, 1)
    assert told(store, "--session-id", "s1", "--yes").startswith("nothing matches")
    assert told(store, "--session-id", "s2", "--yes").startswith("forgot 1 command\n")


def test_what_stays_is_counted_with_the_commands(opened: Opened, told: Callable[..., str]) -> None:
    store = opened()
    uid = "00000000-0000-4000-8000-000000000090"
    turn = {**said(uid, "the heron nests at noon"), "uid": uid}
    turn["ts"] = "2026-03-01T09:30:00.123Z"
    for session in ("s1", "s2"):
        capture(store, session, turn, ran("make x"))

    would = ask(store, "memory_forget", session_id="s1", dry_run=True)
    assert (would["matches"], would["stay_with_others"]) == (0, 2)
    assert would["stay_kinds"] == {"command": 1}
    line = "1 memory and 1 command stay with another session"
    assert line in told(store, "--session-id", "s1", "--dry-run").splitlines()
    done = ask(store, "memory_forget", session_id="s1")
    assert (done["forgotten"], done["stay_with_others"]) == (0, 2)
    assert (of_session(store, "s1"), of_session(store, "s2")) == (0, 1)


def test_an_export_carries_the_sessions_of_a_command(
    opened: Opened, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    store = opened()
    for session in ("s1", "s2", "s3"):
        capture(store, session, ran("make x"))
    capture(store, "s1", ran("make alone", mark="toolu_02HhwMx5SXcsJv96qa9TXrxu"))
    ask(store, "memory_forget", session_id="s3")
    records = ask(store, "export_work_page")["records"]
    assert [one.get("sessions") for one in records] == [["s1", "s2"], None]
    store.close()
    monkeypatch.setenv("IAI_MCP_STORE", str(tmp_path / "other"))
    other = opened()

    assert ask(other, "import_records", records=records)["inserted"] == 2
    assert ask(other, "import_records", records=records)["duplicates"] == 2

    assert [of_session(other, session) for session in ("s1", "s2", "s3")] == [2, 1, 0]
    assert ask(other, "memory_forget", session_id="s1")["stay_with_others"] == 1
    assert (of_session(other, "s1"), of_session(other, "s2")) == (0, 1)
