"""A whole sleep on a real store: what it makes of what was said, and what it must never do."""

from typing import Any

import pytest
from tests.support.answers import ask

from iai_mcp.store import MemoryStore

STAGING = (
    "The staging database listens on port 5433 behind the bastion host.",
    "To reach the staging database, open the bastion tunnel first.",
    "The staging database password rotates weekly, the bastion keeps it.",
    "Staging database migrations run through the bastion as well.",
)
HERONS = (
    "The heron counter in the zoo dashboard draws one bar per pond.",
    "The dashboard of the zoo reloads the heron counter every minute.",
    "Pond names in the zoo dashboard come from the heron table.",
    "The heron counter of the zoo dashboard must not round numbers.",
)


def tell(store: MemoryStore, session: str, *turns: str, role: str = "user", **call: object) -> None:
    events = [{"text": text, "role": role} for text in turns]
    ask(store, "capture_events", session_id=session, events=events, **call)


def sleep(store: MemoryStore) -> Any:
    return ask(store, "memory_consolidate", wait=True)


def test_a_sleep_reports_every_step_in_numbers(store: MemoryStore) -> None:
    assert ask(store, "sleep_report")["state"] == "never"
    tell(store, "s", *STAGING, project="/p")
    report = sleep(store)
    assert report["state"] == "done"
    names = [step["name"] for step in report["steps"]]
    assert names == [
        "vectors",
        "retention",
        "work",
        "folds",
        "topics",
        "compact",
        "check",
        "copies",
        "circles",
        "backup",
    ]
    assert all(step["done"] and step["pages"] >= 1 for step in report["steps"])
    assert not any(step.get("failed") for step in report["steps"])
    assert report["pages"] == sum(step["pages"] for step in report["steps"])
    assert ask(store, "sleep_report")["finished"] == report["finished"]


def labels(store: MemoryStore) -> list[tuple[str, int]]:
    return [(one["label"], one["memories"]) for one in ask(store, "memory_topics")["topics"]]


@pytest.mark.parametrize("store", ["meaning", "words"], indirect=True)
def test_topics_are_groups_of_memories_named_after_one_of_them(store: MemoryStore) -> None:
    for n, (one, other) in enumerate(zip(STAGING, HERONS, strict=True)):
        tell(store, f"a{n}", one, project="/p")
        tell(store, f"b{n}", other, project="/p")
    sleep(store)
    assert ask(store, "topology")["communities"] == 2
    found = labels(store)
    assert [memories for _, memories in found] == [4, 4]
    assert {label in STAGING for label, _ in found} == {True, False}
    assert all(label in STAGING + HERONS for label, _ in found)


def test_sleeping_again_changes_nothing(store: MemoryStore) -> None:
    tell(store, "s", *STAGING, project="/p")
    sleep(store)
    before = labels(store)
    again = sleep(store)
    assert labels(store) == before
    assert again["folded"] == 0


def test_a_topic_grows_with_what_is_said_and_loses_what_is_superseded(store: MemoryStore) -> None:
    tell(store, "s", *STAGING, project="/p")
    sleep(store)
    assert [memories for _, memories in labels(store)] == [4]
    tell(store, "t", "The bastion of the staging database moved to Frankfurt.", project="/p")
    sleep(store)
    assert [memories for _, memories in labels(store)] == [5]
    first = ask(store, "memory_timeline")["records"][0]
    ask(store, "memory_contradict", id=first["id"], new_fact="Lunch is at noon.")
    sleep(store)
    ((label, memories),) = labels(store)
    assert (memories, label == first["text"]) == (4, False)


def test_sleep_adds_no_memory(store: MemoryStore) -> None:
    tell(store, "s", *STAGING, *STAGING, project="/p")
    before = ask(store, "memory_timeline", project="/p")["records"]
    shape = ask(store, "topology")
    hits = ask(store, "memory_recall", cue="staging database bastion", fold=False)["hits"]
    sleep(store)
    assert ask(store, "memory_timeline", project="/p")["records"] == before
    after = ask(store, "topology")
    for name in ("records", "projects", "vectors", "vectors_pending"):
        assert after[name] == shape[name]
    assert after["hubs"][0]["ties"] > 0
    again = ask(store, "memory_recall", cue="staging database bastion", fold=False)["hits"]
    assert {hit["id"] for hit in again} == {hit["id"] for hit in hits}


def test_a_forgotten_memory_leaves_no_word_in_any_table(store: MemoryStore) -> None:
    tell(store, "s", *STAGING, "The staging database admin is called Ermintrude.", project="/p")
    sleep(store)
    assert ask(store, "memory_forget", query="Ermintrude")["forgotten"] == 1
    with store.database.reading() as db:
        for (table,) in db.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table'"
        ).fetchall():
            assert "Ermintrude" not in repr(db.execute(f"SELECT * FROM {table}").fetchall())
    assert all("Ermintrude" not in label for label, _ in labels(store))


def test_topics_of_a_private_project_are_not_listed_elsewhere(store: MemoryStore) -> None:
    tell(store, "s", *STAGING, project="/secret")
    sleep(store)
    ask(store, "project_privacy", project="/secret", private=True)
    assert ask(store, "memory_topics", cwd="/elsewhere", agent="one")["topics"] == []


def test_with_learning_off_no_topics_are_found(store: MemoryStore) -> None:
    ask(store, "profile_set", knob="learning", value="off")
    tell(store, "s", *STAGING, project="/p")
    assert sleep(store)["state"] == "done"
    assert labels(store) == []
    ask(store, "profile_set", knob="learning", value="on")
    sleep(store)
    assert len(labels(store)) == 1


def test_what_was_said_often_is_one_hit_with_a_count_and_all_of_it_stays(
    store: MemoryStore,
) -> None:
    again = (
        "Deploy with make ship, always from main.",
        "deploy with `make ship`, always from main!",
    )
    for n, text in enumerate((*again, again[0])):
        tell(store, f"s{n}", text, project="/p")
    tell(store, "other", "Deploy with make ship, always from main.", project="/q")
    report = sleep(store)
    assert report["folded"] == 2
    hits = ask(store, "memory_recall", cue="deploy make ship", project="/p")["hits"]
    assert len(hits) == 1
    assert hits[0]["count"] == 3
    assert len(hits[0]["same"]) == 2
    assert len(ask(store, "memory_timeline", project="/p")["records"]) == 3
    unfolded = ask(store, "memory_recall", cue="deploy make ship", project="/p", fold=False)["hits"]
    assert len(unfolded) == 3


def test_forgetting_by_words_forgets_every_repeat(store: MemoryStore) -> None:
    for n in range(5):
        tell(store, f"s{n}", "the launch code is swordfish")
    sleep(store)
    assert ask(store, "memory_forget", query="swordfish")["forgotten"] == 5


def test_a_superseded_repeat_does_not_hide_one_that_holds(store: MemoryStore) -> None:
    tell(store, "a", "the gate opens at nine", project="/p")
    tell(store, "b", "The gate opens at nine.", project="/p")
    sleep(store)
    first = ask(store, "memory_timeline")["records"][0]
    ask(store, "memory_contradict", id=first["id"], new_fact="the gate opens at ten")
    found = ask(store, "memory_recall", cue="when does the gate open")
    assert {hit["text"] for hit in found["hits"]} == {
        "The gate opens at nine.",
        "the gate opens at ten",
    }
    assert [hit["text"] for hit in found["anti_hits"]] == ["the gate opens at nine"]


def test_what_people_keep_for_good_is_told_and_topics_are_not(store: MemoryStore) -> None:
    ask(store, "memory_capture", text="The mascot is a heron.", tier="semantic", project="/p")
    tell(store, "s", *STAGING, project="/p")
    sleep(store)
    told = ask(store, "session_start_payload", project="/p")["text"]
    assert "The mascot is a heron." in told
    assert "4 turns" not in told  # the sentences of a topic are told where they were said


def test_a_command_of_two_projects_is_told_in_no_third(store: MemoryStore) -> None:
    for n in range(4):
        tell(store, f"t{n}", "Run the checks with `uv run pytest -q` now.", project=f"/p{n % 2}")
    sleep(store)
    assert "pytest" not in ask(store, "session_start_payload", project="/new")["text"]


def test_retention_forgets_what_is_older_and_spares_what_is_pinned(store: MemoryStore) -> None:
    old = ask(store, "memory_capture", text="an old secret", ts="2020-01-01T00:00:00Z")
    pinned = ask(store, "memory_capture", text="an old treasure", ts="2020-01-02T00:00:00Z")
    ask(store, "memory_pin", id=pinned["record_id"])
    ask(store, "memory_capture", text="fresh news")
    assert sleep(store)["steps"][1].get("forgotten", 0) == 0
    ask(store, "profile_set", knob="retention_days", value=365)
    report = sleep(store)
    assert report["steps"][1]["forgotten"] == 1
    kept = [record["text"] for record in ask(store, "memory_timeline")["records"]]
    assert kept == ["an old treasure", "fresh news"]
    again = ask(store, "memory_capture", text="an old secret", ts="2020-01-01T00:00:00Z")
    assert (again["status"], again["record_id"]) == ("skipped", old["record_id"])


def tell_much(store: MemoryStore, count: int = 26) -> list[dict[str, str]]:
    """So many memories of a hundred kilobytes each, oldest first; the turns, to be told again."""
    events = [
        {
            "id": f"t{n}",
            "text": f"turn{n} " + "x" * 99_990,
            "role": "user",
            "ts": f"2024-01-{n + 1:02d}",
        }
        for n in range(count)
    ]
    ask(store, "capture_events", session_id="much", events=events)
    return events


def test_retention_by_size_forgets_the_oldest_until_the_rest_fits(store: MemoryStore) -> None:
    events = tell_much(store)
    first = ask(store, "memory_timeline", limit=100)["records"][0]["id"]
    ask(store, "memory_pin", id=first)
    assert "bytes_before" not in sleep(store)["steps"][1]
    ask(store, "profile_set", knob="retention_mb", value=2)
    told = sleep(store)["steps"][1]
    kept = [record["text"].split()[0] for record in ask(store, "memory_timeline")["records"]]
    assert kept == ["turn0", *(f"turn{n}" for n in range(7, 26))]
    assert told["forgotten"] == 6
    assert told["bytes_before"] - told["bytes_forgotten"] <= 2_000_000
    assert told["bytes_before"] - told["bytes_forgotten"] + 99_990 > 2_000_000
    assert ask(store, "memory_recall", cue="turn3")["hits"][0]["text"].split()[0] != "turn3"
    again = ask(store, "capture_events", session_id="much", events=events)
    assert (again["inserted"], again["duplicates"]) == (0, 20)
    assert sleep(store)["steps"][1].get("forgotten", 0) == 0


def test_what_is_pinned_stays_however_much_it_is(store: MemoryStore) -> None:
    tell_much(store, 15)
    for record in ask(store, "memory_timeline")["records"]:
        ask(store, "memory_pin", id=record["id"])
    ask(store, "profile_set", knob="retention_mb", value=1)
    assert sleep(store)["steps"][1].get("forgotten", 0) == 0
    assert len(ask(store, "memory_timeline")["records"]) == 15


def test_what_was_pinned_between_two_pages_is_not_forgotten(store: MemoryStore) -> None:
    tell_much(store, 15)
    ask(store, "profile_set", knob="retention_mb", value=1)
    retain = store.sleep.steps[1]
    cursor = retain.start("")
    while not cursor.startswith("drop") or cursor.endswith("|"):
        cursor = retain.page(cursor).cursor
    chosen = ask(store, "memory_timeline")["records"][0]["id"]
    ask(store, "memory_pin", id=chosen)
    page = retain.page(cursor)
    assert page.counts["forgotten"] == 4  # five were named
    assert chosen in [record["id"] for record in ask(store, "memory_timeline")["records"]]
    assert retain.page(cursor).counts.get("forgotten", 0) == 0  # killed before it was written down
