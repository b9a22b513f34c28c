"""The work of `iai-mcp import`: files in, batches out, and a note of what is done.

Turns carry the identity that hooks give them, so importing twice, or importing what was captured
live, adds nothing. The note of finished files only saves time. What `iai-mcp export` wrote is taken
in as it is, each memory under the id it had.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field

from iai_mcp import paths
from iai_mcp.domain.errors import InvalidInput, IoFailed
from iai_mcp.domain.history_language import LETTERS, SAMPLE
from iai_mcp.domain.instants import instant
from iai_mcp.hosts import find
from iai_mcp.hosts.histories import History
from iai_mcp.hosts.reader import Reading, name_of
from iai_mcp.hosts.transcripts import open_transcript
from iai_mcp.memory.transfer import FORMAT

Event = dict[str, object]
Call = Callable[[str, dict[str, object]], dict[str, object]]

BATCH_TURNS = 400
BATCH_LETTERS = 2 * 1024 * 1024

_EXPORT_BATCH = 500
_EXPORT_BATCH_LETTERS = 4 * 1024 * 1024
_LONGEST_HEADER = 4096


@dataclass(slots=True)
class Counts:
    """What became of one host's turns; the commands and edits among them are `work`."""

    files: int = 0
    unchanged: int = 0
    turns: int = 0
    work: int = 0
    inserted: int = 0
    duplicates: int = 0
    skipped: int = 0
    errors: int = 0

    @property
    def said(self) -> str:
        return f"{self.turns - self.work:,} turns"

    def __str__(self) -> str:
        return f"{self.said} and {self.work:,} commands and edits" if self.work else self.said


@dataclass(slots=True)
class Imported:
    """The whole result."""

    hosts: dict[str, Counts] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    sample: list[str] = field(default_factory=list)  # of what people said
    directories: dict[str, set[str]] = field(default_factory=dict)  # with their branches

    def of(self, host: str) -> Counts:
        return self.hosts.setdefault(host, Counts())

    def total(self) -> Counts:
        names = Counts.__slots__
        return Counts(*(sum(getattr(one, n) for one in self.hosts.values()) for n in names))


@dataclass(slots=True)
class Import:
    """Imports histories one after the other. Without `call` it only counts."""

    call: Call | None
    since: int | None = None  # microseconds
    progress: Callable[[History, Counts], None] = lambda *_: None
    result: Imported = field(default_factory=Imported)

    def __call__(self, histories: Iterable[History], done: "Done") -> Imported:
        for history in histories:
            counts = self.result.of(history.host)
            if self.since is not None and history.modified * 1e6 < self.since:
                continue
            counts.files += 1
            if done.knows(history):
                counts.unchanged += 1
            else:
                left_out = counts.errors + counts.skipped
                self._file(history, counts)
                # What was kept out this time may be welcome the next.
                if self.since is None and counts.errors + counts.skipped == left_out:
                    done.add(history)
            self.progress(history, counts)
        return self.result

    def _file(self, history: History, counts: Counts) -> None:
        reading = open_transcript(history.path, history.host)
        for session, events in _batches(self._wanted(reading, history)):
            counts.turns += len(events)
            counts.work += sum(event["role"] == "tool" for event in events)
            if self.call is not None:
                self._store(reading, session, events, counts)
            self.progress(history, counts)
        if reading.problem:
            self.result.problems.append(reading.problem)
            counts.errors += 1

    def _wanted(self, reading: Reading, history: History) -> Iterator[tuple[str, Event]]:
        for event in reading:
            if self._recent(event, history):
                own = event.pop("session_id", None)
                session = own or reading.session_id or name_of(history.path)
                self._learn(event, reading.cwd)
                yield str(session), event

    def _learn(self, event: Event, cwd: str | None) -> None:
        """What the history tells about itself: in which language it is, and about which places."""
        if event["role"] == "user" and len(self.result.sample) < SAMPLE:
            self.result.sample.append(str(event["text"])[:LETTERS])
        place = event.get("cwd") or cwd
        if isinstance(place, str) and "repository" not in event:
            branches = self.result.directories.setdefault(place, set())
            branches.add(str(event.get("branch") or ""))

    def _recent(self, event: Event, history: History) -> bool:
        if self.since is None:
            return True
        try:
            said = instant(event.get("ts")).micros
        except InvalidInput:
            said = int(history.modified * 1e6)
        return said >= self.since

    def _store(self, reading: Reading, session: str, events: list[Event], counts: Counts) -> None:
        assert self.call is not None  # noqa: S101 - asked before
        params: dict[str, object] = {"session_id": session, "host": reading.host, "events": events}
        if reading.cwd:
            params["cwd"] = reading.cwd
        elif _is_service(reading.host):
            params["project"] = reading.host  # its export knows no directory
        answer = self.call("capture_events", params)
        for name in ("inserted", "duplicates", "skipped", "errors"):
            value = answer.get(name)
            setattr(counts, name, getattr(counts, name) + (value if isinstance(value, int) else 0))


def _is_service(host: str) -> bool:
    known = find(host)
    return known is not None and known.is_service


def _batches(turns: Iterable[tuple[str, Event]]) -> Iterator[tuple[str, list[Event]]]:
    """Turns of one session together, in their order, as many as one call should carry."""
    batch: list[Event] = []
    current, letters = "", 0
    for session, event in turns:
        full = len(batch) >= BATCH_TURNS or letters >= BATCH_LETTERS
        if batch and (session != current or full):
            yield current, batch
            batch, letters = [], 0
        current = session
        batch.append(event)
        letters += len(str(event["text"]))
    if batch:
        yield current, batch


class Done:
    """The files that were imported whole, as they were then; in `<user data>/imported.json`."""

    def __init__(self, files: dict[str, object] | None = None) -> None:
        self._files = files or {}

    @classmethod
    def noted(cls, records: int) -> "Done":
        """The note of the store that holds `records`; with fewer than noted it is of another."""
        note = _read(_note_path())
        held, files = note.get("records"), note.get("files")
        if isinstance(held, int) and isinstance(files, dict) and records >= held:
            return cls({str(path): stamp for path, stamp in files.items()})
        return cls()

    def knows(self, history: History) -> bool:
        return self._files.get(history.path) == _stamp(history)

    def add(self, history: History) -> None:
        self._files[history.path] = _stamp(history)

    def keep(self, records: int) -> None:
        """Write the note down, with how many records the store holds now."""
        text = json.dumps({"version": 1, "records": records, "files": self._files})
        path = _note_path()
        fresh = f"{path}.{os.getpid()}"
        try:
            paths.private_dir(paths.user_data())
            descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.replace(fresh, path)
        except OSError as refused:
            raise IoFailed(f"{path} can not be written: {refused.strerror}") from refused


def as_json(result: Imported) -> dict[str, object]:
    return {
        **asdict(result.total()),
        "hosts": {host: asdict(counts) for host, counts in sorted(result.hosts.items())},
        "problems": result.problems,
    }


def _note_path() -> str:
    return paths.in_user_data("imported.json")


def _stamp(history: History) -> list[object]:
    return [history.size, int(history.modified * 1000)]


def _read(path: str) -> dict[str, object]:
    try:
        with open(path, encoding="utf-8") as file:
            noted = json.load(file)
    except (OSError, ValueError):
        return {}
    return noted if isinstance(noted, dict) else {}


def is_export(path: str) -> bool:
    """Whether the file begins as an export does."""
    try:
        with open(path, "rb") as file:
            return file.readline(_LONGEST_HEADER).startswith(b'{"iai-mcp-export"')
    except OSError:
        return False


def take_in(path: str, call: Call) -> dict[str, int]:
    """Store everything in the file; how much of it was new.

    Raises:
        InvalidInput: a line is damaged; what came before it is stored, and importing again is safe.
    """
    counts = {"inserted": 0, "duplicates": 0, "skipped": 0}
    with open(path, encoding="utf-8") as file:
        header = _parsed(file.readline(), 1, path)
        if int(str(header.get("iai-mcp-export"))) > FORMAT:
            raise InvalidInput(f"{path} was written by a newer iai-mcp: upgrade this one")
        for batch in _export_batches(enumerate(file, 2), path):
            done = call("import_records", {"records": batch, "salt": header.get("salt", "")})
            for name in counts:
                counts[name] += int(str(done[name]))
    return counts


def _parsed(line: str, number: int, path: str) -> dict[str, object]:
    try:
        value = json.loads(line)
    except ValueError as broken:
        raise InvalidInput(
            f"{path}, line {number}: not JSON; what came before it is stored"
        ) from broken
    if not isinstance(value, dict):
        raise InvalidInput(f"{path}, line {number}: not a record; what came before it is stored")
    return value


def _export_batches(
    lines: Iterable[tuple[int, str]], path: str
) -> Iterator[list[dict[str, object]]]:
    """The records, as many at a time as a call should carry; a long one stands alone."""
    batch: list[dict[str, object]] = []
    letters = 0
    for number, line in lines:
        if batch and (len(batch) == _EXPORT_BATCH or letters + len(line) > _EXPORT_BATCH_LETTERS):
            yield batch
            batch, letters = [], 0
        batch.append(_parsed(line, number, path))
        letters += len(line)
    if batch:
        yield batch
