"""What a recall costs its host, and what it shows of what is long."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.fakes.embedder import FakeEmbedder

from iai_mcp.core import dispatch
from iai_mcp.store import MemoryStore

BYTES_PER_TOKEN = 4
ALWAYS = {
    "id", "text", "score", "reason", "role", "session_id", "project", "ts", "valid_from", "valid_to",
    "meta",
}  # fmt: skip
LOG = "\n".join(
    f"10:{n % 60:02} worker {n} said nothing that matters to anybody." for n in range(600)
)
REPORT = f"""## What was looked at
{"Many files were read, and none of them was to blame. " * 30}

## Cause
The osprey cache kept stale entries after a deploy.

```sh
make clear-osprey
make deploy
```

## What else
{"Other things were said as well, at length and without end. " * 30}
"""


class Kit:
    def __init__(self, store: MemoryStore) -> None:
        self.store = store

    def tell(self, *texts: str, session: str = "s", **call: object) -> None:
        events = [{"text": text} for text in texts]
        dispatch(self.store, "capture_events", {"session_id": session, "events": events, **call})
        while self.store.backlog.page():
            continue

    def recall(self, cue: str, **params: object) -> dict[str, Any]:
        return dispatch(self.store, "memory_recall", {"cue": cue, **params})


@pytest.fixture
def kit() -> Iterator[Kit]:
    store = MemoryStore(load_embedder=FakeEmbedder)
    store.embedder.wait(10)
    yield Kit(store)
    store.close()


def payload(answer: dict[str, Any]) -> int:
    return len(json.dumps(answer, ensure_ascii=False).encode())


def test_of_a_long_turn_the_pieces_that_matched_are_shown(kit: Kit) -> None:
    kit.tell(REPORT, "the osprey dives", "the heron stands", "and the otter swims")

    hits = kit.recall("why did the osprey cache go stale?", budget_tokens=700)["hits"]
    (hit,) = [one for one in hits if one.get("excerpt")]
    assert "## Cause\nThe osprey cache kept stale entries after a deploy." in hit["text"]
    assert all(piece in REPORT for piece in hit["text"].split(" … "))
    assert len(hit["text"]) < len(REPORT)


def test_whole_turns_come_when_they_are_asked_for(kit: Kit) -> None:
    kit.tell(REPORT, "the osprey dives")

    hits = kit.recall("osprey cache", full=True, budget_tokens=4000)["hits"]
    assert REPORT.strip() in [hit["text"].strip() for hit in hits]
    assert not any("excerpt" in hit for hit in hits)


def test_whole_turns_beyond_any_room_keep_to_it_beside_others(kit: Kit) -> None:
    huge = "\n".join(f"The osprey dived {n} times before the heron came." for n in range(40_000))
    kit.tell(huge, "the osprey dives at nine", "an osprey dives deep")

    answer = kit.recall("osprey dives", full=True, budget_tokens=26_000)
    assert len(answer["hits"]) > 1
    assert len(json.dumps(answer, ensure_ascii=False).encode()) <= 4 * 26_000
    (alone,) = kit.recall("osprey dived heron", full=True, k=1, budget_tokens=26_000)["hits"]
    assert alone["text"] in (huge, "the osprey dives at nine", "an osprey dives deep")


def test_one_pasted_log_never_takes_the_place_of_everything_else(kit: Kit) -> None:
    kit.tell(f"{LOG}\nthe osprey worker died", "restart the osprey worker with make osprey", REPORT)

    answer = kit.recall("osprey worker died")
    assert len(answer["hits"]) + len(answer["more"]) == 3
    assert any("make osprey" in hit["text"] for hit in answer["hits"])


def test_what_is_short_stays_whole(kit: Kit) -> None:
    texts = [f"the osprey number {n} was seen at the lake, and then at the river" for n in range(9)]
    kit.tell(*texts, LOG)

    shown = [hit["text"] for hit in kit.recall("osprey at the lake")["hits"]]
    assert set(texts) <= set(shown)


@pytest.mark.parametrize("budget", [250, 400, 1500, 4000, 20_000])
@pytest.mark.parametrize("more", [{}, {"context": 2}, {"group_by": "session"}, {"explain": True}])
def test_the_whole_payload_is_within_the_budget(
    kit: Kit, budget: int, more: dict[str, object]
) -> None:
    odd = 'quotes " and \\ and\ttabs and 日本語の長い文章 of the osprey\n' * 40
    for number, text in enumerate((REPORT, LOG, odd, "the osprey", f"osprey {LOG}", odd[::-1])):
        kit.tell(text, session=f"a session with quite a long name {number}", project=f"/p/{number}")

    answer = kit.recall("osprey deploy worker", budget_tokens=budget, **more)
    assert payload(answer) <= budget * BYTES_PER_TOKEN
    assert answer["budget_used"] <= budget
    assert answer["hits"]
    assert "context" in more or payload(answer) >= 2 * min(budget, 4000), "the room is used"


def test_a_hit_comes_however_small_the_budget_is(kit: Kit) -> None:
    kit.tell(LOG, "the osprey dives")

    (hit,) = kit.recall("osprey", budget_tokens=1)["hits"]
    assert hit["text"] == "the osprey dives"
    (hit,) = kit.recall("worker 17 said nothing", budget_tokens=1)["hits"]
    assert len(hit["text"]) < 1000


def test_nothing_is_said_about_what_is_not_known(kit: Kit) -> None:
    kit.tell("the osprey dives")

    answer = kit.recall("osprey", context=1)
    hit = answer["hits"][0]
    empty = {name for name, value in hit.items() if value in (None, "", [], {}, False)}
    assert empty <= ALWAYS | {"before", "after"}
    assert set(hit) >= ALWAYS
    for name in ("hits", "anti_hits", "budget_used", "cue_mode", "degraded", "close"):
        assert name in answer


def test_a_hit_tells_only_what_its_reader_needs(kit: Kit) -> None:
    kit.tell("the osprey dives", host="claude-code", project="/p/birds")

    (hit,) = kit.recall("osprey")["hits"]
    assert set(hit) == ALWAYS | {"host"}
    assert hit["reason"].count(",") <= 1


def test_what_was_superseded_is_named_even_where_room_is_short(kit: Kit) -> None:
    kit.tell(
        "the osprey cache is cleared at nine", *(f"the osprey cache {n} {LOG}" for n in range(9))
    )
    old = kit.recall("when is the osprey cache cleared")["hits"][0]
    dispatch(
        kit.store,
        "memory_contradict",
        {"id": old["id"], "new_fact": "the osprey cache is cleared at ten"},
    )

    answer = kit.recall("when is the osprey cache cleared", budget_tokens=600)
    assert answer["hits"][0]["text"] == "the osprey cache is cleared at ten"
    assert [hit["text"] for hit in answer["anti_hits"]] == ["the osprey cache is cleared at nine"]
    assert answer["anti_hits"][0]["valid_to"]


def test_an_answer_says_when_nothing_is_really_about_the_cue(kit: Kit) -> None:
    kit.tell("the osprey dives at dawn", "lemon cake wants two eggs", "postgres listens on 5433")

    far = kit.recall("quarterly Kubernetes invoices of the embassy")
    assert far["close"] is False
    assert len(far["hits"]) >= 1
    near = kit.recall("when does the osprey dive?")
    assert near["close"] is True


def test_an_empty_store_has_nothing_close(kit: Kit) -> None:
    answer = kit.recall("anything")
    assert answer["hits"] == []
    assert answer["close"] is False
