"""What is left of sessions: forgetting the ended ones, finding strays."""

import os
import time
from collections.abc import Sequence

from iai_mcp.terminal import layout, pty, records, spawn
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
        pty.end_stray(record)
        spawn.discard(record.id, record.socket)
        pruned.append(record.id)
    return pruned


def end_all() -> None:
    """End every session and remove all that is left of them."""
    terminals = pty.HolderPty()
    for record in records.read_all():
        terminals.kill(record.id)
    prune(records.read_all())
    sweep()


def strays() -> list[str]:
    """Sentences for `doctor` about what is left over and belongs to no session."""
    sentences = [
        f"session {record.id} lost its holder, but its program (pid {record.child}) still runs"
        for record in records.read_all()
        if record.status == "lost" and not record.rebooted and pty.still_runs(record)
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
