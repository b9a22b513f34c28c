"""Types a message into a session so that the program gets it as one message, and says that it did.

Programs with an interface of their own take a burst of bytes for a paste, and an Enter in
it for a line break: the text goes in first, marked as a paste where the program asked for
that, and Enter follows when the text has been read.
"""

import contextlib
import fcntl
import os
import select
import time
from collections.abc import Iterator
from dataclasses import dataclass

from iai_mcp.domain.errors import Busy, InvalidInput, NotFound
from iai_mcp.terminal import frames as wire
from iai_mcp.terminal import layout
from iai_mcp.terminal.connection import HolderConnection, HolderState
from iai_mcp.terminal.records import SessionRecord

_PASTE_BEGIN, _PASTE_END = b"\x1b[200~", b"\x1b[201~"
_LINE_LIMIT = 4095  # what the kernel keeps of one line in line mode, its end included
# A program that has just started may throw away what was typed when it sets up its terminal:
# in its first seconds, wait until it has been quiet for a moment. The agent programs we know
# take every key themselves once their prompt is there: until then they are not ready.
_YOUNG, _YOUNG_HOST = 3.0, 5.0
_SETTLED = 0.15
_SILENT, _SILENT_AGENT = 0.5, 2.0  # how long one that prints nothing may still be loading
# Interfaces take an Enter right behind a paste for a part of it: within 40 ms of handling it
# (Gemini CLI), or within 120 ms of its last letter (Codex). So: let it show that it handled the
# text, then let it rest, and for longer where it was slow to show it: the machine is busy, and
# its timers are late. One that shows nothing, or never rests, is not waited for any longer.
_REACTION_LIMIT, _PASTE_REACTION_LIMIT = 0.5, 2.0
_REST, _PASTE_REST = 0.15, 0.35
_LATE, _LONGEST_REST = 6, 2.0
_RESTLESS = 0.75
_LOOK = 0.004  # seconds between two looks
_CURSOR = 25  # the terminal's mode that shows it


@dataclass(frozen=True, slots=True)
class Delivery:
    """How a message went in. `read` is None where it can not be told."""

    typed: int
    pasted: bool
    read: bool | None


def deliver(
    record: SessionRecord, text: str, *, enter: bool = True, timeout: float = 5.0
) -> Delivery:
    """Type `text` and Enter; returns when the terminal took all of it.

    Raises:
        NotFound: the session has ended.
        InvalidInput: the program reads lines, and one is longer than a terminal keeps.
        PtyFailed: the program does not read, and the terminal is full.
    """
    if not record.alive:
        raise NotFound(f"session '{record.id}' has ended: nobody reads what is sent to it")
    turn = _turn(record.id, time.monotonic() + timeout)
    with turn, HolderConnection(record.socket, timeout) as connection:
        state = _ready(connection, record)
        deadline = time.monotonic() + timeout
        body = _body(text, state)
        if body:
            connection.type(body)
        read = _wait_until_read(state.terminal, deadline)
        if enter:
            if body and not state.line_mode:
                _let_it_settle(connection, state)
            connection.type(b"\r")
            connection.send(wire.SUBMITTED)
            read = _wait_until_read(state.terminal, deadline)
            connection.state()  # answered in order: the presumption is in force when we return
    return Delivery(len(body) + enter, state.paste, read)


def await_prompt(record: SessionRecord, timeout: float) -> None:
    """Return when the agent's program reads messages, and is not asking something else.

    Its hooks tell: one has spoken when its conversation began, and says `waiting` while it asks for
    permission. Codex begins a conversation with the first message only; its prompt has a cursor, and
    its questions have none. Of programs without such hooks nothing is known.

    Raises:
        Busy: it was not ready within `timeout` seconds.
        NotFound: the session has ended.
    """
    if not _tells_its_start(record.label.host):
        return
    deadline = time.monotonic() + timeout
    with HolderConnection(record.socket, timeout) as connection:
        while not _reads_messages(connection.state()):
            if time.monotonic() > deadline:
                raise Busy(
                    f"{record.label.agent_name or 'it'} is not ready to read: it is starting, or asks "
                    f"something. 'iai-mcp session attach {record.id}' shows it; 'iai-mcp session send' "
                    "types whatever it shows"
                )
            time.sleep(_LOOK * 5)


def _reads_messages(state: HolderState) -> bool:
    shows_cursor = state.head > 0 and not state.line_mode and state.modes.get(_CURSOR, False)
    return (state.spoken or shows_cursor) and state.status != "waiting"


def _tells_its_start(host: str | None) -> bool:
    from iai_mcp import hosts
    from iai_mcp.hosts.host import HookEvent

    known = hosts.find(host) if host else None
    return known is not None and known.hooks is not None and known.hooks.has(HookEvent.START)


def _body(text: str, state: HolderState) -> bytes:
    data = text.encode("utf-8", "surrogateescape")
    if state.paste:
        # What ends a paste can not be part of one: the rest would be typed as commands.
        return _PASTE_BEGIN + data.replace(_PASTE_END, b"") + _PASTE_END if data else b""
    if state.line_mode:
        longest = max(len(line) for line in data.split(b"\n")) + 1
        if longest > _LINE_LIMIT:
            raise InvalidInput(
                f"the program reads lines, and a terminal keeps {_LINE_LIMIT} bytes of one: "
                f"this has {longest}; put it into a file and send its path"
            )
    return data


@contextlib.contextmanager
def _turn(session_id: str, deadline: float) -> Iterator[None]:
    """One message at a time: two senders must not mix their letters."""
    path = os.path.join(layout.session_dir(session_id), "sending")
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise Busy("somebody else is sending to this session: try again") from None
                time.sleep(_LOOK)
        yield
    finally:
        os.close(descriptor)


def _ready(connection: HolderConnection, record: SessionRecord) -> HolderState:
    """The state once the program has settled after its start."""
    state = connection.state()
    known = record.label.host is not None
    young = _YOUNG_HOST if known else _YOUNG
    loading = _SILENT if record.label.agent_id is None else _SILENT_AGENT
    while (age := time.time() - record.started_ms / 1000) < young:
        settled = state.head > 0 and state.quiet_ms >= _SETTLED * 1000
        silent = state.head == 0 and state.line_mode and age > loading
        if (settled or silent) and not (known and state.line_mode):
            break
        time.sleep(_LOOK * 5)
        state = connection.state()
    return state


def _let_it_settle(connection: HolderConnection, before: HolderState) -> None:
    """Until the program has drawn something since `before`, and then nothing for a moment."""
    typed = time.monotonic()
    limit = _PASTE_REACTION_LIMIT if before.paste else _REACTION_LIMIT
    while connection.state().head == before.head and time.monotonic() < typed + limit:
        time.sleep(_LOOK)
    reacted = time.monotonic()
    least = _PASTE_REST if before.paste else _REST
    rest = max(least, min(_LONGEST_REST, (reacted - typed) * _LATE))
    stop = reacted + rest + _RESTLESS
    while connection.state().quiet_ms < rest * 1000 and time.monotonic() < stop:
        time.sleep(_LOOK)


def _wait_until_read(terminal: str, deadline: float) -> bool | None:
    """Whether the program has taken everything from its terminal's queue."""
    try:
        descriptor = os.open(terminal, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    except OSError:
        return None  # it has ended, or wants its terminal for itself
    try:
        # Asking whether there is input to read makes the kernel deliver first what is on its way.
        while select.select([descriptor], [], [], 0)[0]:
            if time.monotonic() > deadline:
                return False
            time.sleep(_LOOK)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return True
