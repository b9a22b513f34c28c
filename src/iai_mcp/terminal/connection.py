"""A client's end of a holder's socket: blocking, with a deadline for every answer."""

import json
import os
import select
import socket
import time
from typing import NamedTuple

from iai_mcp.domain.errors import NotFound, PtyFailed
from iai_mcp.paths import NotOurs
from iai_mcp.protocol import peers
from iai_mcp.terminal import frames as wire

_READ_SIZE = 262_144


class HolderState(NamedTuple):
    """What a holder says about its terminal at one moment."""

    status: str
    source: str
    since_ms: int
    child: int
    terminal: str
    rows: int
    cols: int
    start: int
    head: int
    position: int
    quiet_ms: int
    clients: int
    line_mode: bool
    paste: bool
    alternate: bool
    keypad: bool
    keyboard: int
    modes: dict[int, bool]
    spoken: bool

    @classmethod
    def parse(cls, payload: bytes) -> "HolderState":
        try:
            said = json.loads(payload)
            return cls(
                status=str(said["status"]),
                source=str(said["source"]),
                since_ms=int(said["since"]),
                child=int(said["child"]),
                terminal=str(said["terminal"]),
                rows=int(said["rows"]),
                cols=int(said["cols"]),
                start=int(said["start"]),
                head=int(said["head"]),
                position=int(said["position"]),
                quiet_ms=int(said["quiet_ms"]),
                clients=int(said["clients"]),
                line_mode=bool(said["line_mode"]),
                paste=bool(said["paste"]),
                alternate=bool(said["alternate"]),
                keypad=bool(said["keypad"]),
                keyboard=int(said["keyboard"]),
                modes={int(mode): bool(on) for mode, on in said["modes"].items()},
                # A holder of a version that does not tell: its program was ready long ago.
                spoken=bool(said.get("spoken", 1)),
            )
        except (ValueError, KeyError, TypeError, AttributeError) as bad:
            raise PtyFailed(
                "the session was started by another version of iai-mcp: end it with that one"
            ) from bad


class HolderConnection:
    """One connection to one holder; over `joined`, if that leads to it already."""

    def __init__(
        self, path: str, timeout: float = 5.0, joined: socket.socket | None = None
    ) -> None:
        self.timeout = timeout
        self._buffer = bytearray(_READ_SIZE)
        self._decoder = wire.FrameDecoder()
        self._frames: list[tuple[int, bytes]] = []
        self.closed = False
        self.socket = joined or socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(timeout)
        if joined is not None:
            return
        try:
            peers.connect(self.socket, path, "start the session anew")
        except FileNotFoundError as gone:
            self.socket.close()
            raise NotFound("the session has ended") from gone
        except NotOurs as stranger:
            self.socket.close()
            raise PtyFailed(stranger.sentence) from stranger
        except OSError as refused:
            self.socket.close()
            raise PtyFailed(
                f"the session does not answer ({os.strerror(refused.errno or 0)})"
            ) from refused

    def __enter__(self) -> "HolderConnection":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.socket.close()

    def send(self, kind: int, payload: bytes = b"") -> None:
        try:
            self.socket.sendall(wire.frame(kind, payload))
        except OSError as gone:
            raise PtyFailed("the session's holder has gone") from gone

    def receive(self, deadline: float) -> tuple[int, bytes] | None:
        """The next frame; None at the end of the connection.

        Raises:
            TimeoutError: nothing came until `deadline` (monotonic).
        """
        while not self._frames:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.socket], [], [], left)[0]:
                raise TimeoutError("the session's holder is silent")
            try:
                data = self._read()
            except ConnectionError:
                data = b""
            if not data:
                return None
            self._frames = self._decoder.feed(data)[::-1]
        kind, payload = self._frames.pop()
        if kind == wire.REFUSED:
            raise PtyFailed(f"the session refused: {payload.decode('utf-8', 'replace')}")
        return kind, payload

    def receive_all(self) -> list[tuple[int, bytes]]:
        """Every frame that came with an earlier answer, else those of the next bytes."""
        if self._frames:
            earlier, self._frames = self._frames[::-1], []
            return earlier
        try:
            data = self._read()
        except ConnectionError:
            data = b""
        self.closed = not data
        return self._decoder.feed(data)

    def _read(self) -> bytes:
        """The next bytes. A large buffer that is made for each letter costs more than the letter."""
        count = self.socket.recv_into(self._buffer)
        return bytes(memoryview(self._buffer)[:count])

    def has_frames(self) -> bool:
        """Whether frames came along with an earlier answer: no poll tells of those."""
        return bool(self._frames)

    def expect(self, kind: int) -> bytes:
        """The payload of the next frame of this kind; frames of other kinds are passed over.

        Raises:
            PtyFailed: the holder went away or said nothing for too long.
        """
        deadline = time.monotonic() + self.timeout
        try:
            while (frame := self.receive(deadline)) is not None:
                if frame[0] == kind:
                    return frame[1]
        except TimeoutError as silent:
            raise PtyFailed("the session's holder does not answer: run iai-mcp doctor") from silent
        raise PtyFailed("the session has ended")

    def state(self) -> HolderState:
        self.send(wire.STATE, wire.pack((0, 4)))
        return HolderState.parse(self.expect(wire.STATUS))

    def attach(self, mode: int, rows: int = 0, cols: int = 0) -> HolderState:
        """Begin the stream of output; the state says at which position it begins."""
        self.send(wire.ATTACH, wire.pack((mode, 1), (rows, 2), (cols, 2)))
        return HolderState.parse(self.expect(wire.STATUS))

    def resume(self, position: int, rows: int = 0, cols: int = 0) -> HolderState:
        """The same from the byte of that number on, for who has all before it.

        A later `position` in the state means that what lies between is no longer held.
        """
        fields = wire.pack((wire.FROM, 1), (rows, 2), (cols, 2), (position, 8))
        self.send(wire.ATTACH, fields)
        return HolderState.parse(self.expect(wire.STATUS))

    def type(self, data: bytes) -> None:
        """Have `data` typed, and wait until the terminal took all of it."""
        size = wire.MAX_PAYLOAD - 4
        for at in range(0, len(data), size):
            self.send(wire.INPUT, wire.pack((1, 4)) + data[at : at + size])
            self.expect(wire.DONE)
