"""What can be stored can be seen, exported, imported and forgotten, however large it is."""

import json
import os
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.answers import Json
from tests.support.daemon import DaemonProcess, until
from tests.support.home import ScratchHome

LINE = 16 * 1024 * 1024
WORDS = ("reed", "marsh", "water", "wing", "nest", "Straße", "鷺")
MANY, HALF_A_MEGABYTE, HUGE = 36, 500_000, 17_000_000
# What JSON makes longer: as text of a tool's answer it is quoted a second time.
UNWIELDY = '"\\\x01\n😀' * 800_000


def long_text(number: int, size: int) -> str:
    """Few words and many signs: those are stored in no time."""
    words = " ".join(random.Random(number).choices(WORDS, k=200))
    return f"turn {number} about herons: {words}\n" + "~~~ " * (size // 4)


class Told:
    """A home with many turns of half a megabyte, one that no line can carry, and an unwieldy one."""

    def __init__(self, home: ScratchHome) -> None:
        self.home = home
        self.daemon = DaemonProcess(home).start()
        self.texts = {f"m{n}": long_text(n, HALF_A_MEGABYTE) for n in range(MANY)}
        for name, text in self.texts.items():
            self.daemon.call("capture_events", session_id="many", events=[event(name, text)])
        self.texts["huge"] = long_text(99, HUGE) + "the last heron left in october"
        self.texts["unwieldy"] = "herons: " + UNWIELDY
        self.spool("huge")
        self.spool("unwieldy")

    def spool(self, name: str) -> None:
        directory = self.home.store / ".deferred-captures"
        directory.mkdir(mode=0o700, exist_ok=True)
        before = self.daemon.ask({"type": "status"})["records"]
        header = {"version": 1, "session_id": name, "deferred_at": "2026-01-01T00:00:00Z"}
        hidden = directory / f".{name}.tmp"
        lines = [json.dumps(header), json.dumps(event(name, self.texts[name]))]
        hidden.write_text("\n".join(lines) + "\n")
        hidden.rename(directory / f"{name}-1.jsonl")
        until(lambda: self.daemon.ask({"type": "status"})["records"] > before, "it is stored", 60)


def event(name: str, text: str) -> dict[str, str]:
    return {"id": name, "text": text, "role": "user"}


def in_pages(daemon: DaemonProcess, **params: object) -> list[Json]:
    """All of a timeline, oldest first."""
    page = daemon.call("memory_timeline", limit=100, **params)
    records: list[Json] = page["records"]
    while page.get("more"):
        page = daemon.call("memory_timeline", limit=100, cursor=page["more"], **params)
        assert page["records"]
        records = page["records"] + records
    return records


def is_cut_from(shown: Json, text: str) -> bool:
    return all(piece in text for piece in shown["text"].split(" … ") if piece)


@pytest.fixture(scope="module")
def told() -> Iterator[Told]:
    home = ScratchHome()
    made = Told(home)
    yield made
    made.daemon.stop()
    home.remove()


@pytest.fixture
def other() -> Iterator[ScratchHome]:
    made = ScratchHome()
    yield made
    made.remove()


def exported(path: Path) -> list[str]:
    lines = path.read_text("utf-8").split("\n")
    assert lines[-1] == ""
    return [json.loads(line)["text"] for line in lines[1:-1]]


def test_a_timeline_comes_in_pages_that_a_line_can_carry(told: Told) -> None:
    records = in_pages(told.daemon)
    assert len(records) == len(told.texts)
    whole = [record["text"] for record in records if not record.get("excerpt")]
    assert whole == [told.texts[f"m{n}"] for n in range(MANY)]
    for name in ("huge", "unwieldy"):
        (cut,) = [record for record in records if record["session_id"] == name]
        assert cut["excerpt"] is True
        assert cut["characters"] == len(told.texts[name])
        assert is_cut_from(cut, told.texts[name])


def test_a_page_of_the_timeline_goes_on_where_the_last_one_ended(told: Told) -> None:
    newest = told.daemon.call("memory_timeline", limit=3, session_id="many")
    assert [r["text"] for r in newest["records"]] == [told.texts[f"m{n}"] for n in (33, 34, 35)]
    assert "more" not in newest
    page = told.daemon.call("memory_timeline", limit=100, session_id="many")
    assert page["records"][-1]["text"] == told.texts["m35"]
    before = told.daemon.call("memory_timeline", limit=1, session_id="many", cursor=page["more"])
    number = MANY - len(page["records"]) - 1
    assert [r["text"] for r in before["records"]] == [told.texts[f"m{number}"]]
    refused = told.daemon.rpc("memory_timeline", cursor="nonsense")["error"]
    assert refused["code"] == -32602


def test_the_timeline_command_shows_them_all(told: Told) -> None:
    shown = told.home.command("timeline", "--all", "-n", "100", "--json")
    assert shown.returncode == 0, shown.stdout
    assert len(json.loads(shown.stdout)["records"]) == len(told.texts)
    shown = told.home.command("timeline", "--session-id", "huge")
    assert shown.returncode == 0, shown.stderr
    assert f"{len(told.texts['huge']):,} characters" in shown.stdout
    assert "iai-mcp show" in shown.stdout


@pytest.mark.parametrize("name", ["huge", "unwieldy"])
def test_a_recall_shows_verbatim_pieces_of_what_no_line_can_carry(told: Told, name: str) -> None:
    found = told.daemon.call("memory_recall", cue="the last heron in october", session_id=name)
    (hit,) = found["hits"]
    assert hit["excerpt"] is True
    assert is_cut_from(hit, told.texts[name])
    shown = told.home.command("recall", "herons", "--session-id", name)
    assert shown.returncode == 0, shown.stderr
    assert re.search(r"^\[[0-9a-f]{8}\] ", shown.stdout, re.MULTILINE), "an id opens it"


def test_the_largest_budget_is_answered_too(told: Told) -> None:
    found = told.daemon.call(
        "memory_recall", cue="herons in the marsh", budget_tokens=1_000_000, k=100, context=20
    )
    assert found["hits"]


@pytest.mark.parametrize("version", ["2025-03-26", "2025-06-18"])
@pytest.mark.parametrize(
    ("tool", "arguments", "key"),
    [
        ("memory_recall", {"cue": "herons", "session_id": "unwieldy"}, "hits"),
        ("memory_recall", {"cue": "herons", "budget_tokens": 1_000_000, "k": 100}, "hits"),
        ("memory_timeline", {"limit": 100}, "records"),
    ],
)
def test_agents_get_an_answer_over_mcp(
    told: Told, version: str, tool: str, arguments: Json, key: str
) -> None:
    client = {"name": "t", "version": "1"}
    opening = {"protocolVersion": version, "capabilities": {}, "clientInfo": client}
    with told.daemon.line() as line:
        line.ask({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": opening})
        line.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        params = {"name": tool, "arguments": {**arguments, "format": "json"}}
        answer = line.ask({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params})
    assert "result" in answer, answer["error"]
    result = answer["result"]
    content = result.get("structuredContent") or json.loads(result["content"][0]["text"])
    assert content[key]


@pytest.mark.parametrize("name", ["huge", "unwieldy", "m7"])
def test_the_whole_record_can_be_seen(told: Told, name: str) -> None:
    session = name if name in ("huge", "unwieldy") else "many"
    (identity,) = [
        record["id"]
        for record in in_pages(told.daemon, session_id=session)
        if record["text"][:20] == told.texts[name][:20]
    ]
    pieces: list[str] = []
    offset: int | None = 0
    while offset is not None:
        shown = told.daemon.call("memory_show", id=identity, offset=offset)["record"]
        pieces.append(shown["text"])
        assert shown["characters"] == len(told.texts[name])
        offset = shown.get("next")
    assert "".join(pieces) == told.texts[name]
    assert (len(pieces) == 1) == (name == "m7")
    seen = told.home.command("show", identity, "--json", timeout=120)
    assert json.loads(seen.stdout)["record"]["text"] == told.texts[name]


def test_a_record_is_shown_with_the_turns_around_it(told: Told) -> None:
    records = in_pages(told.daemon, session_id="many")
    shown = told.daemon.call("memory_show", id=records[5]["id"], around=2)
    assert [turn["id"] for turn in shown["before"]] == [r["id"] for r in records[3:5]]
    assert [turn["id"] for turn in shown["after"]] == [r["id"] for r in records[6:8]]
    unknown = told.daemon.rpc("memory_show", id="00000000-0000-0000-0000-000000000000")["error"]
    assert unknown["data"]["code"] == "NOT_FOUND"


def test_an_export_holds_everything(told: Told, tmp_path: Path) -> None:
    path = tmp_path / "all.jsonl"
    done = told.home.command("export", str(path), "--json")
    assert done.returncode == 0, done.stdout
    assert exported(path) == list(told.texts.values())


def test_a_call_that_no_line_can_carry_goes_through_the_spool(told: Told) -> None:
    text = "a heron of one's own: " + "marsh " * 3_000_000
    stored = told.home.command("capture", "-", "--session-id", "by-hand", "--json", stdin=text)
    assert json.loads(stored.stdout)["status"] == "inserted", stored.stdout
    assert not list((told.home.store / ".deferred-captures").glob(".*"))
    gone = told.home.command("forget", "--session-id", "by-hand", "--yes", "--json")
    assert json.loads(gone.stdout)["forgotten"] == 1


@pytest.mark.parametrize(
    "name", ["../key.json", "/etc/passwd", ".large-00.tmp", ".large-aa.tmp", ".large-bb.tmp", ""]
)
def test_only_what_a_caller_spooled_is_read_as_a_call(told: Told, name: str) -> None:
    spool = told.home.store / ".deferred-captures"
    link, pipe = spool / ".large-aa.tmp", spool / ".large-bb.tmp"
    link.symlink_to(told.home.store / "key.json")
    os.mkfifo(pipe)
    try:
        params = {"method": "memory_capture", "file": name}
        call = {"jsonrpc": "2.0", "id": 1, "method": "call_spooled", "params": params}
        assert told.daemon.ask(call)["error"]["code"] == -32602
    finally:
        link.unlink()
        pipe.unlink()


def test_forgetting_shows_the_beginning_of_what_would_go(told: Told) -> None:
    dry = told.home.command("forget", "--query", "herons", "--dry-run", "--json")
    assert dry.returncode == 0, dry.stdout
    seen = json.loads(dry.stdout)
    assert len(seen["ids"]) == seen["matches"] == len(told.texts)
    for shown in seen["records"]:
        assert any(is_cut_from(shown, text) for text in told.texts.values())


def test_an_export_of_what_is_large_comes_in_again_and_can_be_forgotten(
    told: Told, other: ScratchHome, tmp_path: Path
) -> None:
    path = tmp_path / "some.jsonl"
    told.home.command("export", str(path))
    header, *lines = path.read_text("utf-8").split("\n")
    path.write_text("\n".join([header, *lines[:2], *lines[-3:-1]]) + "\n", "utf-8")
    daemon = DaemonProcess(other).start()
    try:
        taken = other.command("import", str(path), "--json")
        assert taken.returncode == 0, taken.stdout
        assert json.loads(taken.stdout)["inserted"] == 4
        assert not list((other.store / ".deferred-captures").glob(".*"))
        for arguments in (["--session-id", "huge"], ["--query", "\x01"], ["--query", "herons"]):
            dry = other.command("forget", *arguments, "--dry-run")
            assert dry.returncode == 0, dry.stderr
            done = other.command("forget", *arguments, "--yes", "--json")
            assert json.loads(done.stdout)["forgotten"] >= 1, done.stdout
        assert daemon.ask({"type": "status"})["records"] == 0
    finally:
        daemon.stop()
