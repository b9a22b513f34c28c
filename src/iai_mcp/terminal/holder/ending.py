"""How a program is ended: a hang-up first, then SIGKILL to everything in its terminal."""

import os

from iai_mcp.terminal.holder.bare import signal

GRACE = 0.5  # seconds between the hang-up and SIGKILL


def hang_up(child: int, master: int) -> None:
    """What losing the terminal means: SIGHUP to the program and to what runs in front."""
    for group in {child, _foreground(master)}:
        _signal_group(group, signal.SIGHUP)
        _signal_group(group, signal.SIGCONT)  # a stopped program can not hear it


def kill_all(child: int, master: int) -> None:
    """SIGKILL the program, its process group and whatever else lives in its session."""
    for group in {child, _foreground(master)}:
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


def _foreground(master: int) -> int:
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
