"""Notes that sessions lost their holder: it was killed, or the machine went down, and nobody told.

Whoever looks first writes it down, in the session's state and as an event, once: the daemon, which
looks twice a second, or any command about sessions.
"""

import fcntl
import os

from iai_mcp.domain.agents.agent import is_agent_id
from iai_mcp.terminal import layout, records
from iai_mcp.terminal.holder.status import SessionJournal, now_ms


class LossWatch:
    """Looks again and again; what has ended is not looked at twice."""

    def __init__(self) -> None:
        self._over: set[str] = set()

    def look(self) -> list[str]:
        """Note new losses; their ids."""
        try:
            names = {name for name in os.listdir(layout.sessions_dir()) if "." not in name}
        except OSError:
            return []
        self._over &= names
        lost = []
        for name in names - self._over:
            if records.holder_lives(os.path.join(layout.sessions_dir(), name)):
                continue  # three system calls for each that runs
            record = records.read(name)
            if record is None or record.alive:
                continue  # it is just starting
            self._over.add(name)
            if record.status == "lost" and _note(record):
                lost.append(name)
        return lost


def note() -> list[str]:
    """Note losses that nobody has noted yet; their ids."""
    return LossWatch().look()


def _note(record: records.SessionRecord) -> bool:
    directory = layout.session_dir(record.id)
    try:
        descriptor = os.open(os.path.join(directory, "lock"), os.O_RDWR)
    except OSError:
        return False  # it never ran, or was pruned this moment
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if records.saved_status(directory) in (None, "exited", "lost"):
            return False
        agent = record.label.agent_id or ""
        journal = SessionJournal(directory, agent if is_agent_id(agent) else "")
        at = now_ms()
        for name, number in (("holder", record.holder), ("child", record.child), ("ended", at)):
            if number is not None:
                journal.note(**{name: number})
        journal.save("lost", "holder", at)
        journal.event("SessionLost", "lost", "holder")
    except OSError:
        return False  # somebody else is at it
    finally:
        os.close(descriptor)
    return True
