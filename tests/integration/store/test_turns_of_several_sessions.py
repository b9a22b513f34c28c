"""A turn that a host repeats in a forked, resumed or copied session is one memory of all of them."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from tests.support.answers import ask
from tests.support.circles import take_out_sharing

from iai_mcp.core import dispatch
from iai_mcp.store import MemoryStore

Events = list[dict[str, object]]
Opened = Callable[[], MemoryStore]


def turns(*texts: str, uids: bool = True, first: int = 0) -> Events:
    """What a host's transcript says: the same ids, times and words in each of its copies."""
    made: Events = []
    for number, text in enumerate(texts, first):
        name = f"00000000-0000-4000-8000-{number:012d}"
        event: dict[str, object] = {
            "text": text,
            "role": "assistant" if number % 2 else "user",
            "id": name,
            "host": "claude-code",
            "ts": f"2026-03-01T09:{number:02d}:00.123Z",
        }
        made.append({**event, "uid": name} if uids else event)
    return made


TALK = ("which port does the heron use?", "5433, as before.", "and the ibis?", "5434.")


def capture(store: MemoryStore, session: str, events: Events) -> tuple[object, object]:
    told = dispatch(store, "capture_events", {"session_id": session, "events": events})
    return told["inserted"], told["duplicates"]


def said(store: MemoryStore, session: str = "") -> list[str]:
    asked = {"session_id": session} if session else {}
    return [one["text"] for one in records(store, **asked)]


def records(store: MemoryStore, **asked: object) -> list[dict[str, Any]]:
    told = dispatch(store, "memory_timeline", asked)["records"]
    assert isinstance(told, list)
    return told


def as_an_older_version_left_it(opened: Opened, sessions: Sequence[str], events: Events) -> None:
    """A store in which each session has turns of its own, made before turns had a `uid`."""
    store = opened()
    for session in sessions:
        assert capture(store, session, events) == (len(events), 0)
    with store.database.writing() as db:
        take_out_sharing(db)
        db.execute(
            "DROP TABLE aliases; DROP TABLE further_sessions; DELETE FROM meta WHERE name <> 'salt'"
        )
        db.pragma("user_version", 4)
    store.close()


def mended(store: MemoryStore) -> int:
    pages = 0
    while store.memories.mend(3)[0]:
        pages += 1
    return pages


def test_a_turn_that_a_second_session_repeats_is_stored_once_and_belongs_to_both(
    opened: Opened,
) -> None:
    store = opened()
    assert capture(store, "first", turns(*TALK)) == (4, 0)
    assert capture(store, "fork", turns(*TALK, "and the egret?")) == (1, 4)
    assert capture(store, "fork", turns(*TALK, "and the egret?")) == (0, 5)
    assert said(store) == [*TALK, "and the egret?"]
    assert said(store, "first") == list(TALK)
    assert said(store, "fork") == [*TALK, "and the egret?"]
    for session in ("first", "fork"):
        hits = ask(store, "memory_recall", cue="heron port", session_id=session)["hits"]
        assert "5433, as before." in [hit["text"] for hit in hits]
        assert {hit["session_id"] for hit in hits} == {session}
    (shown,) = [one for one in records(store, session_id="fork") if one["text"] == TALK[0]]
    assert (shown["session_id"], shown["sessions"]) == ("fork", ["first", "fork"])


def test_the_turns_before_a_forks_own_are_those_it_was_forked_from(opened: Opened) -> None:
    store = opened()
    capture(store, "first", turns(*TALK))
    capture(store, "fork", [*turns(*TALK[:2]), *turns("only in the fork", first=10)])
    (own,) = [one for one in records(store) if one["text"] == "only in the fork"]
    around = dispatch(store, "memory_show", {"id": own["id"], "around": 2})
    assert TALK[1] in repr(around)
    assert TALK[2] not in repr(around)


def test_what_was_stored_without_a_uid_is_recognised_when_it_comes_again(opened: Opened) -> None:
    as_an_older_version_left_it(opened, ["first"], turns(*TALK, uids=False))
    store = opened()
    assert capture(store, "fork", turns(*TALK)) == (0, 4)
    assert capture(store, "first", turns(*TALK)) == (0, 4)
    assert said(store, "first") == said(store, "fork") == said(store) == list(TALK)


def test_the_same_words_at_another_time_or_under_another_uid_are_another_turn(
    opened: Opened,
) -> None:
    store = opened()
    capture(store, "first", turns("yes"))
    assert capture(store, "second", turns("yes", first=2)) == (1, 0)
    again = [{**one, "uid": "another", "id": "another"} for one in turns("yes")]
    assert capture(store, "third", again) == (1, 0)


def test_a_store_that_holds_a_turn_several_times_is_mended(opened: Opened) -> None:
    sessions = ["first", "fork", "copy"]
    as_an_older_version_left_it(opened, sessions, turns(*TALK, "yes", "yes", uids=False))
    store = opened()
    copies = records(store, session_id="copy")
    fork = records(store, session_id="fork")
    dispatch(store, "memory_pin", {"id": copies[0]["id"]})
    told = dispatch(store, "memory_contradict", {"id": fork[1]["id"], "new_fact": "5440 now"})
    assert store.memories.count() == 19
    assert mended(store) > 1
    assert store.memories.count() == 7
    assert said(store, "first") == [*TALK, "yes", "yes"]
    assert said(store, "fork") == [*TALK, "yes", "yes", "5440 now"]
    kept = records(store, session_id="copy")
    assert kept[0]["pinned"] is True
    assert kept[0]["sessions"] == sorted(sessions)
    assert kept[1]["valid_to"] is not None
    # An id that somebody noted still leads to the memory.
    shown = dispatch(store, "memory_show", {"id": copies[2]["id"]})
    assert TALK[2] in repr(shown)
    answer = ask(store, "memory_recall", cue="5433, as before.")
    assert told["new_record_id"] in [hit["id"] for hit in answer["hits"]]
    assert capture(store, "later", turns(*TALK, "yes", "yes")) == (0, 6)


KILLED = """
import sys
from iai_mcp.store import MemoryStore
store = MemoryStore()
for _ in range(3):
    store.memories.mend(2)
    print("page", flush=True)
sys.stdin.read()
"""


def test_a_kill_between_two_pages_loses_nothing(opened: Opened) -> None:
    texts = tuple(f"sentence number {n} about herons" for n in range(12))
    as_an_older_version_left_it(opened, ["first", "fork"], turns(*texts, uids=False))
    with subprocess.Popen(
        [sys.executable, "-c", KILLED], stdout=subprocess.PIPE, stdin=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        os.kill(child.pid, signal.SIGKILL)
    store = opened()
    assert said(store, "first") == said(store, "fork") == list(texts)
    mended(store)
    assert store.memories.count() == 12
    assert said(store, "first") == said(store, "fork") == list(texts)


def test_forgetting_one_of_two_sessions_leaves_the_other_its_turns(opened: Opened) -> None:
    store = opened()
    capture(store, "first", turns(*TALK))
    capture(store, "fork", turns(*TALK, "only here"))
    dry = dispatch(store, "memory_forget", {"session_id": "fork", "dry_run": True})
    assert (dry["matches"], dry["stay_with_others"]) == (1, 4)
    told = dispatch(store, "memory_forget", {"session_id": "fork"})
    assert (told["forgotten"], told["stay_with_others"]) == (1, 4)
    assert said(store, "fork") == []
    assert said(store, "first") == said(store) == list(TALK)
    assert capture(store, "fork", turns(*TALK, "only here"))[0] == 0
    assert said(store, "fork") == []
    told = dispatch(store, "memory_forget", {"session_id": "first"})
    assert told["forgotten"] == 4
    assert said(store) == []


def test_the_session_that_came_first_can_be_forgotten_too(opened: Opened) -> None:
    store = opened()
    capture(store, "first", turns(*TALK))
    capture(store, "fork", turns(*TALK))
    dispatch(store, "memory_forget", {"session_id": "first"})
    assert (said(store, "first"), said(store, "fork")) == ([], list(TALK))
    hits = ask(store, "memory_recall", cue="heron port", session_id="fork")["hits"]
    assert {hit["session_id"] for hit in hits} == {"fork"}
    capture(store, "first", turns(*TALK))
    assert said(store, "first") == []


@pytest.mark.parametrize("session", ["first", "fork", "later"])
def test_what_was_forgotten_comes_back_in_no_session(opened: Opened, session: str) -> None:
    as_an_older_version_left_it(opened, ["first", "fork"], turns(*TALK, uids=False))
    store = opened()
    mended(store)
    assert capture(store, "fork", turns(*TALK)) == (0, 4)
    assert dispatch(store, "memory_forget", {"query": "heron"})["forgotten"] == 1
    assert capture(store, session, turns(*TALK))[0] == 0
    assert capture(store, session, turns(*TALK, uids=False)[:1])[0] == 0
    assert TALK[0] not in said(store)


def test_an_export_carries_the_sessions_and_every_name_of_a_turn(
    opened: Opened, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    as_an_older_version_left_it(opened, ["first", "fork"], turns(*TALK, uids=False))
    store = opened()
    mended(store)
    capture(store, "fork", turns(*TALK))
    page = dispatch(store, "export_page", {})
    store.close()
    monkeypatch.setenv("IAI_MCP_STORE", str(tmp_path / "other"))
    other = opened()
    taken = {"records": page["records"], "salt": page["salt"]}
    assert dispatch(other, "import_records", taken)["inserted"] == 4
    assert said(other, "first") == said(other, "fork") == list(TALK)
    assert capture(other, "first", turns(*TALK)) == (0, 4)
    assert capture(other, "fork", turns(*TALK, uids=False)) == (0, 4)
    assert dispatch(other, "import_records", taken)["inserted"] == 0
