"""What sessions have printed: all they still hold, or the last line of many at once.

From a holder while it lives, from its kept tail afterwards.
"""

import json
import os
import re
import selectors
import socket
import time
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from iai_mcp.domain.errors import NotFound, PtyFailed
from iai_mcp.protocol import peers
from iai_mcp.terminal import frames as wire
from iai_mcp.terminal import layout
from iai_mcp.terminal.connection import HolderConnection
from iai_mcp.terminal.records import SessionRecord

_DEADLINE = 10.0
_TAIL = 4096
_PREVIEW_DEADLINE = 0.5  # seconds for all of them; who is silent is listed by its files alone
_SEQUENCE = re.compile(
    rb"\x1b(?:\[[<=>?!]?[0-9;:]*[ -/]*[@-~]"
    rb"|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\|[()*+#%].|.)",
    re.DOTALL,
)
_MOVES = re.compile(rb"\x1b(?:\[(?P<row>[0-9]*)[0-9;]*(?P<final>[ABCEFGHJdf])|[DEM])")
_SIDEWAYS = (b"C", b"G")
_LEFTOVERS = re.compile(rb"[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f]")
_DECORATION = re.compile(r"[\W_]*\Z")  # frames, rules and bullets say nothing about a session
_LONGEST_LINE = 200


def raw(record: SessionRecord) -> bytes:
    """Every byte the session still holds, from a safe boundary on."""
    if record.alive:
        try:
            return b"".join(_from_holder(record))
        except NotFound:
            pass  # it ended this moment
    return _from_tail(record)


def _from_holder(record: SessionRecord) -> Iterator[bytes]:
    from iai_mcp.terminal.holder.output import safe_offset  # a list needs none of the holder

    deadline = time.monotonic() + _DEADLINE
    with HolderConnection(record.socket) as connection:
        state = connection.attach(wire.WHOLE)
        missing = state.head - state.position
        first = state.position > 0
        while missing > 0:
            try:
                frame = connection.receive(deadline)
            except TimeoutError as silent:
                raise PtyFailed("the session's holder does not answer") from silent
            if frame is None or frame[0] == wire.LOST:
                return  # it floods: what came before is still in order
            if frame[0] == wire.OUTPUT:
                missing -= len(frame[1])
                yield frame[1][safe_offset(frame[1]) :] if first else frame[1]
                first = False


def _from_tail(record: SessionRecord) -> bytes:
    path = layout.tail_path(record.id)
    if not path or not layout.is_ours(os.path.dirname(path)) or not os.path.exists(path):
        return b""
    with open(path, "rb") as source:
        return source.read()


def rest(record: SessionRecord, position: int) -> bytes:
    """What an ended session printed from the byte of that number on, as far as it was kept."""
    missing = max(0, (record.head or 0) - position)
    return _from_tail(record)[-missing:] if missing else b""


class OutputPreview(NamedTuple):
    """What a list shows of a session that runs."""

    status: str
    source: str
    since_ms: int
    clients: int
    last_line: str
    said: str


def previews(records: Iterable[SessionRecord]) -> dict[str, OutputPreview]:
    """A preview of every session whose holder answers in time, by id."""
    answers: dict[str, OutputPreview] = {}
    question = wire.frame(wire.STATE, wire.pack((_TAIL, 4)))
    deadline = time.monotonic() + _PREVIEW_DEADLINE
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

    def take(self, connection: socket.socket, answers: dict[str, OutputPreview]) -> bool:
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


def _preview(state: bytes, tail: bytes) -> OutputPreview | None:
    try:
        said = json.loads(state)
        status, source = str(said["status"]), str(said["source"])
        words = bytes.fromhex(said.get("said", "")).decode("utf-8", "replace")
        since, clients = int(said["since"]), int(said["clients"])
        return OutputPreview(status, source, since, clients, last_line(tail), words[:_LONGEST_LINE])
    except (ValueError, KeyError, TypeError):
        return None  # a holder of another version: its files must do


def _connect(path: str, question: bytes) -> socket.socket | None:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        # A Unix socket connects at once or not at all.
        connection.settimeout(_PREVIEW_DEADLINE)
        peers.connect(connection, path)
        connection.sendall(question)
    except OSError:
        connection.close()
        return None
    connection.setblocking(False)
    return connection


def last_line(tail: bytes) -> str:
    """The last line of `tail` that says something. Quick, for a hundred sessions at once.

    Cursor moves to another line count as line breaks, a carriage return overwrites; frames and rules of
    text interfaces are passed over.
    """
    row = b""

    def gap(move: re.Match[bytes]) -> bytes:
        """A move within a line is a blank, any other a new line."""
        nonlocal row
        before, final = row, move["final"]
        if final in _SIDEWAYS:
            return b" "
        row = move["row"] if final in (b"H", b"f", b"d") else b""
        return b" " if row and row == before else b"\n"

    text = _SEQUENCE.sub(b"", _MOVES.sub(gap, tail))
    fallback = ""
    for raw in reversed(text.split(b"\n")):
        shown = _LEFTOVERS.sub(b"", raw.rstrip(b"\r").rsplit(b"\r", 1)[-1])
        line = shown.decode("utf-8", "replace").strip()
        if not line:
            continue
        if not _DECORATION.match(line):
            return line[:_LONGEST_LINE]
        fallback = fallback or line
    return fallback[:_LONGEST_LINE]
