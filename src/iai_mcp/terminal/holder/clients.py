"""One connected client: what it sent, what it has still to get, and how far behind it is.

Output is sent straight from the ring; a client is a position in it. Nothing is queued per
client but the rest of one frame.
"""

from iai_mcp.terminal import frames as wire
from iai_mcp.terminal.holder.c_modules import socket
from iai_mcp.terminal.holder.output import Ring

_READ_SIZE = 65_536
_SHARE = 262_144  # bytes sent to one client at a time: others, and the keyboard, get their turn
# A client that takes less than this while the program is held up for it is slow: it is left
# behind and resynchronised. Every terminal on this machine takes several times as much.
_PACE = 2_000_000  # bytes per second
_PATIENCE = 0.1  # seconds a client may take nothing: on a busy machine it may have to wait its turn


class Client:
    """A connection. `cursor` is its position in the output, None until it attached."""

    __slots__ = (
        "_decoder",
        "_held_from",
        "_held_since",
        "_rest",
        "connection",
        "cursor",
        "descriptor",
        "size",
        "slow",
        "watching",
    )

    def __init__(self, connection: "socket.socket") -> None:
        self.connection = connection
        self.descriptor = connection.fileno()
        self.cursor: int | None = None
        self.size: tuple[int, int] | None = None
        self.slow = False
        self.watching = False
        self._decoder = wire.FrameDecoder()
        self._rest = memoryview(b"")
        self._held_since = 0.0
        self._held_from = 0

    def receive(self) -> list[tuple[int, bytes]] | None:
        """The frames that came, or None when the client has gone."""
        try:
            data = self.connection.recv(_READ_SIZE)
        except BlockingIOError:
            return []
        except OSError:
            return None
        return self._decoder.feed(data) if data else None

    def say(self, kind: int, payload: bytes = b"") -> None:
        """Put a frame in front of the next output."""
        self._rest = memoryview(bytes(self._rest) + wire.frame(kind, payload))

    def behind(self, ring: Ring) -> int:
        """How many bytes of output it has still to get."""
        return 0 if self.cursor is None else ring.head - self.cursor

    def wants_room(self, ring: Ring) -> bool:
        """Whether there is anything to send."""
        return bool(self._rest) or self.behind(ring) > 0

    def pump(self, ring: Ring) -> bool:
        """Send what the socket takes; False when the client has gone.

        Stops at output that has left the ring (see `lapped`), and after a fair share.
        """
        begin = self.cursor or 0
        try:
            while (self.cursor or 0) - begin < _SHARE:
                if self._rest:
                    sent = self.connection.send(self._rest)
                    self._rest = self._rest[sent:]
                elif self.behind(ring) > 0 and not self.lapped(ring):
                    self._send_output(ring)
                else:
                    break
        except BlockingIOError:
            return True
        except OSError:
            return False
        return True

    def lapped(self, ring: Ring) -> bool:
        """Whether its next output has left the ring, and it has taken all it was sent before."""
        return not self._rest and self.cursor is not None and self.cursor < ring.start

    def _send_output(self, ring: Ring) -> None:
        assert self.cursor is not None  # noqa: S101 - behind() is 0 without a cursor
        view = ring.view(self.cursor, wire.MAX_PAYLOAD)
        head = wire.header(wire.OUTPUT, len(view))
        sent = self.connection.sendmsg([head, view])
        self.cursor += len(view)
        if sent < len(head) + len(view):
            # The ring moves on below a frame that was begun: keep the rest of this one.
            self._rest = memoryview((head + bytes(view))[sent:])

    def holds_up(self, ring: Ring, now: float) -> bool:
        """Whether the program should wait a moment for this client.

        Only one that is far behind and takes output at a good pace is waited for, as a
        terminal would be; one that does not is slow until it has caught up.
        """
        behind = self.behind(ring)
        if behind < ring.size // 2:
            self._held_since = 0.0
            self.slow = self.slow and behind > 0
            return False
        if self.slow:
            return False
        assert self.cursor is not None  # noqa: S101 - it is behind, so it has a cursor
        if not self._held_since:
            self._held_since, self._held_from = now, self.cursor
            return True
        waited = now - self._held_since
        self.slow = self.cursor - self._held_from < (waited - _PATIENCE) * _PACE
        return not self.slow
