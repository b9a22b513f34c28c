"""Takes what happened to agents and sessions from their own journal into the memory's.

Agents and sessions never wait for the memory daemon: they append lines to
`<user data>/agent-events.jsonl`, whoever runs. This reads on from where it left off, in one
transaction with the place it has come to, so that every line arrives once, also after a crash.
"""

import json
import logging
import os
import zlib
from pathlib import Path
from threading import Lock
from typing import BinaryIO

from iai_mcp.domain.errors import IaiError
from iai_mcp.ports.journal import Event, Journal

_log = logging.getLogger(__name__)

NAME = "agent-events.jsonl"
_PLACE = "agent_news"  # the setting that says how far we have read: in which file, and where
_BEGINNING = 256  # bytes that tell one journal from another; inodes are used again at once
_AT_ONCE = 262_144  # bytes per transaction: about two thousand events
_LATEST_MS = 250_000_000_000_000  # a time that can still be shown


class AgentNews:
    """The way from the agents' journal into the memory's. Safe from any thread."""

    def __init__(self, directory: Path, journal: Journal) -> None:
        self._path = directory / NAME
        self._journal = journal
        self._turnstile = Lock()
        self._seen: tuple[int, int, int] | None = None

    def waiting(self) -> bool:
        """Whether there may be something new; costs one system call."""
        return self._standing() != self._seen

    def gather(self) -> int:
        """Take in what is new; how many events that were.

        What can not be read or written now is there the next time.
        """
        with self._turnstile:
            standing = self._standing()
            if standing == self._seen:
                return 0
            try:
                taken = self._take()
            except (OSError, IaiError) as refused:
                _log.warning("agent_news_wait", extra={"reason": type(refused).__name__})
                return 0
            self._seen = standing
            return taken

    def _standing(self) -> tuple[int, int, int] | None:
        try:
            found = os.stat(self._path)
        except OSError:
            return None
        return found.st_ino, found.st_size, found.st_mtime_ns

    def _take(self) -> int:
        mark, offset = self._place()
        now, before = _opened(self._path), _opened(Path(f"{self._path}.old"))
        parts: list[tuple[BinaryIO | None, int]]
        if _is(now, mark, offset):
            parts = [(now, offset)]
        elif _is(before, mark, offset):
            # The journal grew too long and was moved aside: first the rest of that one.
            parts = [(before, offset), (now, 0)]
        else:
            parts = [(before, 0), (now, 0)]
        try:
            return sum(self._take_from(file, start) for file, start in parts if file is not None)
        finally:
            for file in (now, before):
                if file is not None:
                    file.close()

    def _take_from(self, file: BinaryIO, offset: int) -> int:
        taken = 0
        file.seek(offset)
        while text := _whole_lines(file.read(_AT_ONCE)):
            offset += len(text)
            events = [event for line in text.splitlines() if (event := _parsed(line))]
            self._journal.record_events(events, _PLACE, f"{_mark(file, offset)} {offset}")
            taken += len(events)
            file.seek(offset)
        return taken

    def _place(self) -> tuple[int, int]:
        mark, _, offset = (self._journal.setting(_PLACE) or "0 0").partition(" ")
        return (int(mark), int(offset)) if mark.isdigit() and offset.isdigit() else (0, 0)


def _opened(path: Path) -> BinaryIO | None:
    try:
        return path.open("rb")
    except FileNotFoundError:
        return None


def _is(file: BinaryIO | None, mark: int, offset: int) -> bool:
    """Whether this is the file whose beginning we have read."""
    return file is not None and offset > 0 and _mark(file, offset) == mark


def _mark(file: BinaryIO, offset: int) -> int:
    """What the beginning of a file is known by, once `offset` bytes of it were read."""
    file.seek(0)
    beginning = file.read(min(offset, _BEGINNING))
    return zlib.crc32(beginning) if os.fstat(file.fileno()).st_size >= offset else -1


def _whole_lines(text: bytes) -> bytes:
    """Without the line that is just being written; a line too long to be one of ours is passed."""
    end = text.rfind(b"\n") + 1
    return text[:end] if end or len(text) < _AT_ONCE else text


def _parsed(line: bytes) -> Event | None:
    try:
        fields = json.loads(line)
        json.dumps(fields, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return None  # the end of a line that a full disk cut off, or nothing that can be kept
    if not isinstance(fields, dict):
        return None
    kind, at = fields.pop("event", None), fields.pop("ts_ms", None)
    if not isinstance(kind, str) or not isinstance(at, int) or not 0 <= at < _LATEST_MS:
        return None
    return Event(kind, fields, at * 1000)
