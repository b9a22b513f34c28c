"""Recall on the real store, with an embedder that needs no model."""

import re
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import apsw
import pytest
from tests.fakes.embedder import FakeEmbedder
from tests.support.circles import take_out_sharing

from iai_mcp.adapters.sqlite import schema
from iai_mcp.adapters.sqlite.memories import SqliteMemories
from iai_mcp.adapters.sqlite.schema import SLEEP
from iai_mcp.core import dispatch
from iai_mcp.domain.errors import NotFound
from iai_mcp.domain.traits import TRAITS_VERSION
from iai_mcp.engine import words
from iai_mcp.store import MemoryStore


class Kit:
    def __init__(self, store: MemoryStore) -> None:
        self.store = store

    def tell(self, *texts: str, session: str = "s", **call: object) -> None:
        events = [{"text": text} if isinstance(text, str) else text for text in texts]
        self.events(events, session=session, **call)

    def events(self, events: list[Any], session: str = "s", **call: object) -> None:
        dispatch(self.store, "capture_events", {"session_id": session, "events": events, **call})
        while self.store.backlog.page():
            continue

    def recall(self, cue: str, **params: object) -> dict[str, Any]:
        return dispatch(self.store, "memory_recall", {"cue": cue, **params})

    def texts(self, cue: str, **params: object) -> list[str]:
        return [hit["text"] for hit in self.recall(cue, **params)["hits"]]


@pytest.fixture
def kit() -> Iterator[Kit]:
    store = MemoryStore(load_embedder=FakeEmbedder)
    store.embedder.wait(10)
    yield Kit(store)
    store.close()


def test_the_memory_with_the_cues_words_comes_first(kit: Kit) -> None:
    kit.tell("lemon cake wants two eggs", "postgres listens on 5433", "the sky is blue today")

    answer = kit.recall("which port does postgres listen on?")
    assert answer["hits"][0]["text"] == "postgres listens on 5433"
    assert "words" in answer["hits"][0]["reason"]
    assert answer["degraded"] == []


def test_the_same_cue_gets_the_same_answer(kit: Kit) -> None:
    kit.tell(*(f"turn {n} about the cache of server {n % 7}" for n in range(60)))

    first = kit.recall("cache of server 3", k=20)
    assert kit.recall("cache of server 3", k=20) == first


@pytest.mark.parametrize(
    ("stored", "cue"),
    [
        ("the fix is in src/billing/invoice_totals.py", "what about src/billing/invoice_totals.py?"),
        ("we saw ECONNRESET on the upload worker", "ECONNRESET"),
        ("run it with --frozen-lockfile in CI", "why --frozen-lockfile"),
        ("TypeError: cannot unpack non-iterable NoneType object", "TypeError: cannot unpack non-iterable NoneType object"),
        ("parseHeaderBlock() drops the last line", "does parseHeaderBlock drop anything?"),
    ],
)  # fmt: skip
def test_what_a_cue_quotes_letter_by_letter_comes_first(kit: Kit, stored: str, cue: str) -> None:
    chatter = [
        f"about the upload worker, run {n}: what anything drops, why, in CI" for n in range(30)
    ]
    kit.tell(*chatter[:15], stored, *chatter[15:])

    hit = kit.recall(cue)["hits"][0]
    assert hit["text"] == stored
    assert "exactly" in hit["reason"]


def test_a_standing_instruction_surfaces_with_its_topic(kit: Kit) -> None:
    kit.tell(
        "Always answer with tabs, never spaces, when I ask about indentation style.",
        *(f"we changed function number {n} of the parser" for n in range(30)),
    )

    assert "tabs" in kit.texts("How should I do indentation style here?")[0]


def test_an_answer_is_found_by_the_question_before_it(kit: Kit) -> None:
    kit.tell(
        *(f"small talk number {n} about nothing much" for n in range(20)),
        "what is the name of the staging bucket?",
        "it is called heron-7",
    )

    assert "it is called heron-7" in kit.texts("name of the staging bucket", k=3)


def test_neighbours_come_with_a_hit_on_request(kit: Kit) -> None:
    kit.tell("one", "two", "the heron bucket", "four", "five")

    hit = kit.recall("heron bucket", context=1, k=1)["hits"][0]
    assert [m["text"] for m in hit["before"]] == ["two"]
    assert [m["text"] for m in hit["after"]] == ["four"]


def test_neighbours_are_paid_for_from_the_budget(kit: Kit) -> None:
    kit.tell("word " * 50, "the heron bucket", "word " * 50)

    answer = kit.recall("heron bucket", context=1, k=1, budget_tokens=350)
    assert answer["budget_used"] <= 350
    assert len(answer["hits"][0]["before"]) + len(answer["hits"][0]["after"]) == 1


def test_hits_are_grouped_by_session_on_request(kit: Kit) -> None:
    kit.tell("the heron bucket", "the heron queue", session="a")
    kit.tell("the heron topic", session="b")

    answer = kit.recall("heron", group_by="session")
    assert {group["session_id"] for group in answer["sessions"]} == {"a", "b"}
    assert sum(len(group["hits"]) for group in answer["sessions"]) == 3


def test_near_identical_hits_are_folded_with_a_count(kit: Kit) -> None:
    text = "the heron bucket is in the second region and nobody may write to it"
    kit.tell(text, session="a")
    kit.tell(text, session="b")
    kit.tell("something else altogether", session="b")

    (hit,) = [h for h in kit.recall("heron bucket region")["hits"] if h["text"] == text]
    assert hit["count"] == 2
    assert len(hit["same"]) == 1


def test_a_time_in_the_cue_favours_what_was_said_then(kit: Kit) -> None:
    kit.events(
        [
            {
                "text": f"we talked about the heron deploy, take {day}",
                "ts": f"2026-10-{day}T12:00:00Z",
            }
            for day in (11, 20, 30)
        ]
    )

    now = "2026-10-31T09:00:00+02:00"
    first = kit.recall("what about the heron deploy yesterday?", now=now)["hits"][0]
    assert first["ts"].startswith("2026-10-30")
    first = kit.recall("the heron deploy on 11 October 2026", now=now)["hits"][0]
    assert first["ts"].startswith("2026-10-11")


def test_the_project_one_works_in_is_preferred_and_the_others_are_not_hidden(
    kit: Kit, tmp_path: Any
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir(), there.mkdir()
    kit.tell("the heron bucket is red", session="a", cwd=str(there))
    kit.tell("the heron bucket is blue", session="b", cwd=str(here))

    assert kit.texts("heron bucket", cwd=str(here))[0] == "the heron bucket is blue"
    assert kit.texts("heron bucket", cwd=str(there))[0] == "the heron bucket is red"
    assert len(kit.texts("heron bucket", cwd=str(here))) == 2
    assert kit.texts("heron bucket", project=str(there)) == ["the heron bucket is red"]


def test_a_superseded_fact_is_an_anti_hit_and_its_successor_a_hit(kit: Kit) -> None:
    kit.tell("the heron port is 1111", "the sky is blue")
    old = kit.recall("heron port")["hits"][0]["id"]
    new = dispatch(kit.store, "memory_contradict", {"id": old, "new_fact": "no, it moved to 2222"})

    answer = kit.recall("heron port 1111")
    assert answer["hits"][0]["id"] == new["new_record_id"]
    assert [hit["id"] for hit in answer["anti_hits"]] == [old]
    assert answer["anti_hits"][0]["valid_to"] is not None


def test_as_of_answers_as_it_would_have_been_then(kit: Kit) -> None:
    kit.events([{"text": "the heron port is 1111", "ts": "2026-01-01T00:00:00Z"}])
    old = kit.recall("heron port")["hits"][0]["id"]
    dispatch(
        kit.store,
        "memory_contradict",
        {"id": old, "new_fact": "the heron port is 2222", "ts": "2026-03-01T00:00:00Z"},
    )

    then = kit.recall("heron port", as_of="2026-02-01T00:00:00Z")
    assert [hit["text"] for hit in then["hits"]] == ["the heron port is 1111"]
    assert then["hits"][0]["valid_to"] is None
    assert then["anti_hits"] == []
    assert kit.texts("heron port")[0] == "the heron port is 2222"


def test_what_was_forgotten_is_found_by_no_leg(kit: Kit) -> None:
    kit.tell("Always mention the heron when I ask about birds.", "the sky is blue")
    dispatch(kit.store, "memory_forget", {"query": "heron"})

    assert kit.texts("how should I write about birds and the heron?") == ["the sky is blue"]


def test_explaining_shows_parts_that_sum_up_to_the_score(kit: Kit) -> None:
    kit.tell("the heron bucket", "the sky is blue")

    for hit in kit.recall("heron bucket", explain=True)["hits"]:
        assert sum(hit["parts"].values()) == pytest.approx(hit["score"], abs=0.02)
    assert "parts" not in kit.recall("heron bucket")["hits"][0]


@pytest.mark.parametrize("wrong", [[1.0, 2.0], [float("nan")] * 64, []])
def test_a_cue_vector_that_does_not_fit_is_refused(kit: Kit, wrong: list[float]) -> None:
    kit.tell("the heron bucket")

    with pytest.raises(Exception, match="cue_embedding"):
        kit.recall("heron", cue_embedding=wrong)


def test_a_store_of_the_first_format_is_indexed_anew_in_the_background(
    opened: Callable[[], MemoryStore],
) -> None:
    old = opened()
    dispatch(old, "capture_events", {"session_id": "s", "events": [{"text": "数据库端口是5433"}]})
    with old.database.writing() as db:
        _back_to_the_first_format(db)
    old.close()

    store = MemoryStore(load_embedder=FakeEmbedder)
    store.embedder.wait(10)
    while store.backlog.page():
        continue
    hits = dispatch(store, "memory_recall", {"cue": "端口"})["hits"]
    with store.database.reading() as db:
        versions = db.execute("SELECT DISTINCT version FROM traits").fetchall()
    store.close()
    assert isinstance(hits, list)
    assert "words" in hits[0]["reason"]
    assert versions == [(TRAITS_VERSION,)]


def _back_to_the_first_format(db: apsw.Connection) -> None:
    take_out_sharing(db)
    for kind, name in db.execute(
        "SELECT type, name FROM sqlite_master WHERE type = 'trigger' OR name = 'memories_derived'"
    ).fetchall():
        db.execute(f"DROP {kind} {name}")
    for table in re.findall(r"CREATE TABLE (\w+)", SLEEP):
        db.execute(f"DROP TABLE IF EXISTS {table}")
    db.execute("ALTER TABLE memories DROP COLUMN derived")
    later = ("unreached", "word_places", "word_counts", "passages", "traits")
    for table in (*later, "word_pairs", "word_vectors"):
        db.execute(f"DROP TABLE IF EXISTS {table}")
    db.execute("INSERT OR REPLACE INTO words (rowid, body) SELECT key, text FROM memories")
    db.pragma("user_version", 1)
    assert len(schema.STEPS) >= 2


def test_a_private_project_is_seen_only_by_whoever_works_in_it(kit: Kit, tmp_path: Any) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    kit.tell("the heron bucket is secret", session="a", cwd=str(inside))
    kit.tell("the heron bucket is public", session="b", cwd=str(outside))
    dispatch(kit.store, "project_privacy", {"cwd": str(inside), "private": True})

    for params in ({}, {"cwd": str(outside)}, {"project": "*"}, {"session_id": "a"}):
        assert "the heron bucket is secret" not in kit.texts("heron bucket", **params)
    named = {"cwd": str(outside), "project": str(inside)}
    assert kit.texts("heron bucket", **named) == []
    assert kit.texts("heron bucket", cwd=str(inside))[0] == "the heron bucket is secret"
    timeline = dispatch(kit.store, "memory_timeline", {"cwd": str(outside)})
    assert "secret" not in repr(timeline["records"])

    dispatch(kit.store, "project_privacy", {"cwd": str(inside), "private": False})
    assert len(kit.texts("heron bucket", cwd=str(outside))) == 2


def test_use_never_buries_a_precise_match(kit: Kit) -> None:
    kit.tell("deploy with scripts/heron_deploy.sh", session="a")
    kit.tell("deploys are fun", "deploys are slow", session="b")
    ids = [hit["id"] for hit in kit.recall("deploys are", k=2, session_id="b")["hits"]]
    for _ in range(30):
        dispatch(kit.store, "memory_reinforce", {"ids": ids})

    assert kit.texts("what is scripts/heron_deploy.sh")[0] == "deploy with scripts/heron_deploy.sh"


def test_what_is_said_during_a_recall_does_not_disturb_it(
    kit: Kit, monkeypatch: pytest.MonkeyPatch
) -> None:
    kit.tell("postgres listens on 5433")
    look_up = words.postings

    def meanwhile(*given: Any, **how: Any) -> Any:
        kit.tell("and redis on 6379")
        return look_up(*given, **how)

    monkeypatch.setattr(words, "postings", meanwhile)

    assert kit.texts("where does postgres listen?") == ["postgres listens on 5433"]


def test_a_recall_does_not_wait_for_who_writes(kit: Kit) -> None:
    kit.tell("postgres listens on 5433")
    assert kit.texts("postgres")
    answers: list[list[str]] = []
    writer = threading.Thread(target=kit.tell, args=("and redis on 6379",))
    asker = threading.Thread(target=lambda: answers.append(kit.texts("postgres")))
    with kit.store.database.writing():
        writer.start()
        writer.join(0.2)  # until it stands in line
        asker.start()
        asker.join(10)
        answered = list(answers)
    writer.join()
    asker.join()

    assert answered == [["postgres listens on 5433"]]


def test_a_memory_forgotten_a_moment_ago_is_neither_contradicted_nor_linked(
    kit: Kit, monkeypatch: pytest.MonkeyPatch
) -> None:
    kit.tell("postgres listens on 5433", "redis listens on 6379")
    ids = [hit["id"] for hit in kit.recall("listens")["hits"]]
    find = SqliteMemories.find

    def and_then_forget(memories: SqliteMemories, wanted: list[str]) -> Any:
        found = find(memories, wanted)
        memories.forget([found[0].key], 0)
        return found

    with monkeypatch.context() as patch:
        patch.setattr(SqliteMemories, "find", and_then_forget)
        assert dispatch(kit.store, "memory_reinforce", {"ids": ids})["edges_boosted"] == 0
        with pytest.raises(NotFound):
            dispatch(kit.store, "memory_contradict", {"id": ids[1], "new_fact": "on 5432"})

    assert kit.store.memories.count() == 0


@pytest.mark.parametrize(
    "cue",
    [
        "postgres " + " ".join(f"w{number}" for number in range(100_000)),
        '"' * 5000 + "`a b`" * 2000 + " postgres",
    ],
)
def test_a_cue_of_a_megabyte_holds_nobody_up(kit: Kit, cue: str) -> None:
    kit.tell("lemon cake wants two eggs", "postgres listens on 5433")
    began = time.monotonic()

    assert kit.texts(cue)
    assert time.monotonic() - began < 5  # it was half a minute


def test_a_directory_longer_than_any_can_be_holds_nobody_up(kit: Kit) -> None:
    kit.tell("postgres listens on 5433")
    began = time.monotonic()

    assert kit.texts("postgres", cwd="/" + "a/" * 100_000) == ["postgres listens on 5433"]
    assert time.monotonic() - began < 2
