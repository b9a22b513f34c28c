"""What agents did reaches the store once, without secrets, where people want it, and leaves when told."""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import pytest
from bench.planted import planted
from tests.support.answers import ask

from iai_mcp.adapters.keys import backup
from iai_mcp.capture import consent
from iai_mcp.cli import capture_consent
from iai_mcp.core import dispatch
from iai_mcp.domain.errors import InvalidInput
from iai_mcp.domain.work import KINDS, Command, Edit, Record, text_of
from iai_mcp.ports.memories import Scope
from iai_mcp.store import MemoryStore

TOKEN = "ghp_" + "q7Xk2PzL9vRt4MwY8sBn3HdJ6fGc5TaE1uWo"[:36]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MemoryStore]:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("IAI_MCP_STORE", str(tmp_path / "data"))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    opened = MemoryStore()
    yield opened
    opened.close()


def event(kind: str, mark: str, **work: object) -> dict[str, object]:
    text = str(work.get("command") or work.get("path") or "x")
    return {
        "kind": kind,
        "role": "tool",
        "id": mark,
        "turn": "u-1",
        "text": text,
        "work": work,
        "ts": "2026-03-01T09:30:00Z",
    }


def ran(mark: str, command: str, status: int = 0, output: str = "") -> dict[str, object]:
    return event("command", mark, command=command, exit=status, output=output)


def deliver(store: MemoryStore, *events: Mapping[str, object], **call: object) -> dict[str, object]:
    return dispatch(store, "capture_events", {"session_id": "s1", "events": list(events), **call})


def kept(store: MemoryStore) -> list[Record]:
    return store.works.newest(Scope(), KINDS, 1000)[::-1]


def test_a_tool_call_is_stored_once_on_the_request_it_served(store: MemoryStore) -> None:
    asked = {"id": "u-1", "role": "user", "text": "fix the cart", "ts": "2026-03-01T09:29:00Z"}
    edited = event("edit", "t2", path="cart.py", action="changed", added=2, removed=1, names=["f"])

    first = deliver(store, asked, ran("t1", "pytest", 1, "E   assert 3 == 4"), edited)
    again = deliver(store, asked, ran("t1", "pytest", 1, "E   assert 3 == 4"), edited)

    assert first == {"inserted": 3, "duplicates": 0, "skipped": 0, "errors": 0, "work": 2}
    assert again == {"inserted": 0, "duplicates": 3, "skipped": 0, "errors": 0, "work": 0}
    records = dispatch(store, "memory_timeline", {})["records"]
    assert isinstance(records, list)
    assert [one["text"] for one in records] == ["fix the cart"]
    commanded, changed = kept(store)
    assert isinstance(commanded.done, Command)
    assert (commanded.done.exit, commanded.done.failed) == (1, True)
    assert changed.done == Edit("cart.py", "changed", 2, 1, ("f",))
    (request,) = store.memories.find([records[0]["id"]])
    assert commanded.turn is not None
    assert commanded.turn.hex() == request.id.replace("-", "")


def test_where_turns_have_no_ids_work_hangs_on_what_was_said_last(store: MemoryStore) -> None:
    turns = [
        {"role": "user", "text": "first wish", "ts": "2026-03-01T09:00:00Z"},
        {"role": "user", "text": "later wish", "ts": "2026-03-01T10:00:00Z"},
    ]
    deliver(store, *turns, ran("t1", "make") | {"turn": None})

    (work,) = kept(store)

    assert work.turn is not None
    (served,) = store.memories.find([str(UUID(bytes=work.turn))])
    assert served.text == "first wish"


@pytest.mark.parametrize(
    "broken",
    [
        {"kind": "command", "role": "tool", "id": "t", "text": "x", "work": "no"},
        {"kind": "command", "role": "tool", "id": "t", "text": "x", "work": {"command": 7}},
        {"kind": "edit", "role": "tool", "id": "t", "text": "x", "work": {"path": " "}},
        {"kind": "command", "role": "tool", "id": "t", "text": "x"},
    ],
)
def test_what_is_no_work_is_counted_and_the_rest_is_kept(
    store: MemoryStore, broken: dict[str, object]
) -> None:
    result = deliver(store, broken, ran("t2", "make"))

    assert (result["errors"], result["inserted"]) == (1, 1)


def test_no_secret_reaches_the_store_in_a_command_an_output_a_path_or_a_query(
    store: MemoryStore,
) -> None:
    events: list[dict[str, object]] = []
    secrets = planted()
    for number, one in enumerate(secrets[::3]):
        events.append(ran(f"c{number}", one.text, 1, one.text))
        events.append(event("edit", f"e{number}", path=one.text, names=[one.text]))
        events.append(event("looked", f"l{number}", paths=[one.text], queries=[one.text]))
    deliver(store, *events, host=f"codex {TOKEN}")

    told = "\n".join(
        f"{text_of(one.done, one.note)}\n{getattr(one.done, 'output', '')}\n{one.provenance}"
        for one in kept(store)
    )

    survived = [one.kind for one in secrets[::3] if one.survivors(told)]
    assert len(secrets[::3]) >= 60
    assert len(survived) <= 0.02 * len(secrets[::3]), survived
    assert TOKEN not in told


def test_people_say_where_work_is_not_remembered(
    store: MemoryStore, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shop, other = str(tmp_path / "shop"), str(tmp_path / "other")
    said = {"text": "hello", "role": "user"}
    capture_consent.ignore(shop, consent.NEVER_WORK, as_json=True)
    assert json.loads(capsys.readouterr().out)["work_never_captured"] == [shop]

    assert deliver(store, said, ran("t1", "make"), cwd=shop)["inserted"] == 1
    assert deliver(store, ran("t2", "make"), cwd=other)["inserted"] == 1
    capture_consent.ignore(consent.EVERYWHERE, consent.NEVER_WORK, as_json=True)
    assert deliver(store, ran("t3", "make"), cwd=other)["skipped"] == 1
    for listed in (shop, consent.EVERYWHERE):
        capture_consent.unignore(listed, consent.NEVER_WORK, as_json=True)
    dispatch(store, "profile_set", {"knob": "work", "value": "off"})
    assert deliver(store, ran("t4", "make"), cwd=other)["skipped"] == 1
    dispatch(store, "profile_set", {"knob": "work", "value": "on"})
    assert deliver(store, ran("t4", "make"), cwd=other)["inserted"] == 1


def test_what_mended_a_failure_is_known_as_soon_as_the_command_succeeds(
    store: MemoryStore,
) -> None:
    failed = ran("t1", "pytest 2>&1 | tail -5", 1, "cart.py:3: undefined name total_of")
    deliver(store, failed, event("edit", "t2", path="cart.py"))
    assert store.works.mendings_of([1]) == []

    deliver(store, ran("t3", "cd /shop && pytest", 0, "3 passed"))

    (mending,) = store.works.mendings_of([1])
    assert [text_of(one.done) for one in store.works.get(mending.steps)] == ["changed cart.py"]


def asked() -> dict[str, object]:
    return {"id": "u-1", "role": "user", "text": "fix the basket", "ts": "2026-03-01T09:29:00Z"}


def told(store: MemoryStore) -> set[str]:
    return {text_of(one.done) for one in kept(store)}


@pytest.mark.parametrize(
    ("chosen", "left"),
    [
        ({"session_id": "s1"}, {"make s2"}),
        ({"project": "/shop"}, {"make s2"}),
        ({"query": "make s2"}, {"make s1"}),
        ({"before": "2026-03-02T00:00:00Z"}, set()),
        ({"after": "2026-03-02T00:00:00Z"}, {"make s1", "make s2"}),
    ],
)
def test_work_is_forgotten_with_what_was_said_and_stays_away(
    store: MemoryStore, chosen: dict[str, object], left: set[str]
) -> None:
    for session, cwd in (("s1", "/shop"), ("s2", "/bank")):
        work = ran(f"t-{session}", f"make {session}")
        deliver(store, asked(), work, session_id=session, cwd=cwd)

    dry = dispatch(store, "memory_forget", {**chosen, "dry_run": True, "show": 9})
    gone = dispatch(store, "memory_forget", chosen)

    assert told(store) == left
    assert dry.get("work", 0) == gone.get("work", 0) == 2 - len(left)
    assert dry["matches"] == gone["forgotten"]
    for session in ("s1", "s2"):
        deliver(store, ran(f"t-{session}", f"make {session}"), session_id=session)
    assert told(store) == left


def test_an_export_brings_work_to_another_store_on_its_request(
    store: MemoryStore, tmp_path: Path
) -> None:
    failed = ran("t1", "pytest -q", 1, "cart.py:3: undefined name total_of")
    deliver(store, asked(), failed, event("edit", "t2", path="a.py", names=["f"]), cwd="/shop")
    deliver(store, ran("t3", "pytest -q", 0, "3 passed"), cwd="/shop")
    said = ask(store, "export_page")
    done = ask(store, "export_work_page")
    other = MemoryStore(tmp_path / "other")

    records = [*said["records"], *done["records"]]
    first = dispatch(other, "import_records", {"records": records, "salt": said["salt"]})
    again = dispatch(other, "import_records", {"records": records, "salt": said["salt"]})

    assert (first["inserted"], again["inserted"], again["duplicates"]) == (4, 0, 4)
    assert [(one.id, one.done, one.turn) for one in kept(other)] == [
        (one.id, one.done, one.turn) for one in kept(store)
    ]
    (mending,) = ask(other, "fix", error="undefined name total_of")["mendings"]
    assert (mending["mended_by"], mending["request"]) == ("changed a.py f", "fix the basket")
    assert deliver(other, failed, cwd="/shop")["duplicates"] == 1
    other.close()


def test_retention_lets_old_work_go_in_sleep(store: MemoryStore) -> None:
    fresh = ran("t2", "make fresh") | {"ts": datetime.now(UTC).isoformat()}
    deliver(store, ran("t1", "make old"), fresh, {"text": "hello", "role": "user"})
    dispatch(store, "profile_set", {"knob": "retention_days", "value": 30})

    store.sleep.run()

    assert told(store) == {"make fresh"}


def test_what_is_mended_in_a_later_session_is_found_asleep(store: MemoryStore) -> None:
    failed = ran("t1", "pytest -q", 1, "cart.py:3: undefined name total_of")
    deliver(store, asked(), failed, cwd="/shop")
    edit = event("edit", "t2", path="a.py") | {"ts": "2026-03-01T09:31:00Z"}
    passed = ran("t3", "pytest -q", 0, "3 passed") | {"ts": "2026-03-01T09:32:00Z"}
    deliver(store, edit, passed, session_id="s2", cwd="/shop")
    assert dispatch(store, "fix", {"error": "undefined name total_of"})["mendings"] == []

    store.sleep.run()

    (mending,) = ask(store, "fix", error="undefined name total_of")["mendings"]
    assert mending["mended_by"] == "changed a.py"


def test_what_was_forgotten_leaves_backups_too(store: MemoryStore) -> None:
    deliver(store, asked(), ran("t1", "make secret-target"), ran("t2", "make"), cwd="/shop")
    store.copies.make()
    dispatch(store, "memory_forget", {"query": "secret-target"})
    store.reach()
    (copy,) = (store.directory / "backups").glob("*.backup")
    store.close()

    backup.restore(store.directory, copy, None)

    restored = MemoryStore(store.directory)
    assert told(restored) == {"make"}
    restored.close()


def test_work_of_histories_that_were_imported_before_is_read_once_in_the_background(
    store: MemoryStore, tmp_path: Path
) -> None:
    used = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "make"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "built"}
    transcript = tmp_path / "0c9f4e1d-1d2a-4c3b-9e8f-0a1b2c3d4e5f.jsonl"
    lines = [
        {"type": "user", "uuid": "u-1", "message": {"content": "build it"}},
        {"type": "assistant", "uuid": "a-1", "message": {"content": [used]}},
        {"type": "user", "uuid": "r-1", "message": {"content": [result]}},
    ]
    transcript.write_text("".join(json.dumps(line) + "\n" for line in lines))
    said = {"id": "u-1", "role": "user", "text": "build it"}
    deliver(store, said, session_id=transcript.stem)
    note = {"version": 1, "records": 1, "files": {str(transcript): [1, 1], "/gone.jsonl": [1, 1]}}
    (store.directory / "imported.json").write_text(json.dumps(note))

    store.past_work.work()

    (work,) = kept(store)
    assert text_of(work.done) == "make"
    assert store.work_answers.requests([work], Scope()) == {work.key: "build it"}
    dispatch(store, "memory_forget", {"session_id": transcript.stem})
    deliver(store, ran("t9", "ls"))
    store.past_work.work()
    assert told(store) == {"ls"}, "it was read, and is not read again"


def test_a_new_session_is_told_how_the_project_is_tested(store: MemoryStore) -> None:
    asked = {"id": "u-1", "role": "user", "text": "fix the cart", "ts": "2026-03-01T09:29:00Z"}
    runs = [ran(f"t{number}", "pytest tests/unit -q") for number in range(3)]
    deliver(store, asked, *runs, project="/shop")
    deliver(store, asked, ran("o", "make deploy"), session_id="s2", project="/other")

    told = dispatch(store, "session_start_payload", {"project": "/shop", "session_id": "new"})

    assert "pytest tests/unit -q" in str(told["text"])
    assert "make deploy" not in str(told["text"])


def test_how_tells_no_command_that_a_person_refused_unless_refusals_are_asked_for(
    store: MemoryStore,
) -> None:
    refused = event("command", "c1", command="make flock", exit=None, rejected=True)
    deliver(store, refused, ran("c2", "make heron"))

    def how(question: str) -> list[object]:
        answers = store.work_answers.how(question, Scope(), 5)
        return [one["command"] for one in answers]

    assert how("make") == ["make heron"]
    assert how("which flock was refused?") == ["make flock"]


def test_a_command_that_a_fork_repeats_stays_with_it(store: MemoryStore) -> None:
    # An id as long as hosts make them is the same call in whatever session it stands.
    deploy, own = ran("toolu_01HhwMx5SXcsJv96qa9TXrxu", "make deploy"), ran("t2", "make own")
    deliver(store, deploy, own)
    deliver(store, deploy, session_id="fork")

    would = ask(store, "memory_forget", session_id="s1", dry_run=True, show=5)
    assert [one["sample"] for one in would["records"]] == ["make own"]
    assert ask(store, "memory_forget", session_id="s1")["work"] == 1
    deliver(store, deploy)

    assert [text_of(one.done) for one in kept(store)] == ["make deploy"]
    assert store.works.keys(Scope(session_id="s1")) == []
    assert ask(store, "memory_forget", session_id="fork")["work"] == 1
    assert kept(store) == []


ASKED = {"id": "u-1", "role": "user", "text": "ship it", "ts": "2026-03-01T09:29:00Z"}


def commands(store: MemoryStore, **params: object) -> list[object]:
    found = dispatch(store, "how", params)["commands"]
    assert isinstance(found, list)
    return [one["command"] for one in found]


def test_how_answers_from_the_callers_project_unless_all_are_asked_for(store: MemoryStore) -> None:
    deliver(store, ASKED, ran("a", "bun run e2e tests"), project="/shop")
    other = [ran(f"b{n}", f"npx playwright run e2e tests {n}") for n in range(5)]
    deliver(store, ASKED, *other, session_id="s2", project="/other")

    assert commands(store, query="run the e2e tests", cwd="/shop") == ["bun run e2e tests"]
    everywhere = dispatch(
        store, "how", {"query": "run the e2e tests", "cwd": "/shop", "project": "*"}
    )
    found = everywhere["commands"]
    assert isinstance(found, list)
    assert {one["project"] for one in found} == {"/shop", "/other"}
    assert commands(store, query="run the e2e tests", cwd="/nowhere") == []


def test_variants_of_one_command_are_one_answer_with_all_its_uses(store: MemoryStore) -> None:
    made = [ran(f"p{n}", f"gh pr create --title 'Part {n}' --body 'Does {n}'") for n in range(8)]
    noise = [ran(f"n{n}", f"git log --grep 'create pull request {n}'") for n in range(8)]
    deliver(store, ASKED, *made, *noise, project="/shop")

    first = ask(store, "how", query="create pr", cwd="/shop")["commands"][0]
    assert str(first["command"]).startswith("gh pr create")
    assert first["uses"] == 8


def test_wordings_find_a_command_that_shares_no_word_with_the_question(store: MemoryStore) -> None:
    deliver(store, ASKED, ran("a", "gh pr create --fill"), ran("b", "make lint"), project="/shop")
    found = commands(
        store, query="propose my work upstream", wordings=["gh pr create"], cwd="/shop"
    )
    assert found == ["gh pr create --fill"]


def test_an_error_is_matched_by_its_exact_parts_or_not_at_all(store: MemoryStore) -> None:
    def failing(mark: str, session: str, error: str) -> None:
        tried = "node server.js"
        events = [
            ran(f"{mark}1", tried, 1, error),
            ran(f"{mark}l", "git log --oneline"),
            ran(f"{mark}2", f"make fix-{mark}"),
            ran(f"{mark}3", tried),
        ]
        deliver(store, ASKED, *events, session_id=session, project="/shop")

    failing("json", "s1", "Error: JSONDecodeError: connect refused to parse 5432 value")
    question = {"error": "Error: connect ECONNREFUSED 127.0.0.1:5432", "cwd": "/shop"}
    assert dispatch(store, "fix", question) == {"mendings": []}
    failing("db", "s2", "Error: connect ECONNREFUSED 127.0.0.1:5432")
    (fixed,) = ask(store, "fix", **question)["mendings"]
    assert fixed["mended_by"] == "make fix-db"


def test_blame_shows_edits_of_worktrees_and_whole_paths(store: MemoryStore) -> None:
    paths = ("src/a.py", "/shop/src/a.py", ".claude/worktrees/fix/src/a.py", "lib/src/a.py")
    edits = [event("edit", f"e{n}", path=path) for n, path in enumerate(paths)]
    deliver(store, ASKED, *edits, project="/shop")
    found = dispatch(store, "blame", {"path": "src/a.py", "cwd": "/shop"})["edits"]
    assert isinstance(found, list)
    assert len(found) == 3


def test_a_command_that_ran_in_another_repository_belongs_to_that(
    store: MemoryStore, tmp_path: Path
) -> None:
    shop, till, notes = (tmp_path / name for name in ("shop", "till", "notes"))
    for repository in (shop, till):
        (repository / ".git").mkdir(parents=True)
    notes.mkdir()
    gone = "/Users/bob/code/gone"
    places = {
        "make here": f"{shop}/src",
        "make there": f"{till}/src",
        "make notes": str(notes),
        "make gone": gone,
        "make temporary": "/tmp",
    }
    ran_in = [
        event("command", command, command=command, exit=0, cwd=place)
        for command, place in places.items()
    ]

    deliver(store, ASKED, *ran_in, cwd=str(shop))

    assert {one.done.command: one.provenance.project for one in kept(store) if isinstance(one.done, Command)} == {
        "make here": str(shop),
        "make there": str(till),
        "make notes": str(shop),
        "make gone": gone,
        "make temporary": str(shop),
    }  # fmt: skip
    assert commands(store, query="make", cwd=str(till)) == ["make there"]


def test_a_command_in_a_directory_that_is_kept_out_is_not_stored(
    store: MemoryStore, tmp_path: Path
) -> None:
    shop, secret = tmp_path / "shop", tmp_path / "secret"
    for repository in (shop, secret):
        (repository / ".git").mkdir(parents=True)
    (secret / ".iai-ignore").touch()
    ran_there = event("command", "c1", command="make", exit=0, cwd=str(secret))

    deliver(store, ASKED, ran_there, cwd=str(shop))

    assert kept(store) == []


def test_work_questions_have_one_entry_that_answers_as_text(store: MemoryStore) -> None:
    deliver(store, ASKED, ran("a", "make release"), project="/shop")
    text = dispatch(
        store, "memory_work", {"ask": "how", "query": "release", "cwd": "/shop", "format": "text"}
    )["text"]
    assert str(text).startswith("[")
    assert "$ make release" in str(text)
    with pytest.raises(InvalidInput, match="how, fix, blame, changed"):
        dispatch(store, "memory_work", {"ask": "why"})
    with pytest.raises(InvalidInput, match="at most 6"):
        dispatch(store, "memory_work", {"ask": "how", "query": "x", "wordings": ["y"] * 7})
