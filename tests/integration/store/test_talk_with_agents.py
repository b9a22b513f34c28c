"""What a recall shows of short sessions with an agent: what was replied, with what was asked."""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.fakes.embedder import FakeEmbedder

from iai_mcp.core import dispatch
from iai_mcp.store import MemoryStore

ROLES = {"u": "user", "a": "assistant"}


class Kit:
    def __init__(self, store: MemoryStore) -> None:
        self.store = store

    def talk(self, session: str, *said: str, host: str = "claude-code", **more: object) -> None:
        """Turns as "u: text" and "a: text"."""
        events = [{"role": ROLES[one[0]], "text": one[3:], **more} for one in said]
        call = {"session_id": session, "host": host, "events": events}
        dispatch(self.store, "capture_events", call)
        while self.store.backlog.page():
            continue

    def hits(self, cue: str, **params: object) -> list[dict[str, Any]]:
        answer: dict[str, Any] = dispatch(self.store, "memory_recall", {"cue": cue, **params})
        found: list[dict[str, Any]] = answer["hits"]
        return found


@pytest.fixture
def kit() -> Iterator[Kit]:
    store = MemoryStore(load_embedder=FakeEmbedder)
    store.embedder.wait(10)
    made = Kit(store)
    for n in range(8):
        made.talk(f"filler {n}", f"u: rename module {n} of the parser", f"a: Renamed module {n}.")
    yield made
    store.close()


def test_a_question_that_tells_something_and_a_ruling_stay(kit: Kit) -> None:
    told = "we moved the osprey cache to Redis last week, why is it stale?"
    rule = "ok, but never purge the osprey cache by hand"
    kit.talk("s", f"u: {told}", "a: Pages are kept for a day.", f"u: {rule}", "a: Understood.")

    texts = [hit["text"] for hit in kit.hits("osprey cache by hand, Redis, stale")]
    assert told in texts
    assert rule in texts


def test_who_asks_for_what_people_said_gets_it(kit: Kit) -> None:
    kit.talk("s", "u: why does the osprey cache go stale?", "a: Nobody purges old pages.")

    hit = kit.hits("osprey cache stale", role="user")[0]
    assert hit["text"] == "why does the osprey cache go stale?"


@pytest.mark.parametrize("more", [{"host": ""}, {"speaker": "Anna"}])
def test_chats_without_an_agent_stay_as_they_are(kit: Kit, more: dict[str, Any]) -> None:
    kit.talk("s", "u: did you see the osprey cache?", "a: Nobody purges old pages.", **more)

    hit = kit.hits("did you see the osprey cache")[0]
    assert hit["text"] == "did you see the osprey cache?"
    assert "request" not in hit


def test_a_reply_that_was_superseded_is_not_told_anew(kit: Kit) -> None:
    kit.talk("s", "u: when is the osprey cache purged?", "a: It is purged at nine.")
    (old,) = [hit for hit in kit.hits("osprey cache purged") if "at nine" in hit["text"]]
    fact = "The osprey cache is purged at ten."
    dispatch(kit.store, "memory_contradict", {"id": old["id"], "new_fact": fact})

    texts = [hit["text"] for hit in kit.hits("when is the osprey cache purged")]
    assert "It is purged at nine." not in texts
    assert fact in texts


def test_copies_in_short_sessions_say_where_else(kit: Kit) -> None:
    plan = "The plan for the osprey cache: measure it, purge it at each deploy, measure it again."
    for name in ("first", "second", "third"):
        kit.talk(name, f"u: {plan}", f"a: Step {name} is done.", project=f"/{name}")

    (hit,) = [one for one in kit.hits("plan for the osprey cache") if one["text"] == plan]
    assert hit["count"] == 3
    assert len(hit["same"]) == 2
    sessions = {hit["session_id"], *(one["session_id"] for one in hit["also"])}
    assert sessions == {"first", "second", "third"}
    assert {one["project"] for one in hit["also"]} == {f"/{one}" for one in sessions} - {
        hit["project"]
    }


def test_what_is_said_twice_in_one_session_names_no_other_place(kit: Kit) -> None:
    plan = "The plan for the osprey cache: measure it, purge it at each deploy, measure it again."
    kit.talk("s", f"u: {plan}", "a: Done.", f"u: {plan}", "a: Done again.")

    (hit,) = [one for one in kit.hits("plan for the osprey cache") if one["text"] == plan]
    assert hit["count"] == 2
    assert "also" not in hit


@pytest.mark.parametrize("on_the_way", [(), ("Let me look at it.", "Now the tests.")])
def test_an_offer_of_another_project_is_not_told_with_the_yes(
    kit: Kit, on_the_way: tuple[str, ...]
) -> None:
    """One session went through two projects, of which the first may be nobody's business."""
    turns = [
        (
            "assistant",
            "The plan is done. Shall I deploy the zebra to production?",
            "/gone/ann/secret",
        ),
        ("user", "yes, deploy", "/gone/ann/shop"),
        *(("assistant", text, "/gone/ann/shop") for text in on_the_way),
        (
            "assistant",
            "Deployed the launcher; the dashboard shows the rollout is green.",
            "/gone/ann/shop",
        ),
    ]
    events = [
        {"role": role, "text": text, "cwd": cwd, "id": str(n), "ts": f"2026-11-01T10:{n:02}:00Z"}
        for n, (role, text, cwd) in enumerate(turns)
    ]
    dispatch(
        kit.store, "capture_events", {"session_id": "s", "host": "claude-code", "events": events}
    )
    answer = dispatch(
        kit.store,
        "memory_recall",
        {"cue": "yes deploy launcher rollout", "project": "/gone/ann/shop"},
    )
    assert "Deployed the launcher" in str(answer)
    assert "zebra" not in str(answer)


def test_a_reply_of_another_project_is_not_told_where_one_was_asked_about(kit: Kit) -> None:
    turns = [
        ("user", "does the osprey cache go stale?", "/gone/ann/shop"),
        ("assistant", "The zebra key is the reason.", "/gone/ann/secret"),
    ]
    events = [
        {"role": role, "text": text, "cwd": cwd, "id": str(n), "ts": f"2026-11-01T10:{n:02}:00Z"}
        for n, (role, text, cwd) in enumerate(turns)
    ]
    kit_call = {"session_id": "s", "host": "claude-code", "events": events}
    dispatch(kit.store, "capture_events", kit_call)
    told = str(kit.hits("osprey cache stale", project="/gone/ann/shop"))
    assert "osprey cache" in told
    assert "zebra" not in told
