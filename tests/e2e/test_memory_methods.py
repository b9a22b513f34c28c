"""The memory methods over the socket, as other programs rely on them."""

import os
from pathlib import Path

import pytest
from tests.support.answers import Json
from tests.support.daemon import DaemonProcess, until


def texts(records: list[Json]) -> list[str]:
    return [record["text"] for record in records]


def test_the_same_words_said_twice_are_two_turns_and_delivered_twice_one(
    daemon: DaemonProcess,
) -> None:
    events = [{"text": "yes", "role": "user"}, {"text": "go on", "role": "user"}] * 2
    first = daemon.call("capture_events", session_id="twice", events=events)
    again = daemon.call("capture_events", session_id="twice", events=events)
    assert (first["inserted"], first["duplicates"]) == (4, 0)
    assert (again["inserted"], again["duplicates"]) == (0, 4)
    records = daemon.call("memory_timeline", session_id="twice")["records"]
    assert texts(records) == ["yes", "go on", "yes", "go on"]


def test_a_growing_transcript_adds_only_what_is_new(daemon: DaemonProcess) -> None:
    events = [{"text": f"line {n}", "role": "user", "id": f"u{n}"} for n in range(5)]
    daemon.call("capture_events", session_id="grows", events=events[:3])
    more = daemon.call("capture_events", session_id="grows", events=events)
    assert (more["inserted"], more["duplicates"]) == (2, 3)


def test_an_id_wins_over_the_words(daemon: DaemonProcess) -> None:
    first = [{"text": "draft", "role": "user", "id": "a"}]
    other = [
        {"text": "changed", "role": "user", "id": "a"},
        {"text": "draft", "role": "user", "id": "b"},
    ]
    daemon.call("capture_events", session_id="ids", events=first)
    result = daemon.call("capture_events", session_id="ids", events=other)
    assert (result["inserted"], result["duplicates"]) == (1, 1)
    assert texts(daemon.call("memory_timeline", session_id="ids")["records"]) == ["draft", "draft"]


def test_the_identity_of_a_captured_text_is_session_role_and_words(daemon: DaemonProcess) -> None:
    first = daemon.call("memory_capture", text="one fact", session_id="c")
    again = daemon.call(
        "memory_capture", text="one fact", session_id="c", ts="2020-01-01T00:00:00Z"
    )
    other = daemon.call("memory_capture", text="one fact", session_id="c", role="assistant")
    assert (first["status"], again["status"], other["status"]) == (
        "inserted",
        "duplicate",
        "inserted",
    )
    assert first["record_id"] == again["record_id"] != other["record_id"]


def test_blank_and_broken_events_are_counted_and_the_rest_is_kept(daemon: DaemonProcess) -> None:
    events = [
        {"text": "  ", "role": "user"},
        5,
        {"role": "user"},
        {"text": "kept", "ts": "not a time"},
    ]
    result = daemon.call("capture_events", session_id="mixed", events=events)
    assert result == {"inserted": 1, "duplicates": 0, "skipped": 2, "errors": 1}
    assert texts(daemon.call("memory_timeline", session_id="mixed")["records"]) == ["kept"]


def test_equal_times_keep_the_order_of_arrival(daemon: DaemonProcess) -> None:
    same = "2026-03-01T10:00:00Z"
    events = [{"text": f"at once {n}", "role": "user", "ts": same} for n in range(20)]
    daemon.call("capture_events", session_id="order", events=events)
    records = daemon.call("memory_timeline", session_id="order")["records"]
    assert texts(records) == [f"at once {n}" for n in range(20)]
    assert {record["ts"] for record in records} == {same}


def test_the_timeline_gives_the_newest_oldest_first(daemon: DaemonProcess) -> None:
    events = [{"text": f"day {d}", "ts": f"2026-02-{d:02d}T00:00:00Z"} for d in (3, 1, 2, 5, 4)]
    daemon.call("capture_events", session_id="days", events=events)
    newest = daemon.call("memory_timeline", session_id="days", limit=2)["records"]
    assert texts(newest) == ["day 4", "day 5"]
    between = daemon.call(
        "memory_timeline",
        session_id="days",
        since="2026-02-02T00:00:00Z",
        until="2026-02-04T00:00:00Z",
    )
    assert texts(between["records"]) == ["day 2", "day 3"]


def test_meta_comes_back_unchanged_and_is_limited(daemon: DaemonProcess) -> None:
    meta = {"file": "a.py", "nested": {"x": [1, 2, None]}, "ü": "東"}
    daemon.call("memory_capture", text="zanzibar with meta", session_id="meta", meta=meta)
    (record,) = daemon.call("memory_timeline", session_id="meta")["records"]
    assert record["meta"] == meta
    hits = daemon.call("memory_recall", cue="zanzibar", session_id="meta")["hits"]
    assert hits[0]["meta"] == meta
    refused = daemon.rpc("memory_capture", text="x", session_id="meta", meta={"a": "x" * 5000})
    assert refused["error"]["code"] == -32602


@pytest.mark.parametrize(
    "params",
    [
        {"text": 5},
        {"text": "x", "tier": "unknown"},
        {"text": "x", "ts": "yesterday"},
        {"text": "x", "meta": []},
        {"text": "x", "role": 3},
        {},
    ],
)
def test_bad_params_of_a_capture_are_refused(daemon: DaemonProcess, params: Json) -> None:
    assert daemon.rpc("memory_capture", **params)["error"]["code"] == -32602


def test_the_event_s_project_wins_over_the_call_s_and_that_over_the_directory(
    daemon: DaemonProcess, tmp_path: Path
) -> None:
    events = [{"text": "one", "project": "alpha"}, {"text": "two"}]
    daemon.call(
        "capture_events", session_id="projects", events=events, project="beta", cwd=str(tmp_path)
    )
    daemon.call(
        "capture_events", session_id="projects2", events=[{"text": "three"}], cwd=str(tmp_path)
    )
    assert texts(daemon.call("memory_timeline", project="alpha")["records"]) == ["one"]
    assert texts(daemon.call("memory_timeline", project="beta")["records"]) == ["two"]
    by_path = daemon.call("memory_timeline", project=str(tmp_path / "below"))
    assert by_path["records"] == []
    assert texts(daemon.call("memory_timeline", project=str(tmp_path))["records"]) == ["three"]
    assert texts(daemon.call("memory_timeline", project=tmp_path.name)["records"]) == ["three"]


class TestRecall:
    @pytest.fixture(autouse=True)
    def _stored(self, daemon: DaemonProcess) -> None:
        events = [
            {"text": "the flux capacitor needs 1.21 gigawatts", "role": "user"},
            {"text": "lemon cake wants two eggs", "role": "assistant"},
            {"text": "flux is also a kind of solder paste", "role": "assistant"},
        ]
        daemon.call("capture_events", session_id="recall", project="recall", events=events)

    def test_a_hit_has_all_the_keys_and_the_words_verbatim(self, daemon: DaemonProcess) -> None:
        answer = daemon.call("memory_recall", cue="flux capacitor", project="recall")
        for name in ("hits", "anti_hits", "budget_used", "cue_mode", "degraded"):
            assert name in answer
        hit = answer["hits"][0]
        assert hit["text"] == "the flux capacitor needs 1.21 gigawatts"
        for name in ("id", "score", "reason", "role", "session_id", "project", "ts", "meta"):
            assert hit[name] is not None
        assert hit["valid_to"] is None

    def test_without_a_model_the_answer_says_that_it_is_degraded(
        self, daemon: DaemonProcess
    ) -> None:
        assert daemon.call("memory_recall", cue="flux")["degraded"]

    def test_at_least_one_hit_even_when_nothing_matches(self, daemon: DaemonProcess) -> None:
        assert daemon.call("memory_recall", cue="xylophone quartz", project="recall")["hits"]

    def test_the_budget_is_kept_beyond_the_first_hit(self, daemon: DaemonProcess) -> None:
        small = daemon.call("memory_recall", cue="flux", project="recall", budget_tokens=1)
        assert len(small["hits"]) == 1

    def test_k_limits_the_hits(self, daemon: DaemonProcess) -> None:
        assert len(daemon.call("memory_recall", cue="flux", project="recall", k=1)["hits"]) == 1

    def test_filters_restrict(self, daemon: DaemonProcess) -> None:
        answer = daemon.call("memory_recall", cue="flux", project="recall", role="assistant")
        assert {hit["role"] for hit in answer["hits"]} == {"assistant"}
        assert daemon.call("memory_recall", cue="flux", session_id="no such session")["hits"] == []

    @pytest.mark.parametrize(
        "params",
        [
            {"cue": ""},
            {"cue": "   "},
            {"cue": 5},
            {"cue": "x", "k": 0},
            {"cue": "x", "k": 101},
            {"cue": "x", "k": "3"},
            {"cue": "x", "budget_tokens": 1_000_001},
            {"cue": "x", "since": "some day"},
            {"cue": "x", "cue_embedding": ["a"]},
        ],
    )
    def test_bad_params_are_refused(self, daemon: DaemonProcess, params: Json) -> None:
        assert daemon.rpc("memory_recall", **params)["error"]["code"] == -32602

    @pytest.mark.parametrize(
        "cue", ['"', "AND OR NOT", "a* (b", "NEAR(x y)", "col:x", "^x", "'; --", "🚀", "\x00"]
    )
    def test_a_cue_with_query_syntax_is_only_words(self, daemon: DaemonProcess, cue: str) -> None:
        assert "hits" in daemon.call("memory_recall", cue=cue)


def test_a_contradicted_fact_stays_and_points_to_its_successor(daemon: DaemonProcess) -> None:
    old = daemon.call("memory_capture", text="the quokka port is 1111", session_id="con")[
        "record_id"
    ]
    done = daemon.call("memory_contradict", id=old, new_fact="the quokka port is 2222")
    assert done["original_id"] == old
    assert done["edge_type"] == "contradicts"
    assert done["new_record_id"] != old
    answer = daemon.call("memory_recall", cue="quokka port", session_id="con")
    shown = [*answer["hits"], *answer["anti_hits"]]
    by_id = {hit["id"]: hit for hit in shown}
    assert by_id[old]["valid_to"] is not None
    assert answer["hits"][0]["id"] == done["new_record_id"]


def test_contradicting_what_is_not_there_says_so(daemon: DaemonProcess) -> None:
    answer = daemon.rpc(
        "memory_contradict", id="00000000-0000-0000-0000-000000000000", new_fact="x"
    )
    assert "error" in answer


def test_reinforcing_links_what_answered_together(daemon: DaemonProcess) -> None:
    ids = [
        daemon.call("memory_capture", text=f"linked {n}", session_id="link")["record_id"]
        for n in range(3)
    ]
    assert daemon.call("memory_reinforce", ids=ids)["edges_boosted"] == 3
    assert daemon.rpc("memory_reinforce", ids=[])["error"]["code"] == -32602
    assert daemon.rpc("memory_reinforce")["error"]["code"] == -32602


class TestForgetting:
    def test_no_filter_at_all_is_refused(self, daemon: DaemonProcess) -> None:
        assert daemon.rpc("memory_forget")["error"]["code"] == -32602
        assert daemon.rpc("memory_forget", dry_run=True)["error"]["code"] == -32602

    def test_a_dry_run_shows_and_takes_nothing(self, daemon: DaemonProcess) -> None:
        daemon.call("memory_capture", text="to be forgotten", session_id="dry")
        shown = daemon.call("memory_forget", session_id="dry", dry_run=True)
        assert shown["forgotten"] == 0
        assert len(shown["ids"]) == 1
        assert len(daemon.call("memory_timeline", session_id="dry")["records"]) == 1

    def test_filters_combine_by_and(self, daemon: DaemonProcess) -> None:
        kept = daemon.call("memory_capture", text="keep", session_id="f1", project="fp")[
            "record_id"
        ]
        gone = daemon.call("memory_capture", text="drop", session_id="f2", project="fp")[
            "record_id"
        ]
        assert daemon.call("memory_forget", ids=[kept, gone], session_id="f2")["ids"] == [gone]
        assert texts(daemon.call("memory_timeline", project="fp")["records"]) == ["keep"]

    def test_what_was_forgotten_is_not_found_and_does_not_come_back(
        self, daemon: DaemonProcess
    ) -> None:
        events = [{"text": "the vuvuzela password policy", "role": "user", "id": "v1"}]
        daemon.call("capture_events", session_id="gone", events=events)
        assert daemon.call("memory_forget", query="vuvuzela")["forgotten"] == 1
        again = daemon.call("capture_events", session_id="gone", events=events)
        assert (again["inserted"], again["skipped"]) == (0, 1)
        hits = daemon.call("memory_recall", cue="vuvuzela password policy")["hits"]
        assert not any("vuvuzela" in hit["text"] for hit in hits)

    def test_a_query_misses_none_however_many_there_are(self, fresh_daemon: DaemonProcess) -> None:
        said = [{"text": f"the Zeppelin plan, page {n}", "id": str(n)} for n in range(250)]
        for session in ("left", "right"):
            fresh_daemon.call("capture_events", session_id=session, events=said)
        dry = fresh_daemon.call("memory_forget", query="zeppelin", session_id="right", dry_run=True)
        assert len(dry["ids"]) == 250
        assert fresh_daemon.call("memory_forget", query="ZEPPELIN plan")["forgotten"] == 500
        assert fresh_daemon.ask({"type": "status"})["records"] == 0

    def test_a_query_takes_whole_words_and_phrases_only(self, fresh_daemon: DaemonProcess) -> None:
        said = ["a cat sleeps", "concatenate them", "the category", "Cat, again", "猫が寝る"]
        events = [{"text": text, "id": text, "project": "zoo"} for text in said]
        fresh_daemon.call("capture_events", session_id="s", events=events)
        dry = fresh_daemon.call("memory_forget", query="cat", dry_run=True, show=5)
        assert (dry["matches"], dry["projects"]) == (2, {"zoo": 2})
        assert [shown["sample"] for shown in dry["records"]] == ["a cat sleeps", "Cat, again"]
        assert fresh_daemon.call("memory_forget", query="cat")["forgotten"] == 2
        assert fresh_daemon.call("memory_forget", query="猫")["forgotten"] == 1
        left = texts(fresh_daemon.call("memory_timeline", session_id="s")["records"])
        assert left == ["concatenate them", "the category"]

    @pytest.mark.parametrize(
        "nothing", [{"project": "*"}, {"project": ""}, {"session_id": ""}, {"query": "  "}]
    )
    def test_a_filter_that_leaves_nothing_out_is_refused(
        self, daemon: DaemonProcess, nothing: dict[str, str]
    ) -> None:
        assert daemon.rpc("memory_forget", **nothing)["error"]["code"] == -32602

    def test_a_correction_that_was_forgotten_is_not_acknowledged_as_kept(
        self, daemon: DaemonProcess
    ) -> None:
        old = daemon.call("memory_capture", text="the tide is low", session_id="tide")["record_id"]
        new = daemon.call("memory_contradict", id=old, new_fact="the tide is high")
        daemon.call("memory_forget", ids=[new["new_record_id"]])
        again = daemon.rpc("memory_contradict", id=old, new_fact="the tide is high")
        assert again["error"]["data"]["code"] == "ALREADY_EXISTS"


class TestTimes:
    @pytest.mark.parametrize("ts", ["9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00+14:00"])
    def test_a_time_that_no_calendar_can_show_is_refused_and_poisons_nothing(
        self, daemon: DaemonProcess, ts: object
    ) -> None:
        assert daemon.rpc("memory_capture", text=f"said at {ts}", ts=ts)["error"]["code"] == -32602
        events = [{"text": f"an event at {ts}", "ts": ts}]
        counted = daemon.call("capture_events", session_id="odd times", events=events)
        assert counted["inserted"] == 1
        assert daemon.call("memory_timeline", session_id="odd times")["records"]
        assert daemon.call("memory_recall", cue=f"an event at {ts}")["hits"]

    @pytest.mark.parametrize("ts", ["0001-01-01", "9999-12-31T23:59:59.999999Z"])
    def test_the_ends_of_the_calendar_can_be_shown(self, daemon: DaemonProcess, ts: str) -> None:
        daemon.call("memory_capture", text=f"at the end {ts}", ts=ts, session_id=f"ends {ts}")
        record = daemon.call("memory_timeline", session_id=f"ends {ts}")["records"][0]
        assert record["ts"] == ts
        assert record["valid_from"].startswith(ts[:10])


def test_topology_counts_and_events_are_listed(daemon: DaemonProcess) -> None:
    topology = daemon.call("topology")
    assert topology["records"] > 0
    assert topology["vectors_pending"] >= 0
    daemon.call("session_exit", session_id="done")
    events = daemon.call("events_query", kind="session_exit")
    assert events["count"] == len(events["events"]) >= 1


def test_secrets_are_replaced_before_anything_is_stored(daemon: DaemonProcess) -> None:
    token = "ghp_" + "a1B2" * 9
    daemon.call("memory_capture", text=f"the token is {token} ok", session_id="secret")
    (record,) = daemon.call("memory_timeline", session_id="secret")["records"]
    assert token not in record["text"]
    assert "[secret:" in record["text"]


def test_the_spool_is_drained_while_the_daemon_runs(daemon: DaemonProcess) -> None:
    import json

    spool = daemon.home.store / ".deferred-captures"
    spool.mkdir(mode=0o700, exist_ok=True)
    header = {
        "version": 1,
        "deferred_at": "2026-01-01T00:00:00Z",
        "session_id": "spooled",
        "cwd": "/x",
    }
    turns = [
        {"text": f"spooled {n % 2}", "cue": "", "tier": "episodic", "role": "user"}
        for n in range(4)
    ]
    hidden = spool / ".half"
    hidden.write_text("\n".join(map(json.dumps, [header, *turns])) + "\n")
    hidden.rename(spool / "spooled-1.jsonl")
    until(lambda: not (spool / "spooled-1.jsonl").exists(), "the file is drained")
    assert len(daemon.call("memory_timeline", session_id="spooled")["records"]) == 4


def test_a_number_beyond_all_measure_in_an_embedding_is_a_bad_param(daemon: DaemonProcess) -> None:
    answer = daemon.rpc("memory_recall", cue="x", cue_embedding=[10**400])
    assert answer["error"]["code"] == -32602


@pytest.mark.parametrize("salt", ["no digits", "ab" * 65])
def test_a_salt_that_would_spoil_every_identity_is_refused(
    fresh_daemon: DaemonProcess, salt: str
) -> None:
    assert fresh_daemon.rpc("import_records", records=[], salt=salt)["error"]["code"] == -32602
    assert fresh_daemon.call("memory_capture", text="still works")["status"] == "inserted"


def test_a_pipe_in_the_spool_holds_up_neither_the_drain_nor_the_stop(
    fresh_daemon: DaemonProcess,
) -> None:
    spool = fresh_daemon.home.store / ".deferred-captures"
    spool.mkdir(mode=0o700, exist_ok=True)
    os.mkfifo(spool / "a-1.jsonl")
    (spool / "b-1.jsonl").write_text(
        '{"version": 1, "session_id": "after"}\n{"text": "it flows"}\n'
    )
    until(
        lambda: fresh_daemon.call("memory_timeline", session_id="after")["records"],
        "the turn behind the pipe is stored",
    )
    assert fresh_daemon.stop() == 0
