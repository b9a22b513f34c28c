"""Empties the spool into the store: oldest first, in batches, each turn exactly once."""

import logging
import os
import stat
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from iai_mcp import paths
from iai_mcp.adapters.bounded_stat import look_at
from iai_mcp.capture import consent
from iai_mcp.capture.spool import ENDING, SET_ASIDE, TEMPORARY, VERSION
from iai_mcp.capture.turn_preparation import Preparation
from iai_mcp.domain.errors import IaiError, InvalidInput, PlaceSilent
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


Deliver = Callable[[dict[str, object], list[dict[str, object]]], Mapping[str, object]]

log = logging.getLogger(__name__)

FIRST_RETRY = 0.5
LAST_RETRY = 30.0
# A failure that is nobody's known fault is tried this often before the file is set aside.
ATTEMPTS = 5
# A hook lives for less than a second: what it left unfinished an hour ago has no owner.
STALE_AFTER = 3600.0


@dataclass(slots=True)
class Drained:
    """What one pass through the spool did."""

    files: int = 0
    inserted: int = 0
    duplicates: int = 0
    skipped: int = 0
    set_aside: int = 0
    waiting: int = 0  # files that stay because the store did not take them


class _NotNow(Exception):
    """The store can not take anything at the moment."""


@dataclass(slots=True)
class SpoolPass:
    """The way from the spool to the store, gone once. `deliver` stores a batch in one transaction."""

    deliver: Deliver
    spool_dir: str | None = None
    stopping: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _attempts: dict[str, int] = field(default_factory=dict)
    _retry_in: float = 0.0
    retry_at: float = 0.0

    def counts(self) -> dict[str, int]:
        """For `status`: files that wait, and files that were set aside. By their names alone: there
        may be thousands, and whoever asks for the status waits for nobody."""
        directory = self.directory()
        aside = [p for p in _names(directory / SET_ASIDE) if not p.endswith(".reason")]
        return {"waiting": sum(map(_is_spooled, _names(directory))), "set_aside": len(aside)}

    def drain_once(self) -> Drained:
        """One pass. Safe to call from several threads: the second waits."""
        done = Drained()
        directory = self.directory()
        with self._lock:
            files = self._waiting(directory)
            for position, path in enumerate(files):
                if self.stopping.is_set():
                    break
                try:
                    self._drain_file(path, done)
                except PlaceSilent:
                    done.waiting += 1  # it waits for its own place, and nobody waits for it
                except _NotNow:
                    done.waiting += len(files) - position
                    self.back_off()
                    return done
            if done.waiting:
                self.back_off()
            else:
                self._retry_in = self.retry_at = 0.0
            _remove_abandoned(directory)
        return done

    def _drain_file(self, path: Path, done: Drained) -> None:
        file = SpooledFile(path, self.stopping.is_set)
        try:
            for header, events in file.batches():
                if self.stopping.is_set():
                    return
                self._store(header, events, file, done)
        except FileNotFoundError:
            return  # somebody else has drained it
        except StoppedError:
            return
        except (UnreadableError, InvalidInput) as bad:
            file.damage.append(str(bad.args[0]) if bad.args else type(bad).__name__)
        except OSError as refused:
            file.damage.append(f"it can not be read: {refused.strerror}")
        self._attempts.pop(path.name, None)
        if file.damage:
            self._set_aside(path, file.damage)
            done.set_aside += 1
            return
        path.unlink(missing_ok=True)
        paths.sync_directory(path.parent)
        done.files += 1

    def _store(
        self,
        header: dict[str, object],
        events: list[dict[str, object]],
        file: SpooledFile,
        done: Drained,
    ) -> None:
        try:
            result = self.deliver(header, events)
        except (InvalidInput, PlaceSilent):
            raise
        except (IaiError, OSError) as refused:
            log.warning("the store takes no turns", extra={"reason": type(refused).__name__})
            raise _NotNow from refused
        except Exception as bug:
            self._count_failure(file.path.name, bug)
            raise _NotNow from bug
        done.inserted += _number(result.get("inserted"))
        done.duplicates += _number(result.get("duplicates"))
        done.skipped += _number(result.get("skipped"))
        refused_turns = _number(result.get("errors"))
        if refused_turns:
            file.damage.append(f"{refused_turns} turns were refused by the store")

    def _count_failure(self, name: str, bug: Exception) -> None:
        """A bug of ours must neither lose the file nor hold up all the others for ever."""
        self._attempts[name] = self._attempts.get(name, 0) + 1
        log.error("delivering a spool file failed", extra={"reason": type(bug).__name__})
        if self._attempts[name] >= ATTEMPTS:
            raise UnreadableError(
                f"storing it failed {ATTEMPTS} times: {type(bug).__name__}"
            ) from bug

    def _set_aside(self, path: Path, damage: list[str]) -> None:
        """Move the file where nothing is lost and a person can look at it."""
        shelf = Path(paths.private_dir(str(path.parent / SET_ASIDE)))
        target, number = shelf / path.name, 1
        while os.path.lexists(target) or os.path.lexists(f"{target}.reason"):
            target, number = shelf / f"{path.stem}.{number}{ENDING}", number + 1
        reason = Path(f"{target}.reason")
        descriptor = os.open(reason, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as out:
            out.write("\n".join(damage[:100]) + "\n")
        path.rename(target)
        paths.sync_directory(shelf)
        paths.sync_directory(path.parent)
        log.warning("a spool file was set aside", extra={"file": target.name})

    def back_off(self) -> None:
        self._retry_in = min(LAST_RETRY, self._retry_in * 2) if self._retry_in else FIRST_RETRY
        self.retry_at = time.monotonic() + self._retry_in

    def directory(self) -> Path:
        return Path(self.spool_dir or paths.spool_dir())

    def _waiting(self, directory: Path) -> list[Path]:
        """The files to drain, oldest first."""
        found: list[tuple[int, str]] = []
        for name in _names(directory):
            if _is_spooled(name):
                try:
                    found.append(((directory / name).lstat().st_mtime_ns, name))
                except FileNotFoundError:
                    continue
        return [directory / name for _, name in sorted(found)]


def _is_spooled(name: str) -> bool:
    return name.endswith(ENDING) and not name.startswith(".")


def _names(directory: Path) -> list[str]:
    try:
        return os.listdir(directory)
    except (FileNotFoundError, NotADirectoryError):
        return []


def _remove_abandoned(directory: Path) -> None:
    """Half-written files of hooks that were killed. Their transcripts still have the words."""
    oldest = time.time() - STALE_AFTER
    for name in _names(directory):
        path = directory / name
        if name.startswith(".") and name.endswith(TEMPORARY):
            try:
                if path.lstat().st_mtime < oldest:
                    path.unlink()
            except FileNotFoundError:
                continue


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
