"""What a recall shows of sessions in which somebody worked."""

import hashlib
import json
import random
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.fakes.embedder import FakeEmbedder

from iai_mcp.core import dispatch
from iai_mcp.store import MemoryStore

ROLES = {"u": "user", "a": "assistant"}
REPORT = f"""## What was looked at
{"Many files were read, and none of them was to blame. " * 30}

## Cause
The osprey cache kept stale entries after a deploy.

## What else
{"Other things were said as well, at length and without end. " * 30}
"""
LOG = "\n".join(
    f"10:{n % 60:02} worker {n} said nothing that matters to anybody." for n in range(600)
)


class Kit:
    def __init__(self, store: MemoryStore) -> None:
        self.store = store

    def work(self, session: str, *said: str) -> None:
        """Turns as "u: text" and "a: text"."""
        events = [{"role": ROLES[one[0]], "text": one[3:]} for one in said]
        dispatch(self.store, "capture_events", {"session_id": session, "events": events})
        while self.store.backlog.page():
            continue

    def recall(self, cue: str, **params: object) -> dict[str, Any]:
        return dispatch(self.store, "memory_recall", {"cue": cue, **params})

    def hits(self, cue: str, **params: object) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.recall(cue, **params)["hits"]
        return found


@pytest.fixture
def kit() -> Iterator[Kit]:
    store = MemoryStore(load_embedder=FakeEmbedder)
    store.embedder.wait(10)
    made = Kit(store)
    for n in range(8):
        made.work(
            f"filler {n}",
            f"u: please rename module number {n} of the parser",
            f"a: Let me look at module {n}.",
            f"a: Renamed module {n}; all tests of the parser pass.",
        )
    yield made
    store.close()


def test_a_conclusion_comes_with_the_prompt_that_it_answers(kit: Kit) -> None:
    kit.work("s", "u: why is the osprey cache stale?", "a: Let me look.", f"a: {REPORT}")

    hits = kit.hits("stale osprey cache", budget_tokens=800)
    (hit,) = [one for one in hits if one["role"] == "assistant" and "## Cause" in one["text"]]
    assert "## Cause\nThe osprey cache kept stale entries after a deploy." in hit["text"]
    assert hit["excerpt"] is True
    assert hit["request"] == "why is the osprey cache stale?"
    assert all(piece in REPORT for piece in hit["text"].split(" … "))


def test_whole_turns_of_work_come_when_they_are_asked_for(kit: Kit) -> None:
    kit.work("s", "u: why is the osprey cache stale?", "a: Let me look.", f"a: {REPORT}")

    hits = kit.hits("kept stale entries after a deploy", full=True, budget_tokens=4000)
    assert hits[0]["text"] == REPORT
    assert not any("excerpt" in hit for hit in hits)


def test_copies_of_one_text_are_one_hit_that_says_where_else(kit: Kit) -> None:
    plan = (
        "The plan for the osprey cache: measure it, clear it at each deploy, then measure it again."
    )
    for name in ("first", "second"):
        kit.work(name, "u: how is the cache cleared?", "a: Let me see.", f"a: {plan}")

    hits = kit.hits("plan for the osprey cache")
    (hit,) = [one for one in hits if one["text"] == plan]
    (other,) = hit["also"]
    assert {hit["session_id"], other["session_id"]} == {"first", "second"}


def test_one_pasted_log_leaves_the_others_their_room(kit: Kit) -> None:
    kit.work(
        "log",
        f"u: {LOG}\nthe osprey worker died",
        "a: Let me see.",
        "a: The osprey worker died at ten.",
    )
    kit.work("fix", "u: fix the osprey worker", "a: Let me see.", "a: Restart it with make osprey.")

    answer = kit.recall("osprey worker died")
    texts = [hit["text"] for hit in answer["hits"]]
    assert any("make osprey" in text for text in texts)
    assert len(json.dumps(answer, ensure_ascii=False).encode()) <= 6000


def test_the_room_of_an_answer_is_used_up(kit: Kit) -> None:
    for n in range(9):
        report = "\n".join(f"- The osprey cache {n} was cleared {m} times." for m in range(60))
        kit.work(f"s{n}", f"u: what of the osprey cache {n}?", "a: Let me look.", f"a: {report}")

    answer = kit.recall("how often was the osprey cache cleared?")
    assert 5200 <= len(json.dumps(answer, ensure_ascii=False).encode()) <= 6000


def test_other_places_of_the_same_text_are_within_the_budget(kit: Kit) -> None:
    chance = random.Random(0)

    def some(count: int) -> str:
        return " ".join(chance.choices(("osprey", "cache", "heron", "queue", "stale"), k=count))

    reports = ["\n".join(f"{some(12)} {n}.{line}" for line in range(40)) for n in range(4)]
    for session in range(4):
        turns: list[str] = []
        for n in range(12):
            turns += [f"u: {some(12)} {n} of machine {session}, please look closely"]
            turns += [f"a: Let me look at {n} first.", f"a: Now the {some(1)} and then {n}."]
            turns += [f"a: {chance.choice(reports)}"]
        kit.work(f"11111111-2222-3333-4444-55555555555{session}", *turns)

    for budget in (300, 500, 650, 800, 1000, 1500, 2000):
        answer = kit.recall("osprey cache stale", budget_tokens=budget)
        size = len(json.dumps(answer, ensure_ascii=False).encode())
        assert len(answer["hits"]) == 1 or size <= 4 * budget
    assert any("also" in hit for hit in answer["hits"])


def test_who_gives_more_room_gets_more_of_what_there_is(kit: Kit) -> None:
    for n in range(30):
        said = (
            f"a: The osprey cache lost shard {n}, which was moved to disk {n} of the new machine."
        )
        kit.work(f"s{n}", f"u: what about shard {n}?", "a: Let me look.", said)

    assert len(kit.hits("which shards did the osprey cache lose")) <= 12
    assert len(kit.hits("which shards did the osprey cache lose", budget_tokens=6000)) >= 25


@pytest.mark.parametrize("k", [1, 2, 5])
def test_there_are_no_more_hits_than_were_asked_for(kit: Kit, k: int) -> None:
    assert 1 <= len(kit.hits("rename a module of the parser", k=k)) <= k


@pytest.mark.parametrize("budget", [250, 600, 1500, 5000])
@pytest.mark.parametrize("more", [{}, {"context": 2}, {"group_by": "session"}, {"explain": True}])
def test_the_payload_of_talk_and_work_is_within_the_budget(
    kit: Kit, budget: int, more: dict[str, object]
) -> None:
    kit.work("s", "u: why is the osprey cache stale?", "a: Let me look.", f"a: {REPORT}")
    kit.work("log", f"u: {LOG}\nthe osprey worker", "a: Let me see.", f'a: "{LOG}" of the osprey')
    kit.work(
        "talk", "u: do you like ospreys?", "a: Ospreys and herons, both, and above all the cache."
    )

    answer = kit.recall("osprey cache of the parser", budget_tokens=budget, **more)
    assert answer["hits"]
    assert len(json.dumps(answer, ensure_ascii=False).encode()) <= 4 * budget
    scores = [hit["score"] for hit in answer["hits"]]
    assert scores == sorted(scores, reverse=True)


def test_what_was_superseded_in_a_session_of_work_is_named_as_such(kit: Kit) -> None:
    kit.work(
        "s",
        "u: when is the osprey cache cleared?",
        "a: Let me look.",
        "a: The osprey cache is cleared at nine.",
    )
    (old,) = [h for h in kit.hits("when is the osprey cache cleared") if "at nine" in h["text"]]
    new = "The osprey cache is cleared at ten."
    dispatch(kit.store, "memory_contradict", {"id": old["id"], "new_fact": new})

    answer = kit.recall("when is the osprey cache cleared")
    texts = [hit["text"] for hit in answer["hits"]]
    assert texts[0] == new
    assert [hit["text"] for hit in answer["anti_hits"]] == [old["text"]]
    shown = [hit for hit in (*answer["hits"], *answer["anti_hits"]) if hit["id"] == old["id"]]
    assert all(hit["valid_to"] for hit in shown)


def test_a_hit_comes_however_small_the_budget_is(kit: Kit) -> None:
    assert len(kit.hits("rename a module of the parser", budget_tokens=1)) == 1


def test_a_short_statement_that_says_just_what_is_asked_is_a_hit(kit: Kit) -> None:
    said = "the flux capacitor needs 1.21 gigawatts"
    kit.work("s", f"u: {said}", "a: Lemon cake wants two eggs.", "a: Flux is a solder paste.")

    assert kit.hits("flux capacitor")[0]["text"] == said


def test_work_that_is_not_about_the_cue_is_not_close(kit: Kit) -> None:
    assert kit.recall("rename module 3 of the parser")["close"] is True
    far = kit.recall("quarterly Kubernetes invoices of the embassy")
    assert far["close"] is False
    assert far["hits"]


def test_that_a_person_spoke_beside_work_does_not_make_a_cue_about_oneself_close(kit: Kit) -> None:
    kit.work("talk", "u: I would like to thank you for my tea", "a: You are welcome.")

    assert kit.recall("which embassy did I send my Kubernetes invoices to?")["close"] is False


class FarEmbedder(FakeEmbedder):
    """To whom no two texts are alike."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return super().embed([hashlib.sha256(text.encode()).hexdigest() for text in texts])


def test_what_stands_there_almost_word_for_word_is_close_however_far_the_model_puts_it() -> None:
    store = MemoryStore(load_embedder=FarEmbedder)
    store.embedder.wait(10)
    kit = Kit(store)
    for n in range(4):
        kit.work(f"s{n}", f"u: what of module {n}?", "a: Let me look.", f"a: Module {n} is fine.")
    said = "The landlord raised the rent of the warehouse in spring."
    kit.work("s", "u: what do the notes say?", "a: Let me look.", f"a: {LOG}\n{said}\n{LOG}")

    answer = kit.recall("did the landlord raise the rent of the warehouse")
    assert said in answer["hits"][0]["text"]
    assert answer["close"] is True
    assert kit.recall("quarterly Kubernetes invoices of the warehouse")["close"] is False
    store.close()
