"""A circle's streams as files: `<place>/<circle>/<device>/<number>.rec`, here or on another machine.

Whatever carries the files (Syncthing, Dropbox, NFS, a git checkout, a stick) may deliver them late,
twice, in any order or in part. The names are all that is looked at here; whether a file is what it
says is for who opens it.
"""

import errno
import os
import re
import secrets
import threading
import time
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Protocol

from iai_mcp import paths, regular_files
from iai_mcp.domain.errors import AlreadyExists, DiskFull, IoFailed, NotFound, ReadOnly
from iai_mcp.ports.shared_log import (
    NO_OFFER,
    PORTION_BYTES,
    UNKNOWN_AT_ONCE,
    Entry,
    NoRecord,
    Oddity,
)

TEMPORARY = ".writing-"
_RECORD = re.compile(r"([1-9][0-9]{0,17})\.rec\Z")
_DEVICE = re.compile(r"[0-9a-f]{32}\Z")
_OFFERS = "invites"
_MOST_ODDITIES = 100
_LOOK_AGAIN_SECONDS = 1.0


class PlaceFiles(Protocol):
    """The few things that are done with a place's files. Paths are relative to the place.

    What is not there is `FileNotFoundError`; everything else an `IaiError` with a sentence.
    """

    def names(self, directory: str) -> list[str]:
        """What is in it, sorted; nothing where there is no such directory."""
        ...

    def content(self, path: str) -> bytes: ...

    def put(self, directory: str, name: str, data: bytes, *, over: bool) -> None:
        """A whole file under its name or none, durably; not `over` one that is there."""
        ...

    def rename(self, path: str, name: str) -> None:
        """Give a file another name in its directory; of several who do, one succeeds."""
        ...

    def remove(self, path: str) -> None:
        """Gone, or was not there."""
        ...

    def close(self) -> None: ...


class FileLog:
    """One circle in a place of files. What lies there is sealed, so its modes are the place's own."""

    def __init__(self, files: PlaceFiles, circle: str) -> None:
        self._files = files
        self._circle = circle
        self._seen: dict[str, int] | None = None
        self._known: frozenset[str] = frozenset()
        self._listed: dict[str, list[int]] = {}
        self._turn = 0
        self._woken = threading.Event()

    def heads(self, known: Collection[str] = ()) -> dict[str, int]:
        """The one look at the place of a contact: what follows goes by it."""
        devices = [one for one in self._files.names(self._circle) if _DEVICE.match(one)]
        self._known = frozenset(known) if known else self._known
        unknown = [one for one in devices if one not in self._known]
        # Whoever can write to the place can make any number of directories.
        start = self._turn % len(unknown) if len(unknown) > UNKNOWN_AT_ONCE else 0
        self._turn = start + UNKNOWN_AT_ONCE
        some = (unknown[start:] + unknown[:start])[:UNKNOWN_AT_ONCE]
        self._listed = {one: self._list(one) for one in [*self._known.intersection(devices), *some]}
        return {one: numbers[-1] for one, numbers in self._listed.items() if numbers}

    def append(self, device: str, number: int, sealed: bytes) -> None:
        self._files.put(f"{self._circle}/{device}", f"{number}.rec", sealed, over=False)
        self._listed.pop(device, None)

    def numbers(self, device: str) -> list[int]:
        if device not in self._listed:
            self._listed[device] = self._list(device)
        return list(self._listed[device])

    def _list(self, device: str) -> list[int]:
        names = self._files.names(f"{self._circle}/{device}")
        return sorted(int(found[1]) for name in names if (found := _RECORD.match(name)))

    def read(self, device: str, after: int, limit: int) -> list[Entry]:
        found: list[Entry] = []
        numbers, size = self.numbers(device), 0
        for number in numbers[bisect_right(numbers, after) :][:limit]:
            if size > PORTION_BYTES:
                break
            with suppress(FileNotFoundError):  # rolled into a later one at this moment
                found.append(Entry(number, self._content(device, number)))
                size += len(found[-1].sealed)
        return found

    def _content(self, device: str, number: int) -> bytes:
        try:
            return self._files.content(f"{self._circle}/{device}/{number}.rec")
        except NoRecord:
            return b""  # it is set aside like what is damaged, and holds up nothing else

    def read_all(
        self, after: Mapping[str, int], limit: int, *, each: int | None = None
    ) -> dict[str, list[Entry]]:
        found: dict[str, list[Entry]] = {}
        count = size = 0
        for device, number in after.items():
            if count >= limit or size > PORTION_BYTES:
                break
            if entries := self.read(device, number, min(limit - count, each or limit)):
                found[device] = entries
                count += len(entries)
                size += sum(len(one.sealed) for one in entries)
        return found

    def replace(self, device: str, first: int, last: int, sealed: bytes) -> None:
        self._files.put(f"{self._circle}/{device}", f"{last}.rec", sealed, over=True)
        for number in self._list(device):
            if first <= number < last:
                self._files.remove(f"{self._circle}/{device}/{number}.rec")
        self._listed.pop(device, None)

    def offer(self, name: str, sealed: bytes) -> None:
        self._files.put(f"{self._circle}/{_OFFERS}", f"{name}.rec", sealed, over=True)

    def take(self, name: str) -> bytes:
        taken = f"{TEMPORARY}{secrets.token_hex(8)}"
        try:
            self._files.rename(f"{self._circle}/{_OFFERS}/{name}.rec", taken)
        except FileNotFoundError as gone:
            raise NotFound(NO_OFFER) from gone
        content = self._files.content(f"{self._circle}/{_OFFERS}/{taken}")
        self._files.remove(f"{self._circle}/{_OFFERS}/{taken}")
        return content

    def offered(self, name: str) -> bytes | None:
        try:
            return self._files.content(f"{self._circle}/{_OFFERS}/{name}.rec")
        except (FileNotFoundError, NoRecord):
            return None

    def withdraw(self, name: str) -> None:
        self._files.remove(f"{self._circle}/{_OFFERS}/{name}.rec")

    def oddities(self) -> list[Oddity]:
        names = [one for one in self._files.names(self._circle) if one != _OFFERS]
        found = [Oddity(one, "it belongs to no device") for one in names if not _DEVICE.match(one)][
            :_MOST_ODDITIES
        ]
        for device in [one for one in names if one in self._listed]:
            for name in self._files.names(f"{self._circle}/{device}"):
                if len(found) >= _MOST_ODDITIES:
                    return found
                if not _RECORD.match(name) and not name.startswith(TEMPORARY):
                    found.append(Oddity(f"{device}/{name}", "it is no record of a stream"))
        return found

    def wait(self, seconds: float) -> bool:
        """Files come without a word: the directories are looked at again and again."""
        until = time.monotonic() + seconds
        while True:
            heads, seen = self.heads(), self._seen
            self._seen = heads
            if seen is not None and heads != seen:
                return True
            left = until - time.monotonic()
            if left <= 0:
                return False
            if self._woken.wait(min(left, _LOOK_AGAIN_SECONDS)):
                self._woken.clear()
                return False

    def wake(self) -> None:
        self._woken.set()

    def close(self) -> None:
        self._files.close()


class LocalFiles:
    """A directory of this machine."""

    def __init__(self, place: str, *, largest: int) -> None:
        self._place = place
        self._largest = largest

    def names(self, directory: str) -> list[str]:
        with self._sentences():
            try:
                return sorted(os.listdir(self._path(directory)))
            except (FileNotFoundError, NotADirectoryError):
                return []

    def content(self, path: str) -> bytes:
        with self._sentences():
            return regular_files.read(self._path(path), self._largest)

    def put(self, directory: str, name: str, data: bytes, *, over: bool) -> None:
        within = self._path(directory)
        temporary = os.path.join(within, f"{TEMPORARY}{secrets.token_hex(8)}")
        with self._sentences():
            if not os.path.isdir(self._place):
                raise IoFailed(f"the place {self._place} is not there: is it mounted?")
            os.makedirs(within, exist_ok=True)
            try:
                with open(temporary, "xb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                _move(temporary, os.path.join(within, name), over=over)
            finally:
                with suppress(OSError):
                    os.unlink(temporary)
            paths.sync_directory(within)

    def rename(self, path: str, name: str) -> None:
        old = self._path(path)
        with self._sentences():
            os.rename(old, os.path.join(os.path.dirname(old), name))

    def remove(self, path: str) -> None:
        with self._sentences(), suppress(FileNotFoundError):
            os.unlink(self._path(path))

    def close(self) -> None:
        return None

    def _path(self, below: str) -> str:
        return os.path.join(self._place, below)

    @contextmanager
    def _sentences(self) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError:
            raise
        except OSError as refused:
            if refused.errno in (errno.ENOSPC, errno.EDQUOT):
                raise DiskFull(f"{self._place} is full: nothing more can be shared") from refused
            if refused.errno in (errno.EINVAL, errno.ELOOP, errno.EISDIR):
                raise NoRecord(
                    f"{self._place} has something else than a file in a stream"
                ) from refused
            if refused.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
                raise ReadOnly(f"{self._place} may not be written or read here") from refused
            why = refused.strerror or refused
            raise IoFailed(f"{self._place} can not be used: {why}") from refused


def _move(source: str, target: str, *, over: bool) -> None:
    """Give a file its name; where `over` is False, only if nobody has that name."""
    if not over:
        try:
            os.link(source, target)
            return
        except FileExistsError as taken:
            raise AlreadyExists(f"{os.path.basename(target)} is in the place already") from taken
        except OSError:
            pass  # no links on this file system; who writes a stream is alone with it
    os.replace(source, target)
