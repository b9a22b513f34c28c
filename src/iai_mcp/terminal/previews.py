"""Asks many holders at once how they are: one short question to each, all under one deadline."""

import json
import selectors
import socket
import time
from collections.abc import Iterable
from typing import NamedTuple

from iai_mcp.protocol import peers
from iai_mcp.terminal import frames as wire
from iai_mcp.terminal.last_line import last_line
from iai_mcp.terminal.records import SessionRecord

_TAIL = 4096
_DEADLINE = 0.5  # seconds for all of them; who is silent is listed by its files alone


class Preview(NamedTuple):
    """What a list shows of a session that runs."""

    status: str
    source: str
    since_ms: int
    clients: int
    last_line: str


def ask(records: Iterable[SessionRecord]) -> dict[str, Preview]:
    """A preview of every session whose holder answers in time, by id."""
    answers: dict[str, Preview] = {}
    question = wire.frame(wire.STATE, wire.pack((_TAIL, 4)))
    deadline = time.monotonic() + _DEADLINE
    with selectors.DefaultSelector() as selector:
        for record in records:
            connection = _connect(record.socket, question)
            if connection is not None:
                selector.register(connection, selectors.EVENT_READ, _Inbox(record.id))
        while selector.get_map() and (left := deadline - time.monotonic()) > 0:
            for key, _ in selector.select(left):
                inbox: _Inbox = key.data
                if inbox.take(key.fileobj, answers):  # type: ignore[arg-type]  # we put sockets in
                    selector.unregister(key.fileobj)
                    key.fileobj.close()  # type: ignore[union-attr]
        for key in list(selector.get_map().values()):
            key.fileobj.close()  # type: ignore[union-attr]
    return answers


class _Inbox:
    """What one holder has answered so far."""

    def __init__(self, session_id: str) -> None:
        self._id = session_id
        self._decoder = wire.FrameDecoder()
        self._state = b""

    def take(self, connection: socket.socket, answers: dict[str, Preview]) -> bool:
        """Read what came; True when there is no more to wait for."""
        try:
            data = connection.recv(65_536)
        except BlockingIOError:
            return False
        except ConnectionError:
            return True
        for kind, payload in self._decoder.feed(data):
            if kind == wire.STATUS:
                self._state = payload
            elif kind == wire.TAIL:
                preview = _preview(self._state, payload)
                if preview is not None:
                    answers[self._id] = preview
                return True
        return not data


def _preview(state: bytes, tail: bytes) -> Preview | None:
    try:
        said = json.loads(state)
        status, source = str(said["status"]), str(said["source"])
        return Preview(status, source, int(said["since"]), int(said["clients"]), last_line(tail))
    except (ValueError, KeyError, TypeError):
        return None  # a holder of another version: its files must do


def _connect(path: str, question: bytes) -> socket.socket | None:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        # A Unix socket connects at once or not at all.
        connection.settimeout(_DEADLINE)
        peers.connect(connection, path)
        connection.sendall(question)
    except OSError:
        connection.close()
        return None
    connection.setblocking(False)
    return connection
