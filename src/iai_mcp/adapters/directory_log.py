"""A circle's streams in a directory: `<place>/<circle>/<device>/<number>.rec`.

Whatever carries the files (Syncthing, Dropbox, NFS, a git checkout, a stick) may deliver them late,
twice, in any order or in part. The names are all that is looked at here; whether a file is what it
says is for who opens it.
"""

import errno
import os
import re
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from iai_mcp import paths, regular_files
from iai_mcp.domain.errors import AlreadyExists, DiskFull, IoFailed, NotFound, ReadOnly
from iai_mcp.ports.shared_log import Entry, Oddity

_RECORD = re.compile(r"([1-9][0-9]{0,17})\.rec\Z")
_DEVICE = re.compile(r"[0-9a-f]{32}\Z")
_OFFERS = "invites"
_TEMPORARY = ".writing-"
_LOOK_AGAIN_SECONDS = 1.0


class DirectoryLog:
    """One circle in a directory. What lies there is sealed, so its modes are the directory's own."""

    def __init__(self, place: str, circle: str, *, largest: int) -> None:
        self._root = os.path.join(place, circle)
        self._place = place
        self._largest = largest
        self._seen: dict[str, int] | None = None

    def heads(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for device in self._names(self._root):
            if _DEVICE.match(device):
                numbers = self.numbers(device)
                if numbers:
                    found[device] = numbers[-1]
        return found

    def append(self, device: str, number: int, sealed: bytes) -> None:
        if any(one >= number for one in self.numbers(device)):
            raise AlreadyExists(f"record {number} of this device is in the place already")
        self._put(os.path.join(self._root, device), f"{number}.rec", sealed, over=False)

    def numbers(self, device: str) -> list[int]:
        names = self._names(os.path.join(self._root, device))
        return sorted(int(found[1]) for name in names if (found := _RECORD.match(name)))

    def read(self, device: str, after: int, limit: int) -> list[Entry]:
        found = []
        for number in [one for one in self.numbers(device) if one > after][:limit]:
            with suppress(FileNotFoundError):  # rolled into a later one at this moment
                found.append(Entry(number, self._content(self._path(device, number))))
        return found

    def replace(self, device: str, first: int, last: int, sealed: bytes) -> None:
        self._put(os.path.join(self._root, device), f"{last}.rec", sealed)
        for number in self.numbers(device):
            if first <= number < last:
                with _sentences(self._place), suppress(FileNotFoundError):
                    os.unlink(self._path(device, number))

    def offer(self, name: str, sealed: bytes) -> None:
        self._put(os.path.join(self._root, _OFFERS), f"{name}.rec", sealed)

    def take(self, name: str) -> bytes:
        offered = self._offered(name)
        taken = f"{offered}.taken-{secrets.token_hex(8)}"
        try:
            with _sentences(self._place):
                os.rename(offered, taken)
                content = self._content(taken)
                os.unlink(taken)
        except FileNotFoundError as gone:
            raise NotFound("the invitation is not in the place: it was used, or ended") from gone
        return content

    def withdraw(self, name: str) -> None:
        with _sentences(self._place), suppress(FileNotFoundError):
            os.unlink(self._offered(name))

    def oddities(self) -> list[Oddity]:
        found = []
        for device in self._names(self._root):
            if device == _OFFERS:
                continue
            if not _DEVICE.match(device):
                found.append(Oddity(device, "it belongs to no device"))
                continue
            for name in self._names(os.path.join(self._root, device)):
                if not _RECORD.match(name) and not name.startswith(_TEMPORARY):
                    found.append(Oddity(f"{device}/{name}", "it is no record of a stream"))
        return found

    def wait(self, seconds: float) -> bool:
        """Files come without a word: the directories are looked at again and again."""
        until = time.monotonic() + seconds
        while True:
            heads = self.heads()
            if self._seen is not None and heads != self._seen:
                self._seen = heads
                return True
            self._seen = heads
            left = until - time.monotonic()
            if left <= 0:
                return False
            time.sleep(min(left, _LOOK_AGAIN_SECONDS))

    def close(self) -> None:
        return None

    def _path(self, device: str, number: int) -> str:
        return os.path.join(self._root, device, f"{number}.rec")

    def _offered(self, name: str) -> str:
        return os.path.join(self._root, _OFFERS, f"{name}.rec")

    def _names(self, directory: str) -> list[str]:
        with _sentences(self._place):
            try:
                return sorted(os.listdir(directory))
            except (FileNotFoundError, NotADirectoryError):
                return []

    def _content(self, path: str) -> bytes:
        with _sentences(self._place):
            return regular_files.read(path, self._largest)

    def _put(self, directory: str, name: str, sealed: bytes, *, over: bool = True) -> None:
        temporary = os.path.join(directory, f"{_TEMPORARY}{secrets.token_hex(8)}")
        with _sentences(self._place):
            if not os.path.isdir(self._place):
                raise IoFailed(f"the place {self._place} is not there: is it mounted?")
            os.makedirs(directory, exist_ok=True)
            try:
                with open(temporary, "xb") as file:
                    file.write(sealed)
                    file.flush()
                    os.fsync(file.fileno())
                _move(temporary, os.path.join(directory, name), over=over)
            finally:
                with suppress(OSError):
                    os.unlink(temporary)
            paths.sync_directory(directory)


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


@contextmanager
def _sentences(place: str) -> Iterator[None]:
    """What the file system says, as a sentence. What is not there is told apart by the caller."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as refused:
        if refused.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(f"{place} is full: nothing more can be shared there") from refused
        if refused.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
            raise ReadOnly(f"{place} may not be written or read here") from refused
        raise IoFailed(f"{place} can not be used: {refused.strerror or refused}") from refused
