"""One file of the spool as the daemon sees it: its header, its turns, and what is wrong with it."""

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from iai_mcp.adapters.bounded_stat import look_at
from iai_mcp.capture import consent
from iai_mcp.capture.spool import VERSION
from iai_mcp.capture.turn_preparation import Preparation
from iai_mcp.hosts.reader import LONGEST_LINE, StoppedError, rest_of_line
from iai_mcp.hosts.transcripts import open_transcript
from iai_mcp.hosts.turns import Event, Record, count_occurrence
from iai_mcp.protocol import long_json
from iai_mcp.protocol.compact_json import scan

BATCH_TURNS = 200
BATCH_BYTES = 4 * 1024 * 1024
_PIECE = 64 * 1024


class UnreadableError(Exception):
    """The file is no spool file of a version that is understood; `args[0]` says why."""


@dataclass(slots=True)
class SpooledFile:
    """Reads a spool file in batches, each of one session, never all of it at once.

    `damage` collects what could not be read: the rest of the file is good all the same.
    """

    path: Path
    stop: Callable[[], bool] = lambda: False  # asked while something huge is read
    damage: list[str] = field(default_factory=list)

    def batches(self) -> Iterator[tuple[Record, list[Event]]]:
        """(header for these turns, turns), in the file's order.

        Raises:
            UnreadableError: there is no header, or one that is not understood.
            StoppedError: `stop` says so; what was not read yet is still there.
            OSError: the file can not be opened.
            PlaceSilent: what is to be read lies where nobody answers.
        """
        # A pipe would be waited for for ever, and a link leads to what no hook has put here.
        if not stat.S_ISREG(self.path.lstat().st_mode):
            raise UnreadableError("it is not a regular file")
        with self.path.open("rb") as file:
            lines = self._lines(file)
            header = _header(next(lines, b""))
            unread, agent = header.pop("unread", None), header.pop("agent", None)
            yield from _in_batches(header, self._turns(lines))
        for rest in unread if isinstance(unread, list) else ():
            yield from _in_batches(header, self._turns_of_transcript(rest, agent))

    def _lines(self, file: BinaryIO) -> Iterator[bytes]:
        """Each line; one that is too long to be held comes empty, with a word about it in `damage`."""
        number = 0
        whole: bytes | None
        while line := file.readline(_PIECE):
            number += 1
            whole, length = line, len(line)
            if length == _PIECE or line.startswith(b"\0"):
                whole, length, _ = rest_of_line(line, file, self.stop)
            if whole is None:
                self.damage.append(f"line {number} is too long: {length} bytes of {LONGEST_LINE}")
            elif length > len(whole):
                hole = length - len(whole)
                self.damage.append(f"line {number} begins with {hole} bytes that are nothing")
            yield whole or b""

    def _turns(self, lines: Iterator[bytes]) -> Iterator[tuple[Event, int]]:
        seen: dict[str, int] = {}
        for number, line in enumerate(lines, start=2):
            if not line.strip():
                continue
            event = _object(line)
            if event is None or not isinstance(event.get("text"), str):
                self.damage.append(f"line {number} is not a turn")
                continue
            if "id" not in event and "occurrence" not in event:
                event["occurrence"] = count_occurrence(seen, {"role": "user"} | event)
            yield event, len(line)

    def _turns_of_transcript(self, rest: object, agent: object) -> Iterator[tuple[Event, int]]:
        """What the hook had no time to read: from where it stopped."""
        path = rest.get("path") if isinstance(rest, dict) else None
        if not isinstance(rest, dict) or not isinstance(path, str):
            self.damage.append("a transcript is named without its path")
            return
        look_at(path, lambda: os.path.exists(path))  # whether anybody answers there
        start, carry, host = rest.get("start"), rest.get("carry"), rest.get("host")
        reading = open_transcript(
            path,
            host if isinstance(host, str) else None,
            start=start if isinstance(start, int) else 0,
            carry=carry if isinstance(carry, dict) else None,
        )
        prepare = Preparation(path, reading.host, agent if isinstance(agent, dict) else {})
        consented = consent.Turns()
        for raw in reading:
            if self.stop():
                raise StoppedError
            if consented.is_wanted(raw, str(raw.get("cwd") or "")):
                event = prepare(raw)
                yield event, len(str(event["text"]))
        if reading.problem:
            self.damage.append(reading.problem)


def _header(line: bytes) -> Record:
    header = _object(line)
    if header is None:
        raise UnreadableError("the first line is not a header")
    if header.get("version") != VERSION:
        raise UnreadableError(
            f"version {header.get('version')!r} is not understood: a newer iai-mcp wrote it?"
        )
    if not isinstance(header.get("session_id"), str):
        raise UnreadableError("the header names no session")
    return header


def _in_batches(
    header: Record, turns: Iterator[tuple[Event, int]]
) -> Iterator[tuple[Record, list[Event]]]:
    batch: list[Event] = []
    size = 0
    session: object = header["session_id"]
    for event, length in turns:
        own = event.pop("session_id", None) or header["session_id"]
        full = len(batch) >= BATCH_TURNS or size + length > BATCH_BYTES
        if batch and (full or own != session):
            yield header | {"session_id": session}, batch
            batch, size = [], 0
        session = own
        batch.append(event)
        size += length
    if batch:
        yield header | {"session_id": session}, batch


def _object(line: bytes) -> Record | None:
    try:
        value = long_json.load(line.decode("utf-8", "replace"), scan)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
