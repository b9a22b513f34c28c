"""One daemon takes another one's place, and nobody is turned away meanwhile.

The heir asks on the socket. The daemon that serves stops accepting, answers what was sent to it, closes
the store, and passes the listening socket and its locks over that same connection: whoever dials in
between waits in the socket's queue. It ends when the heir says that the store is open, and goes on by
itself if the heir ends before.
"""

import contextlib
import json
import os
import shutil
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from iai_mcp import __version__, paths
from iai_mcp.adapters.sqlite.schema import STEPS
from iai_mcp.concurrency import ProcessLock
from iai_mcp.daemon import hibernation, mcp_session
from iai_mcp.domain.errors import (
    DaemonNotOurs,
    DaemonUnreachable,
    DiskFull,
    IaiError,
    InvalidInput,
)
from iai_mcp.protocol import messages, peers
from iai_mcp.protocol.codes import UNKNOWN_METHOD

if TYPE_CHECKING:
    from iai_mcp.ports.embedder import Embedder

METHOD = "daemon_hand_over"

_HERE = b"here\n"
_OPENED = b"opened\n"
_MOST_DESCRIPTORS = 8
# Calls in flight have a few seconds to end, then the store is closed.
_PATIENCE = 15.0
# Opening may bring an old store up to date. Whoever takes longer and lives has it all the same.
_OPENING = 120.0
# What closing the store and opening it again may take on the disk, with room.
_ROOM = 4 * 1024 * 1024


class NotHandedOver(IaiError):
    """The daemon that runs can not be asked: it has to be stopped first."""

    code = "NOT_HANDED_OVER"


@dataclass(frozen=True, slots=True)
class Heir:
    """The process that asked for our place, at the other end of a connection."""

    descriptor: int
    takes_remote: bool  # an earlier version would take the socket for remote callers for HTTP's

    def receives(
        self, listening: int, locks: Sequence[ProcessLock], http: int | None, remote: int | None
    ) -> bool:
        """Give everything away; whether it arrived and the store was opened with it."""
        with socket.socket(fileno=self.descriptor) as connection:
            connection.settimeout(_OPENING)
            try:
                held = [listening, *(lock.descriptor for lock in locks)]
                held += [] if http is None else [http]
                held += [remote] if remote is not None and self.takes_remote else []
                socket.send_fds(connection, [_HERE], held)
                return connection.recv(len(_OPENED)) == _OPENED
            except TimeoutError:
                return True
            except OSError:
                return False


@dataclass(frozen=True, slots=True)
class Estate:
    """What the daemon before us left: its place on the socket, and its locks."""

    listening: socket.socket
    http: socket.socket | None
    remote: socket.socket | None
    connection: socket.socket

    def opened(self) -> None:
        """The store is open: the daemon before us may end."""
        # Killed meanwhile, it needs no word; nobody else is left to serve.
        with self.connection, contextlib.suppress(OSError):
            self.connection.sendall(_OPENED)


def check(params: object) -> None:
    """Whether whoever asks can follow this daemon.

    Raises:
        NotHandedOver: a service manager owns the socket, and starts the next daemon itself.
        InvalidInput: it serves another store, or can not read this one.
        DiskFull: a store that is closed now could not be opened again, by nobody.
    """
    if hibernation.is_managed():
        raise NotHandedOver(
            "a service manager owns the socket: stop this daemon, and it starts another"
        )
    asked = params if isinstance(params, dict) else {}
    known = asked.get("schema")
    if asked.get("store") != _store():
        raise InvalidInput(f"the daemon on {paths.socket_path()} serves another store, {_store()}")
    if not isinstance(known, int) or known < len(STEPS):
        raise InvalidInput(
            f"the store was written by iai-mcp {__version__}, which is newer: upgrade iai-mcp; "
            "nothing was changed"
        )
    if _free(paths.user_data()) < _ROOM:
        raise DiskFull("the disk is full: free some space and try again; this daemon goes on")


def takes_remote(params: object) -> bool:
    """Whether whoever asks knows the socket for remote callers."""
    return isinstance(params, dict) and params.get("remote") is True


def loaded() -> Callable[[], "Embedder"]:
    """Load what takes long, the model and the MCP library, while the other daemon still serves.

    Returns how the store gets the model: without another wait, if there is one.
    """
    from iai_mcp.adapters.embedding.runtime import load_configured

    with contextlib.suppress(ImportError):  # sessions will be told
        mcp_session.load()
    try:
        embedder = load_configured()
    except Exception:  # noqa: BLE001 - supervision: the store tries again and says what is wrong
        return load_configured
    return lambda: embedder


def take(locks: Sequence[ProcessLock]) -> Estate | None:
    """Take the place of the daemon that serves the socket; None where nobody does.

    Raises:
        NotHandedOver: it does not know how to.
        IaiError: it refused, and says why.
    """
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(_PATIENCE)
    try:
        peers.connect(connection, paths.socket_path())
        params = {"store": _store(), "schema": len(STEPS), "remote": True}
        asked = {"jsonrpc": "2.0", "id": 1, "method": METHOD, "params": params}
        connection.sendall(messages.encode(asked))
        received = _received(connection)
    except (FileNotFoundError, ConnectionError):  # also one that was killed while it handed over
        connection.close()
        return None
    except paths.NotOurs as stranger:
        connection.close()
        raise DaemonNotOurs(stranger.sentence) from stranger
    except OSError as broken:
        connection.close()
        raise DaemonUnreachable(f"the running daemon did not hand over: {broken}") from broken
    except IaiError:
        connection.close()
        raise
    listening, *held = received
    for lock, descriptor in zip(locks, held, strict=False):
        lock.adopt(descriptor)
    further = [socket.socket(fileno=descriptor) for descriptor in held[len(locks) :]]
    http = next((one for one in further if one.family != socket.AF_UNIX), None)
    remote = next((one for one in further if one.family == socket.AF_UNIX), None)
    return Estate(socket.socket(fileno=listening), http, remote, connection)


def _store() -> str:
    return os.path.realpath(paths.user_data())


def _free(directory: str) -> int:
    return shutil.disk_usage(directory).free


def _received(connection: socket.socket) -> list[int]:
    """The descriptors, after an answer that promised them."""
    text, descriptors = b"", list[int]()
    # Always asked for together: bytes that are read without them throw them away.
    while not text.endswith(b"\n" + _HERE):
        part, found, _, _ = socket.recv_fds(connection, 1 << 16, _MOST_DESCRIPTORS)
        if not part:
            raise ConnectionResetError("the running daemon ended before it handed over")
        text += part
        descriptors += found
        if text.endswith(b"\n") and not text.endswith(b"\n" + _HERE):
            _check(json.loads(text))
    for descriptor in descriptors:
        os.set_inheritable(descriptor, False)
    return descriptors


def _check(answer: Mapping[str, object]) -> None:
    error = answer.get("error")
    if not isinstance(error, dict):
        return
    data = error.get("data")
    code = data.get("code") if isinstance(data, dict) else None
    if error.get("code") == UNKNOWN_METHOD or code == NotHandedOver.code:
        raise NotHandedOver("the running daemon has to be stopped before another one can start")
    raise InvalidInput(str(error.get("message")))
