"""Moves bytes between stdin, stdout and the daemon's socket: one thread, bounded buffers.

`_socket` instead of `socket`: the public module costs 4 ms and half a megabyte, and every
sub-agent of every host starts a bridge. The host's descriptors are never made non-blocking,
because that would outlive us on a terminal we share: instead at most PIPE_BUF bytes are
written after `poll` has promised room for them.
"""

import os
import select
import time
from _socket import AF_UNIX, SOCK_STREAM, socket

from iai_mcp import paths
from iai_mcp.bridge.mcp_session import AGENT_CONNECTION, HINT, BridgeSession, Wires
from iai_mcp.protocol import peers
from iai_mcp.protocol.frames import LineDecoder

_STDIN, _STDOUT = 0, 1
_CHUNK = 64 * 1024
# Above this nothing more is read from the side that feeds the buffer. A flood of short lines
# costs several times its bytes in bookkeeping, so this is well below what we may weigh.
_ENOUGH = 256 * 1024
# How long answers are waited for once the host has closed our stdin.
_LAST_ANSWERS_SECONDS = 10.0
# A listening queue that is full for this long belongs to a daemon that does not accept.
_DIAL_SECONDS = 1.0
_BROKEN = select.POLLERR | select.POLLHUP | select.POLLNVAL


class _Outbox:
    """Lines on their way out, never copied."""

    def __init__(self) -> None:
        self.size = 0
        self._lines: list[bytes] = []
        self._sent_of_first = 0

    def put(self, line: bytes) -> None:
        self._lines.append(line)
        self.size += len(line)

    def head(self, limit: int) -> memoryview:
        return memoryview(self._lines[0])[self._sent_of_first : self._sent_of_first + limit]

    def sent(self, count: int) -> None:
        self.size -= count
        self._sent_of_first += count
        if self._sent_of_first == len(self._lines[0]):
            del self._lines[0]
            self._sent_of_first = 0

    def taken(self) -> list[bytes]:
        """Every line that did not go out whole; none is left."""
        lines, self._lines = self._lines, []
        self.size = self._sent_of_first = 0
        return lines


class HostGoneError(Exception):
    """Nobody reads our stdout any more."""


class Pump(Wires):
    """The bridge's only loop."""

    def __init__(self, context: dict[str, str]) -> None:
        self._conversation = BridgeSession(self, context)
        self._for_host = _Outbox()
        self._for_daemon = _Outbox()
        self._host_lines = LineDecoder()
        self._daemon_lines = LineDecoder()
        self._daemon: socket | None = None
        self._deaf = False  # the daemon still speaks, but hears no more
        self._ends_at: float | None = None

    def connected(self) -> bool:
        return self._daemon is not None

    def dial(self) -> str:
        path = paths.socket_path()
        if problem := paths.socket_path_problem(path):
            return problem
        daemon = socket(AF_UNIX, SOCK_STREAM)
        daemon.setblocking(False)
        try:
            _connect(daemon, path)
        except paths.NotOurs as stranger:
            daemon.close()
            return stranger.sentence
        except OSError:
            daemon.close()
            missing = not os.path.exists(path)
            return f"the memory daemon {'is not running' if missing else 'does not answer'}; {HINT}"
        self._daemon = daemon
        self._deaf = False
        self._daemon_lines = LineDecoder()
        self._for_daemon.put(AGENT_CONNECTION)
        return ""

    def hang_up(self) -> None:
        if self._daemon is not None:
            self._daemon.close()
            self._daemon = None
            self._for_daemon.taken()

    def to_daemon(self, line: bytes) -> None:
        self._for_daemon.put(line)

    def to_host(self, line: bytes) -> None:
        self._for_host.put(line)

    def run(self) -> None:
        """Until the host has closed our stdin and has what it asked for, or is gone."""
        try:
            while not self._finished():
                self._turn()
        except HostGoneError:
            pass
        finally:
            self.hang_up()

    def _finished(self) -> bool:
        if self._ends_at is None:
            return False
        waiting = self._conversation.in_flight or self._for_host.size
        return not waiting or time.monotonic() >= self._ends_at

    def _turn(self) -> None:
        ready = dict(self._interests().poll(self._timeout()))
        # The daemon first: if it has gone, the host's next call must find that out before.
        if self._daemon is not None and (events := ready.get(self._daemon.fileno())):
            self._serve_daemon(events)
        if events := ready.get(_STDOUT):
            self._serve_stdout(events)
        if _STDIN in ready:
            self._serve_stdin()
        deadline = self._conversation.next_deadline()
        if deadline is not None and (now := time.monotonic()) >= deadline:
            self._conversation.expire(now)

    def _interests(self) -> "select.poll":
        poll = select.poll()
        # Without interest in writing, poll still tells when the reader has gone.
        poll.register(_STDOUT, select.POLLOUT if self._for_host.size else 0)
        host_keeps_up = self._for_host.size < _ENOUGH
        if self._ends_at is None and host_keeps_up and self._for_daemon.size < _ENOUGH:
            poll.register(_STDIN, select.POLLIN)
        if self._daemon is not None:
            wanted = select.POLLIN if host_keeps_up else 0
            wanted |= select.POLLOUT if self._for_daemon.size and not self._deaf else 0
            if wanted:
                poll.register(self._daemon.fileno(), wanted)
        return poll

    def _timeout(self) -> float | None:
        moments = [self._conversation.next_deadline(), self._ends_at]
        soonest = min((m for m in moments if m is not None), default=None)
        return None if soonest is None else max(0.0, soonest - time.monotonic()) * 1000 + 1

    def _serve_stdin(self) -> None:
        try:
            data = os.read(_STDIN, _CHUNK)
        except OSError:
            data = b""
        now = time.monotonic()
        lines = self._host_lines.feed(data) if data else self._host_lines.finish()
        for line in lines:
            self._conversation.from_host(line, now)
        if not data:
            self._ends_at = now + _LAST_ANSWERS_SECONDS

    def _serve_stdout(self, events: int) -> None:
        if events & select.POLLOUT and self._for_host.size:
            try:
                self._for_host.sent(os.write(_STDOUT, self._for_host.head(select.PIPE_BUF)))
            except OSError:
                raise HostGoneError from None
        elif events & _BROKEN:
            raise HostGoneError

    def _serve_daemon(self, events: int) -> None:
        assert self._daemon is not None  # noqa: S101 - the caller has just looked
        if events & (select.POLLIN | _BROKEN) and not self._read_daemon(self._daemon):
            unheard = self._for_daemon.taken()
            self.hang_up()
            self._conversation.daemon_gone(unheard=unheard, now=time.monotonic())
            return
        writable = events & select.POLLOUT and not self._deaf
        if writable and self._for_daemon.size and self._daemon is not None:
            self._write_daemon(self._daemon)

    def _read_daemon(self, daemon: socket) -> bool:
        try:
            data = daemon.recv(_CHUNK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        for line in self._daemon_lines.feed(data):
            if self._daemon is daemon:
                self._conversation.from_daemon(line)
        return bool(data)

    def _write_daemon(self, daemon: socket) -> None:
        try:
            self._for_daemon.sent(daemon.send(self._for_daemon.head(_CHUNK)))
        except BlockingIOError:
            return
        except OSError:
            # It hears no more; what it still has to say is read until its end of file.
            self._deaf = True


def _connect(daemon: socket, path: str) -> None:
    gives_up_at = time.monotonic() + _DIAL_SECONDS
    while True:
        try:
            peers.connect(daemon, path)
        except BlockingIOError:
            # Linux says this when many dial at once and the listening queue is full.
            if time.monotonic() >= gives_up_at:
                raise
            time.sleep(0.01)
        else:
            return
