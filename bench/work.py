"""Remembered work on real coding sessions: what is found, what is told, what it costs.

    python -m bench work PATH      a directory with questions.json and transcripts/ of Claude Code

What is right is read from the raw transcripts by other means than memory's own.
"""

import json
import re
import subprocess
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from bench.report import Row, percentile, show
from bench.scratch import scratch
from iai_mcp.core import dispatch
from iai_mcp.domain.commands import same_command
from iai_mcp.hosts.transcripts import open_transcript
from iai_mcp.ports.embedder import Matrix
from iai_mcp.store import MemoryStore

METHOD = (
    "Every session captured as its hooks would, into a store of its own. Commands: the questions of the set,\n"
    "and what agents said a command was for, of a run that memory never saw, where it saw others of the same\n"
    "command. fix: what a failed command printed, with other line numbers. blame: every file that was edited,\n"
    "with its requests. After a failure: sessions in their order, each failure asked before its session is\n"
    "known; false is where the error that is quoted was not printed now. grep: the files' lines that hold most\n"
    "of the words. Growth: both stores with vectors of 384 dimensions."
)
_WORDS = re.compile(r"[A-Za-z][\w.-]{2,}")
_COMMON = frozenset(["the", "and", "was", "were", "did", "does", "for", "with", "that", "this", "what", "which", "how", "who", "from", "into", "out", "not", "has", "have", "had", "one", "our", "its", "all", "any", "are", "you", "can"])  # fmt: skip


@dataclass(slots=True)
class Call:
    """A tool call as it stands in a transcript."""

    id: str
    name: str
    given: dict[str, object]
    request: str
    ts: str
    output: str = ""
    failed: bool = False
    changed: str = ""


@dataclass(slots=True)
class Session:
    path: Path
    developer: str = "?"
    cwd: str = ""
    began: str = ""
    calls: list[Call] = field(default_factory=list)


def main(arguments: list[str]) -> int:
    if len(arguments) != 1 or not (Path(arguments[0]) / "questions.json").is_file():
        print(
            "usage: python -m bench work PATH   (a directory with questions.json and transcripts/)"
        )
        return 2
    data = Path(arguments[0])
    sessions = [_read(path) for path in sorted((data / "transcripts").glob("*.jsonl"))]
    sessions.sort(key=lambda one: one.began)
    asked = json.loads((data / "questions.json").read_text("utf-8")).get("work", [])
    rows = _growth(sessions)
    with _store(sessions) as store:
        rows += _questions(store, asked, sessions)
        rows += _fixes(store, sessions)
        rows += _blames(store, sessions)
    rows += _paraphrases(sessions)
    rows += _after_failures(sessions)
    return show("work", METHOD, rows)


def _read(path: Path) -> Session:
    """A session by the plainest reading of its lines."""
    session = Session(path)
    open_calls: dict[str, Call] = {}
    request = ""
    for line in path.open(encoding="utf-8", errors="replace"):
        try:
            record = json.loads(line)
        except ValueError:
            continue
        session.cwd = session.cwd or str(record.get("cwd") or "")
        session.began = session.began or str(record.get("timestamp") or "")
        message = record.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        if record.get("type") == "user" and not record.get("isMeta") and _is_said(content, record):
            request = str(record.get("uuid"))
        for block in content if isinstance(content, list) else ():
            if block.get("type") == "tool_use":
                call = Call(
                    block["id"], block["name"], block["input"], request, record["timestamp"]
                )
                open_calls[call.id] = call
            elif block.get("type") == "tool_result" and block.get("tool_use_id") in open_calls:
                call = open_calls[block["tool_use_id"]]
                call.request = call.request or request
                call.output, call.failed = _text(block.get("content")), bool(block.get("is_error"))
                more = record.get("toolUseResult")
                patched = isinstance(more, dict) and "structuredPatch" in more
                call.changed = str(more["filePath"]) if patched and not call.failed else ""
                session.calls.append(call)
                if "the user said:" in call.output and call.failed:
                    request = str(record.get("uuid"))
    parts = session.cwd.split("/")
    session.developer = parts[2] if len(parts) > 2 else "?"
    return session


def _is_said(content: object, record: dict[str, object]) -> bool:
    texts = [content] if isinstance(content, str) else []
    if isinstance(content, list):
        texts = [b.get("text", "") for b in content if b.get("type") == "text"]
    host = ("<command-", "<local-command", "<bash-", "<system-reminder", "Caveat:", "[Request", "This session is")  # fmt: skip
    said = [
        t for t in texts if isinstance(t, str) and t.strip() and not t.lstrip().startswith(host)
    ]
    return bool(said) and not record.get("isCompactSummary")


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))


@contextmanager
def _store(
    sessions: Sequence[Session], *, work: bool = True, without: frozenset[str] = frozenset()
) -> Iterator[MemoryStore]:
    with scratch() as home:
        opened = MemoryStore(home.path / "store", load_embedder=_Fake)
        for session in sessions:
            _capture(opened, session, work=work, without=without)
        yield opened
        opened.close()


def _capture(
    store: MemoryStore,
    session: Session,
    *,
    work: bool = True,
    without: frozenset[str] = frozenset(),
) -> None:
    reading = open_transcript(str(session.path), "claude-code")
    events = [
        event
        for event in reading
        if (work or event["role"] != "tool") and event.get("id") not in without
    ]
    for start in range(0, len(events), 400):
        dispatch(
            store,
            "capture_events",
            {
                "session_id": session.path.stem,
                "host": "claude-code",
                "cwd": reading.cwd or "",
                "events": events[start : start + 400],
            },
        )


class _Fake:
    """Vectors as large as the default model's, made of nothing."""

    model_id = "none"
    dimensions = 384

    def embed(self, texts: Sequence[str]) -> Matrix:
        return np.full((len(texts), self.dimensions), self.dimensions**-0.5, dtype=np.float32)

    def count_tokens(self, text: str) -> int:
        return len(text) // 4


def _growth(sessions: Sequence[Session]) -> list[Row]:
    sizes, seconds = [], []
    for work in (False, True):
        began = time.perf_counter()
        with _store(sessions, work=work) as store:
            seconds.append(time.perf_counter() - began)
            store.embedder.wait(10)
            while store.backlog.page():
                continue
            store.memories.purge()
            store.database.checkpoint()
            store.database.shrink()
            sizes.append(store.database.path.stat().st_size / 1e6)
    growth = sizes[1] / sizes[0]
    shown = f"{growth:.2f}x ({sizes[0]:.1f} to {sizes[1]:.1f} MB)"
    return [
        Row("growth of the store", shown, "<= 1.60x", growth <= 1.6),
        Row("capture of all sessions", f"{seconds[0]:.1f} s to {seconds[1]:.1f} s", "", None),
    ]


def _projects(store: MemoryStore, developer: str) -> list[str]:
    return [key for key in store.memories.projects() if f"/{developer}/" in key]


def _questions(
    store: MemoryStore, asked: Sequence[dict[str, str]], sessions: Sequence[Session]
) -> list[Row]:
    commands = [one for one in asked if one.get("tool") == "Bash" and not _is_refusal(one)]
    edits = [one for one in asked if one.get("gold_path")]
    took: list[float] = []
    first = third = 0
    for one in commands:
        began = time.perf_counter()
        found = [str(c["command"]) for c in _how(store, one["cue"], one["developer"], one["cwd"])]
        took.append((time.perf_counter() - began) * 1000)
        wanted = {same_command(gold) for gold in _equal_commands(one, sessions)}
        ranks = [same_command(command) in wanted for command in found]
        first, third = first + any(ranks[:1]), third + any(ranks[:3])
        if not any(ranks[:3]):
            print(f"  not among three: {one['id']} {one['cue']}")
    grepped, grep_ms = _grep(commands, sessions)
    total = len(commands)
    blamed = sum(_blamed(store, one) for one in edits)
    return [
        Row("commands of the questions, any@3", _share(third, total), ">= .90", third >= 0.9 * total),
        Row("  any@1", _share(first, total), "", None),
        Row("  grep, any@3", _share(grepped, total), "", None),
        Row("  time, median beside grep's", f"{percentile(took, 0.5):.0f} ms, {grep_ms:.0f} ms", "", None),
        Row("edits of the questions, by blame", _share(blamed, len(edits)), "all", blamed == len(edits)),
    ]  # fmt: skip


def _is_refusal(one: dict[str, str]) -> bool:
    """What the person said in place of a result is a turn, and found as one."""
    quote = one.get("result_quote", "")
    return (bool(quote) and "don't run" in quote) or "did not say" in quote


def _equal_commands(one: Mapping[str, object], sessions: Sequence[Session]) -> list[str]:
    also = one.get("also") or []
    ids = {one["tool_use_id"], *(other["tool_use_id"] for other in also)}  # type: ignore[attr-defined]
    return [str(c.given.get("command")) for s in sessions for c in s.calls if c.id in ids]


def _how(store: MemoryStore, cue: str, developer: str, cwd: str) -> list[dict[str, object]]:
    """As asked in the project; of what another developer did, nothing."""
    found = dispatch(store, "how", {"query": cue, "cwd": cwd, "limit": 40})["commands"]
    mine = set(_projects(store, developer))
    records = {one.id: one for one in store.works.find([str(c["id"]) for c in found])}  # type: ignore[attr-defined]
    return [c for c in found if records[str(c["id"])].provenance.project in mine]  # type: ignore[attr-defined]


def _blamed(store: MemoryStore, one: dict[str, str]) -> bool:
    edits = dispatch(store, "blame", {"path": one["gold_path"], "limit": 100})["edits"]
    return any(edit["session_id"] == one["session"] for edit in edits)  # type: ignore[attr-defined]


def _grep(asked: Sequence[dict[str, str]], sessions: Sequence[Session]) -> tuple[int, float]:
    """How many of the commands stand in the three lines with most of the words, and the time."""
    found, took = 0, []
    for one in asked:
        words = {w.lower() for w in _WORDS.findall(one["cue"])} - _COMMON
        files = [str(s.path) for s in sessions if s.developer == one["developer"]]
        began = time.perf_counter()
        lines = (
            subprocess.run(
                ["grep", "-h", "-i", "-F", "-e", "\n".join(words), "--", *files],
                capture_output=True,
                check=False,
            )
            .stdout.decode("utf-8", "replace")
            .split("\n")
        )
        best = sorted(lines, key=lambda line: -sum(w in line.lower() for w in words))[:3]
        took.append((time.perf_counter() - began) * 1000)
        gold = json.dumps(one["gold_command"], ensure_ascii=False)[1:-1]
        found += any(gold in line for line in best)
    return found, percentile(took, 0.5)


def _fixes(store: MemoryStore, sessions: Sequence[Session]) -> list[Row]:
    asked = found = 0
    took: list[float] = []
    for session in sessions:
        for error, paths in _mended(session):
            asked += 1
            began = time.perf_counter()
            told = dispatch(store, "fix", {"error": _moved(error), "cwd": session.cwd})["mendings"]
            took.append((time.perf_counter() - began) * 1000)
            words = "\n".join(str(one["mended_by"]) for one in told)  # type: ignore[attr-defined]
            found += any(path in words for path in paths)
    return [
        Row("fix, any@3", _share(found, asked), ">= .85", found >= 0.85 * asked),
        Row("  time, p95", f"{percentile(took, 0.95):.0f} ms", "", None),
    ]


def _mended(session: Session) -> Iterator[tuple[str, set[str]]]:
    """What failing commands printed, and the files that were edited before the very same one succeeded."""
    for place, call in enumerate(session.calls):
        if call.name != "Bash" or not call.failed or not call.output.startswith("Exit code"):
            continue
        edited: set[str] = set()
        for later in session.calls[place + 1 :]:
            if later.changed:
                edited.add(later.changed.removeprefix(session.cwd + "/"))
            if later.name == "Bash" and later.given.get("command") == call.given.get("command"):
                if not later.failed and edited:
                    yield call.output, edited
                break


def _moved(error: str) -> str:
    """The same error in a file that has grown since."""
    return re.sub(r"(?<=:)(\d+)(?=[: ])", lambda n: str(int(n[1]) + 7), error)


def _blames(store: MemoryStore, sessions: Sequence[Session]) -> list[Row]:
    truth: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for session in sessions:
        for call in session.calls:
            if call.changed:
                truth[call.changed].append((session.path.stem, call.request))
    exact = 0
    for path, edits in truth.items():
        told = dispatch(store, "blame", {"path": path, "limit": 1000})["edits"]
        records = store.works.find([str(one["id"]) for one in told])  # type: ignore[attr-defined]
        seen = sorted((one.provenance.session_id, _asked_in(store, one.turn)) for one in records)
        wanted = sorted((session, _asked(store, session, uuid)) for session, uuid in edits)
        exact += seen == wanted
        if seen != wanted:
            print(f"  blame differs: {path}: {len(seen)} told, {len(wanted)} done")
    return [
        Row("blame, files exactly as edited", _share(exact, len(truth)), "all", exact == len(truth))
    ]


def _asked_in(store: MemoryStore, turn: bytes | None) -> str:
    from uuid import UUID

    return (
        "" if turn is None else "".join(m.id for m in store.memories.find([str(UUID(bytes=turn))]))
    )


def _asked(store: MemoryStore, session: str, uuid: str) -> str:
    from uuid import UUID

    from iai_mcp.domain.memories import turn_identity

    salt = store.memories.salt
    names = (turn_identity(salt, "", uid=uuid), turn_identity(salt, session, turn_id=uuid))
    return "".join(m.id for m in store.memories.find([str(UUID(bytes=one)) for one in names])[:1])


def _paraphrases(sessions: Sequence[Session]) -> list[Row]:
    """What an agent called a command of which memory knows only other runs, called otherwise."""
    runs: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for session in sessions:
        for call in session.calls:
            note = call.given.get("description")
            if call.name == "Bash" and not call.failed and isinstance(note, str):
                key = session.developer, same_command(str(call.given.get("command")))
                runs[key].append((note, call.id))
    held: list[tuple[str, str, str, str]] = []
    for (developer, command), noted in runs.items():
        note, mark = noted[-1]
        if len(noted) > 1 and all(note.lower() != other.lower() for other, _ in noted[:-1]):
            held.append((developer, command, note, mark))
    cwds = {session.developer: session.cwd for session in sessions}
    found = 0
    with _store(sessions, without=frozenset(mark for *_, mark in held)) as store:
        for developer, command, note, _ in held:
            told = _how(store, note, developer, cwds[developer])[:3]
            found += any(same_command(str(one["command"])) == command for one in told)
    return [Row("commands by another name for them, any@3", _share(found, len(held)), "", None)]


def _after_failures(sessions: Sequence[Session]) -> list[Row]:
    failures = spoken = false = 0
    took: list[float] = []
    with _store([]) as store:
        for session in sessions:
            for call in session.calls:
                if call.name == "Bash" and call.failed and call.output.startswith("Exit code"):
                    failures += 1
                    printed = call.output.partition("\n")[2]
                    params = {"command": call.given.get("command"), "output": printed[-3000:]}
                    began = time.perf_counter()
                    said = str(
                        dispatch(
                            store,
                            "after_failure",
                            {**params, "cwd": session.cwd, "session_id": session.path.stem},
                        )["text"]
                    )
                    took.append((time.perf_counter() - began) * 1000)
                    spoken += bool(said)
                    false += bool(said) and not _was_printed(said, printed)
            _capture(store, session)
    share = false / max(failures, 1)
    return [
        Row("after a failure: spoken to", _share(spoken, failures), "", None),
        Row("  falsely", f"{share:.3f} ({false} of {failures})", "<= .02", share <= 0.02),
        Row("  time, p95", f"{percentile(took, 0.95):.0f} ms", "<= 60 ms", percentile(took, 0.95) <= 60),
    ]  # fmt: skip


def _was_printed(said: str, printed: str) -> bool:
    """Whether the quoted error stands in what was printed, numbers aside."""
    quoted = next((line.strip() for line in said.split("\n") if line.startswith("    ")), "")
    bare = re.sub(r"\d+", "#", quoted)
    return bare[:200] in re.sub(r"\d+", "#", printed)


def _share(some: int, total: int) -> str:
    return f"{some / total:.3f} ({some} of {total})" if total else "none"
