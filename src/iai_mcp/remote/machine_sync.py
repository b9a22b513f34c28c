"""Staying in contact with one machine while agents run there: their memories come home meanwhile,
and what happens to their sessions.

The daemon does this for every machine that the person has a project on. A connection that somebody
opened is used, and is made anew after a break as long as sessions are believed to run there.
"""

import time
from collections.abc import Callable

from iai_mcp.domain.errors import IaiError
from iai_mcp.domain.projects.project import RemoteRef
from iai_mcp.remote import all_sessions
from iai_mcp.remote.machine import Machine
from iai_mcp.remote.sessions import RemoteSessions

_DRAIN_EVERY = 1.0
_LIST_EVERY = 10.0
_LONGEST_PAUSE = 60.0
_IDLE = 600.0  # seconds without a session over there: then the connection is let go
_PATIENCE = 30.0

TakeNews = Callable[[str, Callable[[str], tuple[bytes, str]]], None]


class MachineSync:
    def __init__(
        self, remote: RemoteRef, wait: Callable[[float], bool], take_news: TakeNews
    ) -> None:
        """`wait` sleeps for so many seconds, and says whether to go on.

        `take_news` is given the machine's name, and how to read on in its journal.
        """
        self._take_news = take_news
        self._remote = remote
        self._machine = Machine.of(remote)
        self._wait = wait
        self._listed_at = 0.0
        self._in_use_at = time.monotonic()

    def keep(self) -> None:
        """Until `wait` says no."""
        pause = _DRAIN_EVERY
        while self._rested(pause):
            if not self._machine.is_connected() and not all_sessions.is_expected_to_run(
                self._remote
            ):
                self._machine.close()
                self._listed_at, pause = 0.0, _DRAIN_EVERY
                continue
            try:
                self._once()
                pause = _DRAIN_EVERY
            except (IaiError, OSError):
                # Away, it refused, or the disk is full here: what waits there waits on.
                pause = min(_LONGEST_PAUSE, pause * 2)
        self._machine.close()

    def _rested(self, seconds: float) -> bool:
        """Whether to go on, after so long, or as soon as somebody else has reached the machine."""
        was_away = not self._machine.is_connected()
        while self._wait(min(_DRAIN_EVERY, seconds)):
            seconds -= _DRAIN_EVERY
            if seconds <= 0 or (was_away and self._machine.is_connected()):
                return True
        return False

    def _once(self) -> None:
        self._machine.call("memory.drain", _PATIENCE)
        sessions = RemoteSessions(self._machine)
        self._take_news(str(self._remote), lambda place: sessions.news(place, _PATIENCE))
        now = time.monotonic()
        if now - self._listed_at < _LIST_EVERY:
            return
        rows = sessions.listed(_PATIENCE)
        all_sessions.remember(self._remote, rows)
        self._listed_at = now
        if any(row.record.alive for row in rows):
            self._in_use_at = now
        elif now - self._in_use_at > _IDLE:
            self._machine.disconnect()
