"""The holder's life: one loop over the terminal, the listening socket and the clients.

Per piece of output it does one system call and moves one number. Everything else (modes,
status, files, timers) happens on a tick, or when somebody asks.
"""

import os
import select
import termios
import time

from iai_mcp.protocol.peers import peer_uid
from iai_mcp.terminal import frames as wire
from iai_mcp.terminal.holder import output, requests, termination
from iai_mcp.terminal.holder.c_modules import signal, socket
from iai_mcp.terminal.holder.clients import Client
from iai_mcp.terminal.holder.output import Modes, Ring
from iai_mcp.terminal.holder.startup import SpawnRequest
from iai_mcp.terminal.holder.status import QUIET, SILENT_START, SessionJournal, Status, rang

_READS = 16  # reads of the terminal between two looks at the clients
_FULL_READ = 2048  # the kernel gives 4095 bytes at once while there are so many
_QUESTIONS = 8192  # who asks something waits for the answer: it is near the end of the output
_PAUSE = 0.002  # seconds without output after which a program may be waiting for an answer
# Output that may pile up before its modes are looked at. The kernel holds 12 KB for us: the
# program writes on while we look at a little, and would wait while we look at much.
_SCAN_EVERY = 16_384
_TICK = 0.25  # seconds between looks at files and clocks while something happens
_IDLE_TICK = 1.0  # and while nothing does
_ASLEEP, _ASLEEP_TICK = 30.0, 2.0  # and when nothing has for long
_INPUT_LIMIT = 262_144  # typed bytes that may wait for a program that does not read
_NEWS = ("waiting", "idle", "exited")  # what people want to be told about
_REDRAW_GAP = 0.05  # seconds a program gets to see the smaller window before its own comes back


class Holder:
    """One terminal, its program, its ring and its clients."""

    def __init__(
        self,
        order: SpawnRequest,
        journal: SessionJournal,
        terminal: tuple[int, int, str],
        listener: "socket.socket",
    ) -> None:
        self.order = order
        self.child, self.master, self.terminal_name = terminal
        self.listener = listener
        self.ring = Ring(order.ring_size)
        self.modes = Modes()
        self.journal = journal
        self.status = Status(self.journal, prompted=b"IAI_MCP_PROMPTED" in order.environment)
        self.said = b""  # what the agent said last, by its hooks; in this memory and nowhere else
        self.clients: dict[int, Client] = {}
        self.size = (order.rows, order.cols)
        # (bytes still to be typed, who is told when they were, by which request)
        self.typed: list[tuple[memoryview, Client | None, int]] = []
        self.last_output = time.monotonic()
        self._poll = select.poll()
        self._watched: dict[int, int] = {}
        self.exit: tuple[int, int] | None = None
        self._kill_at = 0.0
        self._redraw_at = 0.0
        self._next_tick = 0.0
        self._seen_at_tick = 0
        self._questions_from = 0  # output from here on was not yet searched for questions
        self.terminal_open = True
        self._wake = -1

    def run(self) -> None:
        """Serve until the program has ended and its end was told."""
        self._wake = _wake_on_child_end()
        self._reap()  # it may have ended before anybody listened
        self._watch(self._wake, select.POLLIN)
        self._watch(self.listener.fileno(), select.POLLIN)
        if self.order.tethered:
            self._watch(0, 0)  # only its hang-up matters
        while self.exit is None or self._survivors():
            self._turn()
        termination.farewell(self, *self.exit)

    def _turn(self) -> None:
        now = time.monotonic()
        self._watch_everything(now)
        ready = self._poll.poll(self._timeout(now))
        while ready == [(self.master, select.POLLIN)] and self._nothing_else(now):
            self.read_terminal()
            now = time.monotonic()
            ready = self._poll.poll(_PAUSE * 1000)
        for descriptor, events in ready:
            self._serve(descriptor, events)
        if not ready:
            self._answer_questions()
        self._after_events(time.monotonic())

    def _nothing_else(self, now: float) -> bool:
        """Whether nobody is connected and nothing is due: then a flood is only read."""
        return not self.clients and not self._kill_at and now < self._next_tick

    def _serve(self, descriptor: int, events: int) -> None:
        if descriptor == self.master:
            if events & select.POLLOUT:
                self._type()
            if events & ~select.POLLOUT:
                self.read_terminal()
        elif descriptor == self._wake:
            os.read(self._wake, 4096)
            self._reap()
        elif descriptor == self.listener.fileno():
            self._accept()
        elif descriptor in self.clients:
            client = self.clients[descriptor]
            if events & ~select.POLLOUT:
                self._hear(client)
        elif descriptor == 0:
            self._watch(0, None)
            self.kill()

    # --- the terminal

    def read_terminal(self) -> None:
        ring = self.ring
        budget = max(1, ring.size // 8)
        for _ in range(_READS):
            try:
                count = os.readv(self.master, [ring.window()])
            except BlockingIOError:
                break
            except OSError:
                count = 0  # every process has closed the terminal
            if not count:
                self.terminal_open = False
                break
            ring.advance(count)
            budget -= count
            if count < _FULL_READ or budget <= 0:
                break  # there is hardly more; the next round would tell
        self.touch()
        if self.clients and self._is_attached():
            self._questions_from = ring.head  # a real terminal answers for itself
        if ring.head - self.modes.scanned > _SCAN_EVERY:
            self.modes.catch_up(ring)

    def _answer_questions(self) -> None:
        """In a pause: what the program asked its terminal while no real one was attached."""
        ring = self.ring
        begin = max(self._questions_from, ring.head - _QUESTIONS, ring.start)
        if begin < ring.head:
            reply = output.answer(ring.copy(begin, ring.head))
            if reply:
                self.type(reply)
        self._questions_from = ring.head

    def _is_attached(self) -> bool:
        return any(client.size for client in self.clients.values())

    def touch(self) -> None:
        """Something happened: count the quiet from now, and look at the files soon."""
        self.last_output = time.monotonic()
        self._next_tick = min(self._next_tick, self.last_output + _TICK)

    def _type(self) -> None:
        """Write what waits to be typed, as much as the terminal takes."""
        while self.typed:
            rest, client, request = self.typed[0]
            try:
                count = os.write(self.master, rest)
            except BlockingIOError:
                return
            except OSError:
                self.typed.clear()
                return
            if count < len(rest):
                self.typed[0] = (rest[count:], client, request)
                return
            del self.typed[0]
            if client is not None and request and client.descriptor in self.clients:
                client.say(wire.DONE, wire.pack((request, 4)))

    def type(self, data: bytes, client: Client | None = None, request: int = 0) -> None:
        """Queue `data` as typed, and write what can be written at once."""
        self.typed.append((memoryview(data), client, request))
        self._type()

    def resize(self, size: tuple[int, int]) -> None:
        """Give the terminal this size; the kernel tells the program when it changed."""
        self.size = size
        self._redraw_at = 0.0
        self._set_window(size)

    def _set_window(self, size: tuple[int, int]) -> None:
        try:
            termios.tcsetwinsize(self.master, size)
        except termios.error:
            self.terminal_open = False

    def ask_for_redraw(self) -> None:
        """Show the program a smaller window for a moment: many redraw only if the size changed."""
        rows, cols = self.size
        self._set_window((max(1, rows - 1), cols))
        self._redraw_at = time.monotonic() + _REDRAW_GAP

    # --- clients

    def _accept(self) -> None:
        try:
            descriptor, _ = self.listener._accept()  # type: ignore[attr-defined]  # the C socket's
        except OSError:
            return  # it went away again, or there are no descriptors left for it
        connection = socket.socket(fileno=descriptor)
        connection.setblocking(False)
        if peer_uid(connection) != os.geteuid():
            connection.close()
            return
        self.clients[descriptor] = Client(connection)

    def _hear(self, client: Client) -> None:
        try:
            frames = client.receive()
            if frames is None:
                self.drop(client)
                return
            for kind, payload in frames:
                requests.handle(self, client, kind, payload)
        except wire.FrameError as bad:
            client.say(wire.REFUSED, str(bad).encode())
            client.pump(self.ring)
            self.drop(client)

    def drop(self, client: Client) -> None:
        """Forget a client; the terminal takes the size of the newest one left."""
        if self.clients.pop(client.descriptor, None) is None:
            return
        self._watch(client.descriptor, None)
        client.connection.close()
        sizes = [other.size for other in self.clients.values() if other.size]
        if client.size and sizes and sizes[-1] != self.size:
            self.resize(sizes[-1])

    def feed_clients(self) -> None:
        for client in list(self.clients.values()):
            alive = client.pump(self.ring)
            if alive and client.lapped(self.ring):
                self._resynchronise(client)
                alive = client.pump(self.ring)
            if not alive:
                self.drop(client)

    def _resynchronise(self, client: Client) -> None:
        """A client that fell a whole ring behind goes on with the current screen, and is told."""
        assert client.cursor is not None  # noqa: S101 - only attached clients fall behind
        self.modes.catch_up(self.ring)
        position, _ = output.screen_start(self.ring, self.modes)
        skipped = position - client.cursor
        client.cursor = position
        client.say(wire.LOST, wire.pack((skipped, 8), (position, 8), (self.ring.head, 8)))
        client.say(wire.STATUS, requests.describe(self, position))

    # --- what is waited for

    def _watch(self, descriptor: int, events: int | None) -> None:
        if events is None:
            if self._watched.pop(descriptor, None) is not None:
                self._poll.unregister(descriptor)
        elif self._watched.get(descriptor) != events:
            self._poll.register(descriptor, events)
            self._watched[descriptor] = events

    def _watch_everything(self, now: float) -> None:
        ring = self.ring
        for client in self.clients.values():
            # Input has a bound: clients wait when the program does not read.
            hears = (
                0 if len(self.typed) > 1 and self._typed_size() > _INPUT_LIMIT else select.POLLIN
            )
            wants = select.POLLOUT if client.wants_room(ring) else 0
            self._watch(client.descriptor, hears | wants)
        if not self.terminal_open:
            self._watch(self.master, None)
            return
        # Every client's pace is measured, also after the first that holds us up.
        held_up = [client for client in self.clients.values() if client.holds_up(ring, now)]
        events = (0 if held_up else select.POLLIN) | (select.POLLOUT if self.typed else 0)
        self._watch(self.master, events or None)

    def _typed_size(self) -> int:
        return sum(len(rest) for rest, _, _ in self.typed)

    def _timeout(self, now: float) -> float:
        """Milliseconds until something is due."""
        due = [self._next_tick]
        due += [at for at in (self._kill_at, self._redraw_at) if at]
        if self.terminal_open and not self._watched.get(self.master, 0) & select.POLLIN:
            due.append(now + 0.005)  # look again soon whether the one we wait for keeps its pace
        if self._questions_from < self.ring.head:
            due.append(self.last_output + _PAUSE)
        if self.exit is not None:
            due.append(now + 0.02)
        return max(0.0, min(due) - now) * 1000

    def _after_events(self, now: float) -> None:
        if self._redraw_at and now >= self._redraw_at:
            self._redraw_at = 0.0
            self._set_window(self.size)
        if self._kill_at and now >= self._kill_at:
            self._kill_at = 0.0
            termination.kill_all(self.child, self.master)
        self.feed_clients()
        if now >= self._next_tick:
            self._tick(now)

    def _tick(self, now: float) -> None:
        """Files and clocks: the hooks' word, the guess, whether our files are still there."""
        self.status.read_hooks()
        ring = self.ring
        quiet = now - self.last_output
        if ring.head != self._seen_at_tick:
            self.status.guess("running")
        elif quiet >= (QUIET if ring.head else SILENT_START) and not self._is_at_work():
            tail = ring.copy(max(ring.start, ring.head - 4096), ring.head)
            self.status.guess("waiting" if rang(tail) else "idle")
        self._seen_at_tick = ring.head
        self.notify()
        if not self.journal.exists() and not self._kill_at and self.exit is None:
            self.kill()
        watched = any(client.watching for client in self.clients.values())
        if watched or quiet < 2 * QUIET:
            self._next_tick = now + _TICK
        else:
            self._next_tick = now + (_IDLE_TICK if quiet < _ASLEEP else _ASLEEP_TICK)

    def _is_at_work(self) -> bool:
        """Whether a quiet program is none at rest: a shell whose command prints nothing.

        A command that takes keys as they come is one that somebody types into: `vim` may rest.
        """
        if self.status.value not in ("starting", "running"):
            return True
        front = termination.foreground(self.master)
        return front not in (0, self.child) and bool(requests.line_mode(self))

    def notify(self) -> None:
        """Tell those who watch, and run the person's own command, for every change of status."""
        changes, self.status.on_change = self.status.on_change, []
        for client in self.clients.values():
            if changes and client.watching:
                client.say(wire.STATUS, requests.describe(self))
        if not self.order.notify:
            return
        for value in changes:
            if value not in _NEWS:
                continue
            environment = dict(self.order.environment)
            environment[b"IAI_MCP_SESSION_STATUS"] = value.encode()
            command = self.order.notify
            try:
                os.posix_spawnp(command[0], command, environment)
            except OSError:
                self.journal.event("NotificationFailed", value, "notify")

    # --- the end

    def kill(self) -> None:
        """Hang up now, SIGKILL what is left half a second later."""
        if self.exit is None and not self._kill_at:
            termination.hang_up(self.child, self.master)
            self._kill_at = time.monotonic() + termination.GRACE

    def _reap(self) -> None:
        while True:
            try:
                pid, result = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self.child:
                number = os.WTERMSIG(result) if os.WIFSIGNALED(result) else 0
                code = 128 + number if number else os.WEXITSTATUS(result)
                self.exit = (code, number)

    def _survivors(self) -> bool:
        """Whether a killed program left processes that still have their half second."""
        return bool(self._kill_at) and bool(termination.members(self.child))


def _wake_on_child_end() -> int:
    """A descriptor that becomes readable when a child ends."""
    read, write = os.pipe()
    os.set_blocking(read, False)
    os.set_blocking(write, False)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    return read
