"""Reads one transcript: yields turns, counts damaged lines, never raises.

A `Reading` is iterated once. It counts skipped lines, and knows up to which byte everything was read
and what a later reading needs to continue from there.
"""

import os
import time
from errno import ENXIO
from stat import S_ISREG

from iai_mcp import regular_files
from iai_mcp.hosts.turns import Event, Record
from iai_mcp.protocol.compact_json import loads

TYPE_CHECKING = False  # see compact_json
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import BinaryIO

    from iai_mcp.hosts.work import Call

# Longer than any turn: a line beyond this is no conversation, and holding it could end the host.
LONGEST_LINE = 64 * 1024 * 1024
# Longer than any session, and than any export: beyond it somebody would read for ever.
_LONGEST_TRANSCRIPT = 16 * 1024 * 1024 * 1024
_LONGEST_DOCUMENT = 1024 * 1024 * 1024
_PIECE = 64 * 1024
# This much takes milliseconds: when more has passed, the machine stood still, not the reading.
ALWAYS_READ = 1024 * 1024
_ALWAYS_READ_OF_A_LINE = 4 * 1024 * 1024
_PADDING = b" \t\r\n\0"  # a crash can leave NULs where a line was to be written


class StoppedError(Exception):
    """No time is left for the rest of a long line."""


class NotATranscriptError(ValueError):
    """The file holds something else."""


class Reading:
    """The turns of one transcript, from `start` on.

    `carry` is what the parser knows so far (session, directory, words counted). It is plain JSON:
    keep it with `end`, give both to the next reading, and that goes on as if without a break.
    """

    __slots__ = (
        "_walk",
        "answer",
        "calls",
        "carry",
        "deadline",
        "end",
        "held",
        "host",
        "line",
        "path",
        "problem",
        "skipped",
        "start",
        "unfinished",
        "wanted",
    )

    def __init__(
        self,
        path: str,
        host: str,
        walk: "Callable[[Reading], Iterator[Event]]",
        *,
        start: int = 0,
        carry: Record | None = None,
        wanted: str | None = None,
    ) -> None:
        self.path = path
        self.host = host
        self.start = start
        self.end = start
        self.carry: Record = {} if carry is None else carry
        self.wanted = wanted  # the one session to read where a file holds many
        self.skipped = 0
        self.line = start  # where the line begins that is being read
        self.calls: dict[str, Call] = {}  # tool calls that wait for their results
        self.answer: Event | None = None  # the latest answer, while its usage may follow
        self.held: list[Event] = []  # turns whose role is not certain yet
        self.problem: str | None = None
        # Who has no time sets a moment (monotonic) to stop at; `end` and `carry` then say where.
        self.deadline: float | None = None
        self.unfinished = False
        self._walk = walk

    def __iter__(self) -> "Iterator[Event]":
        try:
            # A pipe or a device would keep us waiting for somebody who never writes.
            status = os.stat(self.path)
            if not S_ISREG(status.st_mode):
                self.problem = f"not a file: {self.path}"
                return
            if status.st_size > _LONGEST_TRANSCRIPT:
                self.problem = f"too long for a transcript: {self.path}"
                return
            yield from self._walk(self)
        except OSError as refused:
            self.problem = f"{refused.strerror or type(refused).__name__}: {self.path}"
        except ValueError:  # a path with a NUL, a document that is no JSON
            self.problem = f"not a transcript: {self.path}"
            self.skipped += 1

    @property
    def session_id(self) -> str | None:
        """The session that the transcript says it is, once its lines were read."""
        value = self.carry.get("session_id")
        return value if isinstance(value, str) else None

    @property
    def cwd(self) -> str | None:
        value = self.carry.get("cwd")
        return value if isinstance(value, str) else None

    def has_no_time(self) -> bool:
        """Whether the moment has come to stop at, if there is one."""
        return self.deadline is not None and time.monotonic() > self.deadline

    def seen(self) -> dict[str, int]:
        """The counts of words, kept in `carry`."""
        counts = self.carry.get("seen")
        if not isinstance(counts, dict):
            counts = {}
            self.carry["seen"] = counts
        return counts


def records(reading: Reading, file: "BinaryIO") -> "Iterator[Record]":
    """The objects of a file of JSON lines; `reading.end` follows, damage is counted.

    The last line may still be in the making: if it is not whole, `end` stays before it.
    """
    for line, length, whole in _lines(reading, file):
        record = None if line is None else _record(line)
        if record is not None:
            reading.line = reading.end
            reading.end += length
            yield record
            continue
        if line is None or line.strip(_PADDING):
            reading.skipped += 1
        elif not whole:
            return
        if line is None or whole:
            reading.end += length


def _lines(reading: Reading, file: "BinaryIO") -> "Iterator[tuple[bytes | None, int, bool]]":
    """What `rest_of_line` gives, of every line for which there is time."""
    while line := file.readline(_PIECE):
        if _is_to_end(reading):
            return
        whole = line.endswith(b"\n")
        if whole or len(line) < _PIECE:
            yield line, len(line), whole
            continue
        try:
            yield rest_of_line(line, file, reading.has_no_time)
        except StoppedError:
            reading.unfinished = True
            return


def _is_to_end(reading: Reading) -> bool:
    """Whether no more of it may be read; `reading` then says why."""
    if reading.end > _LONGEST_TRANSCRIPT:  # what was compressed
        reading.problem = f"too long for a transcript: {reading.path}"
        return True
    if reading.deadline is not None and _is_late(reading, reading.deadline):
        reading.unfinished = True
        return True
    return False


def rest_of_line(
    begun: bytes, file: "BinaryIO", stop: "Callable[[], bool]"
) -> tuple[bytes | None, int, bool]:
    """(the line, how many bytes of the file it is, whether its end is there) of a line that `begun`
    is the beginning of.

    NULs in front of a line are passed over, however many: a crash leaves them, as a hole that can be
    larger than all memory. A line longer than `LONGEST_LINE` is None.

    Raises:
        StoppedError: `stop` says so.
    """
    kept: list[bytes] = []
    length = held = 0
    part = begun
    while part:
        length += len(part)
        if length > _ALWAYS_READ_OF_A_LINE and stop():
            raise StoppedError
        if held or (part := part.lstrip(b"\0")):
            held += len(part)
            kept.append(part)
        else:
            length += _pass_hole(file)
        if held > LONGEST_LINE:
            kept.clear()
        if part.endswith(b"\n"):
            break
        part = file.readline(_PIECE)
    line = b"".join(kept) if held <= LONGEST_LINE else None
    return line, length, part.endswith(b"\n")


def _pass_hole(file: "BinaryIO") -> int:
    """Go on where the file has bytes again; how far that is. Some systems can not tell: then 0."""
    try:
        at, number = file.tell(), file.fileno()
        raw = os.lseek(number, 0, os.SEEK_CUR)
    except (OSError, AttributeError):
        return 0  # what comes out of something compressed
    try:
        data = os.lseek(number, at, os.SEEK_DATA)
    except OSError as none:
        if none.errno != ENXIO:
            return 0
        data = os.fstat(number).st_size  # nothing but a hole from here on
    except AttributeError:
        return 0
    finally:
        os.lseek(number, raw, os.SEEK_SET)  # where `file` believes it is
    return file.seek(data) - at


def lines_of(
    parse: "Callable[[Record, Reading], list[Event] | None]",
) -> "Callable[[Reading], Iterator[Event]]":
    """A walk over JSON lines. `parse` makes events of each; None says that the line is unknown."""

    def walk(reading: Reading) -> "Iterator[Event]":
        with opened(reading) as file:
            file.seek(reading.start)
            for record in records(reading, file):
                events = parse(record, reading)
                if events is None:
                    reading.skipped += 1
                else:
                    yield from events

    return walk


def document(reading: Reading) -> object:
    """The whole file as one JSON value; raises ValueError if it is none."""
    return loads(contents(reading).decode("utf-8-sig", "replace"))


def contents(reading: Reading) -> bytes:
    """All of a file that is one document."""
    raw = regular_files.read(reading.path, _LONGEST_DOCUMENT, links=regular_files.ANYWHERE)
    reading.end = len(raw)
    return raw


def opened(reading: Reading) -> "BinaryIO":
    """The transcript's file. It is the host's and may be a link; it is never a pipe."""
    return regular_files.opened(reading.path, links=regular_files.ANYWHERE)


def _is_late(reading: Reading, deadline: float) -> bool:
    return reading.end - reading.start > ALWAYS_READ and time.monotonic() > deadline


def name_of(path: str) -> str:
    """The file's name without its endings."""
    return os.path.basename(path).split(".", 1)[0]


def _record(line: bytes) -> Record | None:
    stripped = line.strip(_PADDING)
    if not stripped.startswith(b"{"):
        return None
    try:
        value = loads(stripped.decode("utf-8", "replace"))
    except (ValueError, MemoryError):
        return None
    return value if isinstance(value, dict) else None
