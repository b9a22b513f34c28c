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


def derived(store: MemoryStore, tier: str = "semantic") -> list[Any]:
    with store.database.reading() as db:
        keys = [row[0] for row in db.execute("SELECT key FROM memories WHERE derived = 1")]
    return [memory for memory in store.memories.get(keys) if memory.tier == tier]


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
        "suggestions",
        "habits",
        "fading",
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


@pytest.mark.parametrize("store", ["meaning", "words"], indirect=True)
def test_topics_become_semantic_memories_that_quote_and_date_their_sources(
    store: MemoryStore,
) -> None:
    for n, (one, other) in enumerate(zip(STAGING, HERONS, strict=True)):
        tell(store, f"a{n}", one, project="/p")
        tell(store, f"b{n}", other, project="/p")
    report = sleep(store)
    found = derived(store)
    assert report["derived"] == len(found) == 2
    assert ask(store, "topology")["communities"] == 2
    said = {record["id"]: record for record in ask(store, "memory_timeline")["records"]}
    for memory in found:
        assert memory.provenance.session_id == ""
        assert memory.provenance.project == "/p"
        about = STAGING if "staging" in memory.text else HERONS
        sources = memory.meta["sources"]
        assert {said[i]["text"] for i in sources} == set(about)
        quoted = [line.split(": ", 1)[1] for line in memory.text.splitlines()[1:]]
        assert quoted
        assert all(any(quote in said[i]["text"] for i in sources) for quote in quoted)
        assert said[sources[0]]["ts"][:10] in memory.text


def test_sleeping_again_changes_nothing(store: MemoryStore) -> None:
    tell(store, "s", *STAGING, project="/p")
    sleep(store)
    before = derived(store)
    again = sleep(store)
    assert derived(store) == before
    assert again["derived"] == again["folded"] == 0


def test_a_topic_is_replaced_when_its_sources_change(store: MemoryStore) -> None:
    tell(store, "s", *STAGING, project="/p")
    sleep(store)
    (before,) = derived(store)
    tell(store, "t", "The bastion of the staging database moved to Frankfurt.", project="/p")
    sleep(store)
    (after,) = derived(store)
    assert after.id != before.id
    assert after.meta["source_count"] == 5


def test_derived_memories_are_in_no_timeline_and_no_count(store: MemoryStore) -> None:
    tell(store, "s", *STAGING, project="/p")
    before = ask(store, "memory_timeline", project="/p")["records"]
    shape = ask(store, "topology")
    sleep(store)
    assert derived(store)
    assert ask(store, "memory_timeline", project="/p")["records"] == before
    assert ask(store, "memory_timeline", session_id="s")["records"] == before
    after = ask(store, "topology")
    for name in ("records", "projects", "vectors", "vectors_pending"):
        assert after[name] == shape[name]
    assert after["derived"] == 1
    assert after["hubs"][0]["ties"] > 0


def test_forgetting_a_source_takes_its_words_out_of_what_was_derived(store: MemoryStore) -> None:
    tell(store, "s", *STAGING, "The staging database admin is called Ermintrude.", project="/p")
    sleep(store)
    assert len(derived(store)) == 1
    found = ask(store, "memory_forget", query="Ermintrude")
    assert found["forgotten"] == 1
    with store.database.reading() as db:
        for (table,) in db.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table'"
        ).fetchall():
            assert "Ermintrude" not in repr(db.execute(f"SELECT * FROM {table}").fetchall())
    sleep(store)
    (after,) = derived(store)
    assert after.meta["source_count"] == 4
    assert "Ermintrude" not in after.text


def test_what_was_superseded_is_not_in_a_digest_from_that_moment_on(store: MemoryStore) -> None:
    tell(store, "s", *STAGING, project="/p")
    sleep(store)
    first = ask(store, "memory_timeline")["records"][0]
    ask(
        store, "memory_contradict", id=first["id"], new_fact="The staging database is on port 6000."
    )
    assert derived(store) == []
    sleep(store)
    assert all("5433" not in memory.text for memory in derived(store))


def test_a_digest_that_somebody_forgot_stays_away(store: MemoryStore) -> None:
    tell(store, "s", *STAGING, project="/p")
    sleep(store)
    (digest,) = derived(store)
    assert ask(store, "memory_forget", ids=[digest.id])["forgotten"] == 1
    assert ask(store, "topology")["records"] == len(STAGING)
    sleep(store)
    assert derived(store) == []


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
    said = [hit for hit in hits if not hit.get("derived")]
    assert len(said) == 1
    assert said[0]["count"] == 3
    assert len(said[0]["same"]) == 2
    assert len(ask(store, "memory_timeline", project="/p")["records"]) == 3
    unfolded = ask(store, "memory_recall", cue="deploy make ship", project="/p", fold=False)["hits"]
    assert len([hit for hit in unfolded if not hit.get("derived")]) == 3


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


def test_digests_never_take_a_place_from_what_was_said(store: MemoryStore) -> None:
    tell(store, "s", *STAGING, *HERONS, project="/p")
    cue = "how do I reach the staging database behind the bastion"
    before = {k: ask(store, "memory_recall", cue=cue, k=k)["hits"] for k in (1, 2, 4, 10)}
    sleep(store)
    assert derived(store)
    for k, hits in before.items():
        after = ask(store, "memory_recall", cue=cue, k=k)["hits"]
        assert len(after) <= k
        assert [hit["id"] for hit in after][: len(hits)] == [hit["id"] for hit in hits]
        assert all(hit.get("derived") for hit in after[len(hits) :])
    assert any(hit.get("derived") for hit in ask(store, "memory_recall", cue=cue, k=10)["hits"])


def test_a_budget_is_spent_on_what_was_said_first(store: MemoryStore) -> None:
    tell(store, "s", *STAGING, project="/p")
    cue, budget = "staging database bastion", 350
    before = ask(store, "memory_recall", cue=cue, budget_tokens=budget)
    sleep(store)
    after = ask(store, "memory_recall", cue=cue, budget_tokens=budget)
    assert [hit["id"] for hit in after["hits"]] == [hit["id"] for hit in before["hits"]]
    assert after["budget_used"] <= budget


def test_contradictions_and_stale_facts_are_suggested_and_never_applied(store: MemoryStore) -> None:
    tell(store, "a", "The billing service timeout is 30 seconds.", project="/p")
    tell(store, "b", "The billing service timeout is 90 seconds.", project="/p")
    tell(store, "c", "The invoice renderer uses wkhtmltopdf 12.", project="/p")
    tell(store, "d", "We switched the invoice renderer to weasyprint 60.", project="/p")
    before = ask(store, "memory_timeline")["records"]
    report = sleep(store)
    assert report["suggestions"] == 2
    told = {
        one["kind"]: (one["older"]["text"], one["newer"]["text"]) for one in report["suggested"]
    }
    assert told == {
        "contradiction": (before[0]["text"], before[1]["text"]),
        "stale": (before[2]["text"], before[3]["text"]),
    }
    assert ask(store, "memory_timeline")["records"] == before
    ask(store, "memory_contradict", id=before[0]["id"], new_fact="It is 90 seconds.")
    assert [one["kind"] for one in ask(store, "sleep_report")["suggested"]] == ["stale"]


def test_what_people_keep_for_good_is_told_and_topics_are_not(store: MemoryStore) -> None:
    ask(store, "memory_capture", text="The mascot is a heron.", tier="semantic", project="/p")
    tell(store, "s", *STAGING, project="/p")
    sleep(store)
    told = ask(store, "session_start_payload", project="/p")["text"]
    assert "The mascot is a heron." in told.split("Known:")[1]
    assert "4 turns" not in told  # the sentences of a topic are told where they were said


def test_a_command_of_two_projects_is_told_in_no_third(store: MemoryStore) -> None:
    for n in range(4):
        tell(store, f"t{n}", "Run the checks with `uv run pytest -q` now.", project=f"/p{n % 2}")
    sleep(store)
    assert "pytest" not in ask(store, "session_start_payload", project="/new")["text"]


def test_recurring_wishes_and_commands_become_procedural_memories(store: MemoryStore) -> None:
    for n in range(3):
        tell(
            store, f"s{n}", "Please always use British spelling in comments.", project=f"/p{n % 2}"
        )
        tell(store, f"t{n}", "Run the checks with `uv run pytest -q` now.", project="/p0")
    tell(store, "once", "I prefer ponies over camels.", project="/p0")
    sleep(store)
    found = {memory.meta["kind"]: memory for memory in derived(store, "procedural")}
    assert set(found) == {"instruction", "command"}
    wish = found["instruction"]
    assert wish.text.splitlines()[0] == "Please always use British spelling in comments."
    assert wish.meta["count"] == 3
    assert wish.provenance.project == ""  # said in two projects: it holds everywhere
    assert found["command"].text.splitlines()[0] == "uv run pytest -q"
    assert found["command"].provenance.project == "/p0"
    start = ask(store, "session_start_payload", project="/new")["text"]
    assert "said 3 times" in start
    assert ask(store, "session_start_payload", project="/p1")["text"].count("Known:") == 1


def test_what_a_private_project_says_is_told_nowhere_else(store: MemoryStore) -> None:
    wish = "Please always call the client Operation Nightjar."
    for project in ("/secret", "/open", "/secret"):
        tell(store, f"s{project}", wish, project=project)
        tell(store, f"t{project}", "The nightjar budget is 30 percent.", project=project)
    tell(store, "late", "The nightjar budget is 45 percent.", project="/secret")
    sleep(store)
    assert "Nightjar" in ask(store, "session_start_payload", project="/new")["text"]
    ask(store, "project_privacy", project="/secret", private=True)
    for _ in range(2):
        assert "Nightjar" not in ask(store, "session_start_payload", project="/new")["text"]
        report = sleep(store)
        assert report["suggested"] == []
    assert ask(store, "sleep_report", cwd="/secret")["suggested"]


def test_with_learning_off_nothing_is_derived(store: MemoryStore) -> None:
    ask(store, "profile_set", knob="learning", value="off")
    tell(store, "s", *STAGING, project="/p")
    report = sleep(store)
    assert report["state"] == "done"
    assert report["derived"] == report["suggestions"] == 0
    assert derived(store) == []
    ask(store, "profile_set", knob="learning", value="on")
    assert sleep(store)["derived"] == 1


def test_consolidated_hits_decides_where_digests_may_stand(store: MemoryStore) -> None:
    tell(store, "s", *STAGING, project="/p")
    sleep(store)

    def hits(value: str, k: int) -> list[bool]:
        ask(store, "profile_set", knob="consolidated_hits", value=value)
        found = ask(store, "memory_recall", cue="staging database bastion", k=k)["hits"]
        return [hit.get("derived", False) for hit in found]

    assert hits("off", 10) == [False] * 4
    assert hits("auto", 10) == [False] * 4 + [True]
    assert hits("auto", 4) == [False] * 4
    assert hits("on", 4) == [False] * 3 + [True]
    assert hits("on", 1) == [False]


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


def test_of_two_equal_answers_the_one_that_was_asked_for_comes_first(store: MemoryStore) -> None:
    ids = [
        ask(store, "memory_capture", text=text, ts="2024-05-01T00:00:00Z", session_id=text)[
            "record_id"
        ]
        for text in ("the otter sleeps at the weir", "the otter swims at the weir")
    ]

    def order() -> list[str]:
        return [hit["id"] for hit in ask(store, "memory_recall", cue="otter weir")["hits"]]

    ask(store, "profile_set", knob="fading", value=0)
    last = order()[-1]
    ask(store, "profile_set", knob="fading", value=1)
    store.uses.flush()
    with store.database.writing() as db:
        db.execute("DELETE FROM uses")
    ask(store, "memory_reinforce", ids=[last])
    sleep(store)
    assert order()[0] == last
    ask(store, "profile_set", knob="fading", value=0)
    assert order()[-1] == last
    assert set(ids) == set(order())


def test_a_pinned_memory_stands_at_full_strength(store: MemoryStore) -> None:
    said = ask(store, "memory_capture", text="pinned on the wall", ts="2020-01-01T00:00:00Z")
    memory = store.memories.find([said["record_id"]])[0]
    sleep(store)
    assert store.strengths.of([memory.key])[memory.key] < 0.8
    ask(store, "memory_pin", id=memory.id)
    assert store.strengths.of([memory.key])[memory.key] == 1.0
    sleep(store)
    assert store.strengths.of([memory.key])[memory.key] == 1.0
