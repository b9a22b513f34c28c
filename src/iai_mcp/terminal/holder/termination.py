"""The end of a session: how its program is ended, and how files and clients are told."""

import os
import select
import time

from iai_mcp.terminal import frames as wire
from iai_mcp.terminal.holder import requests
from iai_mcp.terminal.holder.c_modules import signal
from iai_mcp.terminal.holder.status import now_ms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from iai_mcp.terminal.holder.loop import Holder

GRACE = 0.5  # seconds between the hang-up and SIGKILL
_LINGER = 2.0  # seconds clients get to take the last output
_LEFTOVER = 0.05  # seconds to wait for output still on its way through the kernel
_KEPT_TAIL = 262_144  # output kept for `session logs`


def hang_up(child: int, master: int) -> None:
    """What losing the terminal means: SIGHUP to the program and to what runs in front."""
    for group in {child, foreground(master)}:
        _signal_group(group, signal.SIGHUP)
        _signal_group(group, signal.SIGCONT)  # a stopped program can not hear it


def kill_all(child: int, master: int) -> None:
    """SIGKILL the program, its process group and whatever else lives in its session."""
    for group in {child, foreground(master)}:
        _signal_group(group, signal.SIGKILL)
    for pid in members(child):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def members(session: int) -> list[int]:
    """The processes of a terminal's session. Where /proc is missing: its first process group."""
    try:
        names = os.listdir("/proc")
    except FileNotFoundError:
        return [session] if _group_lives(session) else []
    return [int(name) for name in names if name.isdigit() and _session_of(name) == session]


def _session_of(name: str) -> int:
    try:
        descriptor = os.open(f"/proc/{name}/stat", os.O_RDONLY)
    except OSError:
        return -1  # it ended while we looked
    try:
        text = os.read(descriptor, 1024)
    except OSError:
        return -1
    finally:
        os.close(descriptor)
    # pid (name) state ppid pgrp session ...; the name may hold anything, so count from its end.
    fields = text[text.rfind(b")") + 2 :].split()
    return int(fields[3]) if fields[0] not in (b"Z", b"X") else -1


def foreground(master: int) -> int:
    try:
        return os.tcgetpgrp(master)
    except OSError:
        return 0


def _group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except OSError:
        return False
    return True


def _signal_group(group: int, number: int) -> None:
    if group <= 1:
        return
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return
    except PermissionError:
        return  # a set-uid program in front: its terminal going away will tell it


def farewell(holder: "Holder", code: int, number: int) -> None:
    """The program has ended with `code`, by signal `number` (0: on its own): take its last output, tell, go."""
    _drain(holder)
    _keep_tail(holder)
    ended = now_ms()
    journal = holder.journal
    # The number of the last byte, for who had a part of the output when their connection broke.
    journal.note(exit_code=code, signal=number, ended=ended, head=holder.ring.head)
    journal.save("exited", "exit", ended, durable=True)
    journal.event("SessionExited", "exited", "exit", exit_code=code, signal=number)
    holder.status.on_change.append("exited")
    holder.notify()
    _tell_clients(holder, wire.pack((code, 4), (number, 1)))
    try:
        os.unlink(holder.order.socket_path)
    except FileNotFoundError:
        return


def _drain(holder: "Holder") -> None:
    """Read what the kernel still has; a background process may keep the terminal open."""
    waiting = select.poll()
    waiting.register(holder.master, select.POLLIN)
    stop = time.monotonic() + _LINGER
    while holder.terminal_open and time.monotonic() < stop:
        if not waiting.poll(_LEFTOVER * 1000):
            return
        holder.read_terminal()
        holder.feed_clients()


def _keep_tail(holder: "Holder") -> None:
    path, ring = holder.order.tail_path, holder.ring
    if not path or not ring.head:
        return
    begin = max(ring.start, ring.head - _KEPT_TAIL)
    try:
        _own_directory(os.path.dirname(path))
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        descriptor = os.open(path, flags, 0o600)
        os.write(descriptor, ring.copy(begin, ring.head))
        os.close(descriptor)
    except OSError:
        holder.journal.event("TailNotKept", "exited", "exit")


def _own_directory(path: str) -> None:
    """Make it, or see that it is ours: others may make names in that place too."""
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        found = os.lstat(path)
        is_directory = found.st_mode & 0o170000 == 0o040000
        if not is_directory or found.st_uid != os.getuid() or found.st_mode & 0o077:
            raise PermissionError(path) from None


def _tell_clients(holder: "Holder", last_word: bytes) -> None:
    """Let clients take the rest, each at its own pace, but not for ever."""
    stop = time.monotonic() + _LINGER
    told: set[int] = set()
    while holder.clients and time.monotonic() < stop:
        holder.feed_clients()
        for client in list(holder.clients.values()):
            if client.wants_room(holder.ring):
                continue
            if client.descriptor in told:
                holder.drop(client)
                continue
            client.say(wire.STATUS, requests.describe(holder))
            client.say(wire.EXITED, last_word)
            told.add(client.descriptor)
        _wait_for_room(holder)


def _wait_for_room(holder: "Holder") -> None:
    waiting = select.poll()
    for client in holder.clients.values():
        if client.wants_room(holder.ring):
            waiting.register(client.descriptor, select.POLLOUT)
    waiting.poll(20 if holder.clients else 0)
