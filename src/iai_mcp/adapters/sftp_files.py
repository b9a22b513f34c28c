"""A place's files on another machine, over the system's own `ssh` and its sftp subsystem.

Nothing is needed over there but sshd, and nothing here but `ssh` with the person's own configuration:
keys, agents and jump hosts work as they do at the prompt. One connection is kept open.
"""

import os
import re
import secrets
import selectors
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from struct import pack, unpack_from
from threading import RLock
from urllib.parse import unquote, urlsplit

from iai_mcp.adapters.file_log import TEMPORARY
from iai_mcp.adapters.ssh_errors import ssh_ended
from iai_mcp.child_environment import without_secrets
from iai_mcp.domain.errors import (
    AlreadyExists,
    InvalidInput,
    IoFailed,
    NotInstalled,
    ReadOnly,
    RemoteFailed,
    TimedOut,
)
from iai_mcp.ports.shared_log import NoRecord

_ANSWER_SECONDS = 30.0
_CHUNK = 32_000  # every server reads and writes so much at once
_LARGEST_PACKET = 1 << 18
_OPTIONS = ("BatchMode=yes", "ConnectTimeout=10", "ServerAliveInterval=15", "ServerAliveCountMax=3")

_INIT, _VERSION, _OPEN, _CLOSE, _READ, _WRITE, _LSTAT = 1, 2, 3, 4, 5, 6, 7
_OPENDIR, _READDIR, _REMOVE, _MKDIR, _RENAME, _EXTENDED = 11, 12, 13, 14, 18, 200
_STATUS, _HANDLE, _DATA, _NAME, _ATTRS = 101, 102, 103, 104, 105
_OK, _EOF, _NO_SUCH_FILE, _DENIED = 0, 1, 2, 3
_FOR_READING, _FOR_NEW = 0x01, 0x02 | 0x08 | 0x20
_HAS_SIZE, _HAS_OWNER, _HAS_MODE = 1, 2, 4
_REGULAR, _FORMAT = 0o100000, 0o170000


@dataclass(frozen=True, slots=True)
class FarPlace:
    """`ssh://[user@]host[:port]/path`."""

    host: str  # with the user, as ssh takes it
    port: int | None
    path: str

    @classmethod
    def read(cls, url: str) -> "FarPlace":
        """
        Raises:
            InvalidInput: no such address.
        """
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError as broken:
            raise InvalidInput(_NO_ADDRESS) from broken
        host = unquote(parts.netloc.rpartition(":")[0] if port is not None else parts.netloc)
        path = unquote(parts.path)
        # ssh would take what begins with a dash for an option.
        if parts.scheme != "ssh" or parts.password or not re.match(r"[\w.@\[\]:-]+\Z", host):
            raise InvalidInput(_NO_ADDRESS)
        if host.startswith("-") or len(path) < 2 or "\0" in path:
            raise InvalidInput(_NO_ADDRESS)
        return cls(host, port, path[1:] if path.startswith("/~") else path)

    def command(self, ssh: Sequence[str]) -> list[str]:
        options = [part for option in _OPTIONS for part in ("-o", option)]
        port = [] if self.port is None else ["-p", str(self.port)]
        return [*ssh, *options, *port, "-s", "--", self.host, "sftp"]


_NO_ADDRESS = (
    "write the place as ssh://[user@]host[:port]/path; keys belong into ssh's own settings"
)


class SftpFiles:
    """A directory of another machine."""

    def __init__(self, place: FarPlace, *, largest: int, ssh: Sequence[str] = ("ssh",)) -> None:
        self._place = place
        self._largest = largest
        self._ssh = ssh
        self._link: _Link | None = None
        # Answers come in the order of the questions: two threads would read each other's.
        self._asking = RLock()

    def names(self, directory: str) -> list[str]:
        with self._linked() as link:
            try:
                return sorted(link.names(self._path(directory)))
            except FileNotFoundError:
                return []

    def content(self, path: str) -> bytes:
        with self._linked() as link:
            return link.content(self._path(path), self._largest)

    def put(self, directory: str, name: str, data: bytes, *, over: bool) -> None:
        within = self._path(directory)
        temporary = f"{within}/{TEMPORARY}{secrets.token_hex(8)}"
        with self._linked() as link:
            self._made(link, directory)
            try:
                link.write_new(temporary, data)
                link.move(temporary, f"{within}/{name}", over=over)
            except (IoFailed, AlreadyExists):
                link.remove(temporary)
                raise

    def rename(self, path: str, name: str) -> None:
        old = self._path(path)
        with self._linked() as link:
            link.move(old, f"{old.rpartition('/')[0]}/{name}", over=False)

    def remove(self, path: str) -> None:
        with self._linked() as link:
            link.remove(self._path(path))

    def close(self) -> None:
        if self._link is not None:
            self._link.close()
            self._link = None

    def _path(self, below: str) -> str:
        return f"{self._place.path}/{below}"

    def _made(self, link: "_Link", directory: str) -> None:
        """The directories below the place. The place itself has to be there: it may be a mount."""
        if not link.is_there(self._place.path):
            raise IoFailed(f"{self._place.path} is not there on {self._place.host}")
        so_far = self._place.path
        for part in directory.split("/"):
            so_far = f"{so_far}/{part}"
            link.make_directory(so_far)

    @contextmanager
    def _linked(self) -> Iterator["_Link"]:
        """The connection, for one thread at a time, made anew after a failure."""
        with self._asking:
            if self._link is None:
                self._link = _Link(self._place, self._ssh)
            try:
                yield self._link
            except (RemoteFailed, TimedOut):
                self.close()
                raise


class _Link:
    """One ssh process that speaks sftp, version 3."""

    def __init__(self, place: FarPlace, ssh: Sequence[str]) -> None:
        self._place = place
        self._id = 0
        try:
            self._process = subprocess.Popen(
                place.command(ssh),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=without_secrets(),
                start_new_session=True,  # a Ctrl-C at a command is not meant for it
            )
        except FileNotFoundError as absent:
            raise NotInstalled("the program `ssh` is needed for this place") from absent
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise RemoteFailed("ssh could not be talked to")
        self._stdin, self._stdout = stdin, stdout.fileno()
        self._ready = selectors.DefaultSelector()
        self._ready.register(self._stdout, selectors.EVENT_READ)
        try:
            self._send(_INIT, pack(">I", 3))
            kind, _ = self._packet()
        except BaseException:
            self.close()
            raise
        if kind != _VERSION:
            self.close()
            raise self._noise()

    def names(self, directory: str) -> list[str]:
        with self._open(_OPENDIR, directory, b"") as handle:
            found: list[str] = []
            while True:
                kind, body = self._ask(_READDIR, _text(handle))
                if kind != _NAME:
                    self._done(kind, body, _EOF)
                    return [name for name in found if name not in (".", "..")]
                found += _read_names(body)

    def content(self, path: str, largest: int) -> bytes:
        mode, size = self._attributes(path)
        if mode & _FORMAT != _REGULAR:
            raise NoRecord(f"{self._place.host} has something else than a file in a stream")
        if size > largest:
            raise NoRecord(f"{self._place.host} has a file in a stream that is too large for one")
        with self._open(_OPEN, path, pack(">II", _FOR_READING, 0)) as handle:
            found = bytearray()
            while len(found) <= largest:
                where = pack(">QI", len(found), _CHUNK)
                kind, body = self._ask(_READ, _text(handle) + where)
                if kind != _DATA:
                    self._done(kind, body, _EOF)
                    return bytes(found)
                found += _string(body, 0)[0]
        raise NoRecord(f"{self._place.host} has a file in a stream that is too large for one")

    def write_new(self, path: str, data: bytes) -> None:
        with self._open(_OPEN, path, pack(">II", _FOR_NEW, 0)) as handle:
            for at in range(0, len(data), _CHUNK):
                piece = data[at : at + _CHUNK]
                self._order(_WRITE, _text(handle) + pack(">Q", at) + _text(piece))
            # A server without it writes when it likes; then the owner repairs what is lost.
            self._ask(_EXTENDED, _text(b"fsync@openssh.com") + _text(handle))

    def move(self, old: str, new: str, *, over: bool) -> None:
        """Plain renaming refuses where something is; then it is told which of both it was."""
        names = _text(old.encode()) + _text(new.encode())
        if over:
            self._order(_EXTENDED, _text(b"posix-rename@openssh.com") + names)
            return
        kind, body = self._ask(_RENAME, names)
        if _status(kind, body) not in (_OK, _NO_SUCH_FILE) and self.is_there(new):
            raise AlreadyExists(f"{new.rpartition('/')[2]} is in the place already")
        self._done(kind, body)

    def remove(self, path: str) -> None:
        with suppress(FileNotFoundError):
            self._order(_REMOVE, _text(path.encode()))

    def make_directory(self, path: str) -> None:
        kind, body = self._ask(_MKDIR, _text(path.encode()) + pack(">I", 0))
        if _status(kind, body) != _OK and not self.is_there(path):
            self._done(kind, body)

    def is_there(self, path: str) -> bool:
        return self._ask(_LSTAT, _text(path.encode()))[0] == _ATTRS

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()
        self._ready.close()

    def _attributes(self, path: str) -> tuple[int, int]:
        """The mode and the size."""
        kind, body = self._ask(_LSTAT, _text(path.encode()))
        if kind != _ATTRS:
            self._done(kind, body)
        flags, at, size = unpack_from(">I", body)[0], 4, 0
        if flags & _HAS_SIZE:
            size, at = unpack_from(">Q", body, at)[0], at + 8
        at += 8 if flags & _HAS_OWNER else 0
        mode = unpack_from(">I", body, at)[0] if flags & _HAS_MODE else _REGULAR
        return mode, size

    @contextmanager
    def _open(self, kind: int, path: str, how: bytes) -> Iterator[bytes]:
        answered, body = self._ask(kind, _text(path.encode()) + how)
        if answered != _HANDLE:
            self._done(answered, body)
        handle = _string(body, 0)[0]
        try:
            yield handle
        finally:
            self._ask(_CLOSE, _text(handle))

    def _order(self, kind: int, body: bytes) -> None:
        self._done(*self._ask(kind, body))

    def _done(self, kind: int, body: bytes, expected: int = _OK) -> None:
        status = _status(kind, body)
        if status == expected:
            return
        if status == _NO_SUCH_FILE:
            raise FileNotFoundError
        if status == _DENIED:
            raise ReadOnly(f"{self._place.path} on {self._place.host} may not be written or read")
        raise IoFailed(f"{self._place.host} could not do it: is its disk full?")

    def _ask(self, kind: int, body: bytes) -> tuple[int, bytes]:
        self._id = (self._id + 1) & 0xFFFFFFFF
        self._send(kind, pack(">I", self._id) + body)
        answered, rest = self._packet()
        if len(rest) < 4 or unpack_from(">I", rest)[0] != self._id:
            raise self._noise()
        return answered, rest[4:]

    def _send(self, kind: int, body: bytes) -> None:
        try:
            self._stdin.write(pack(">IB", len(body) + 1, kind) + body)
            self._stdin.flush()
        except OSError as gone:
            raise self._ended() from gone

    def _packet(self) -> tuple[int, bytes]:
        length = unpack_from(">I", self._bytes(4))[0]
        if not 1 <= length <= _LARGEST_PACKET:
            raise self._noise()
        packet = self._bytes(length)
        return packet[0], packet[1:]

    def _bytes(self, count: int) -> bytes:
        found = bytearray()
        until = time.monotonic() + _ANSWER_SECONDS
        while len(found) < count:
            left = until - time.monotonic()
            if left <= 0 or not self._ready.select(left):
                raise TimedOut(f"{self._place.host} does not answer")
            piece = os.read(self._stdout, count - len(found))
            if not piece:
                raise self._ended()
            found += piece
        return bytes(found)

    def _noise(self) -> RemoteFailed:
        return RemoteFailed(
            f"{self._place.host} says something else than sftp: does a start-up file of its shell print?"
        )

    def _ended(self) -> RemoteFailed:
        """Why ssh ended. Its own words may name keys and paths: they are read, not repeated."""
        self._process.kill()
        _, said = self._process.communicate()
        text = said[-4000:].decode("utf-8", "replace")
        return ssh_ended(self._place.host, text)


def _text(data: bytes) -> bytes:
    return pack(">I", len(data)) + data


def _string(body: bytes, at: int) -> tuple[bytes, int]:
    """A string of a packet, and where the next thing begins."""
    length = unpack_from(">I", body, at)[0]
    return body[at + 4 : at + 4 + length], at + 4 + length


def _status(kind: int, body: bytes) -> int:
    """What a status says; -1 for every other answer."""
    return int(unpack_from(">I", body)[0]) if kind == _STATUS and len(body) >= 4 else -1


def _read_names(body: bytes) -> list[str]:
    count, at = unpack_from(">I", body)[0], 4
    found = []
    for _ in range(count):
        name, at = _string(body, at)
        _, at = _string(body, at)
        at = _past_attributes(body, at)
        found.append(name.decode("utf-8", "replace"))
    return found


def _past_attributes(body: bytes, at: int) -> int:
    flags, at = unpack_from(">I", body, at)[0], at + 4
    at += 8 if flags & _HAS_SIZE else 0
    at += 8 if flags & _HAS_OWNER else 0
    at += 4 if flags & _HAS_MODE else 0
    at += 8 if flags & 8 else 0
    if flags & 0x80000000:
        extended, at = unpack_from(">I", body, at)[0], at + 4
        for _ in range(2 * extended):
            _, at = _string(body, at)
    return int(at)
