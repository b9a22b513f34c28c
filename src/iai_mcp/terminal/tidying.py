"""What is left of sessions: forgetting the ended ones, finding and ending strays."""

import os
import signal
import time
from collections.abc import Sequence

from iai_mcp.terminal import layout, records, spawn
from iai_mcp.terminal.holder.ending import members
from iai_mcp.terminal.records import SessionRecord

_YOUNG = 60.0  # seconds: what is younger may be a session that is just starting


def prune(found: Sequence[SessionRecord], older_than_seconds: float = 0.0) -> list[str]:
    """Remove what is left of ended sessions; the ids of those removed."""
    limit = time.time() * 1000 - older_than_seconds * 1000
    pruned = []
    for record in found:
        ended = record.ended_ms or record.since_ms
        if record.alive or ended > limit:
            continue
        end_stray(record)
        spawn.discard(record.id, record.socket)
        pruned.append(record.id)
    return pruned


def end_stray(record: SessionRecord) -> None:
    """SIGKILL the program of a session that lost its holder and ignored the hang-up."""
    if record.status != "lost" or record.rebooted or not _runs(record):
        return
    assert record.child is not None  # noqa: S101 - it runs, so it has a pid
    for pid in members(record.child):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def end_all() -> None:
    """End every session and remove all that is left of them."""
    from iai_mcp.terminal.adapter import HolderPty

    pty = HolderPty()
    for record in records.read_all():
        pty.kill(record.id)
    prune(records.read_all())
    sweep()


def strays() -> list[str]:
    """Sentences for `doctor` about what is left over and belongs to no session."""
    sentences = [
        f"session {record.id} lost its holder, but its program (pid {record.child}) still runs"
        for record in records.read_all()
        if record.status == "lost" and not record.rebooted and _runs(record)
    ]
    return sentences + [f"{path} belongs to no session" for path in _leftovers()]


def sweep() -> None:
    """Remove files that belong to no session."""
    for path in _leftovers():
        if os.path.isdir(path):
            for name in os.listdir(path):
                os.unlink(os.path.join(path, name))
            os.rmdir(path)
        else:
            os.unlink(path)


def _leftovers() -> list[str]:
    """Sockets and directories without a readable description, unless they are quite new."""
    try:
        names = sorted(os.listdir(layout.sessions_dir()))
    except FileNotFoundError:
        return []
    found = records.read_all()
    known = {record.id for record in found} | {os.path.basename(record.socket) for record in found}
    paths = [os.path.join(layout.sessions_dir(), name) for name in names if name not in known]
    return [path for path in paths if time.time() - os.lstat(path).st_mtime > _YOUNG]


def _runs(record: SessionRecord) -> bool:
    """Whether the program is still there: that pid, leading a terminal session of its own."""
    return record.child is not None and record.child in members(record.child)
