"""Takes what happened to agents and sessions from their own journals into the memory's.

Agents and sessions never wait for the memory daemon: they append lines to
`<user data>/agent-events.jsonl`, whoever runs, here and on other machines. This reads on from where it
left off, in one transaction with the place it has come to, so that every line arrives once, also after
a crash.
"""

import json
import logging
import os
from collections.abc import Callable
from pathlib import Path
from threading import Lock

from iai_mcp.adapters.journal_reader import NAME, read_on
from iai_mcp.domain.errors import IaiError, RemoteFailed
from iai_mcp.ports.journal import Event, Journal

_log = logging.getLogger(__name__)

_PLACE = "agent_news"  # the setting that says how far we have read
_LATEST_MS = 250_000_000_000_000  # a time that can still be shown
_MOST_PARTS = 64  # of another machine at once: it may be lying, and there is a next time
# Of another machine only this is believed: what is told of its own sessions.
_FAR_KINDS = ("SessionStatusChanged", "SessionExited", "SessionLost")
_FAR_FIELDS = ("session_id", "agent_id", "status", "source", "exit_code", "signal")
_LONGEST_FIELD = 100

Read = Callable[[str], tuple[bytes, str]]


class AgentNews:
    """The way from the agents' journal into the memory's. Safe from any thread."""

    def __init__(self, directory: Path, journal: Journal) -> None:
        self._path = directory / NAME
        self._journal = journal
        self._lock = Lock()
        self._seen: tuple[int, int, int] | None = None

    def waiting(self) -> bool:
        """Whether there may be something new; costs one system call."""
        return self._standing() != self._seen

    def gather(self) -> int:
        """Take in what is new; how many events that were.

        What can not be read or written now is there the next time.
        """
        with self._lock:
            standing = self._standing()
            if standing == self._seen:
                return 0
            try:
                taken = self._take()
            except (OSError, IaiError) as refused:
                _log.warning("agent_news_wait", extra={"reason": type(refused).__name__})
                return 0
            self._seen = standing
            return taken

    def _standing(self) -> tuple[int, int, int] | None:
        try:
            found = os.stat(self._path)
        except OSError:
            return None
        return found.st_ino, found.st_size, found.st_mtime_ns

    def _take(self) -> int:
        taken, place = 0, self._journal.setting(_PLACE) or ""
        while True:
            text, place = read_on(self._path, place)
            if not text:
                return taken
            events = [event for line in text.splitlines() if (event := _parsed(line))]
            self._journal.record_events(events, _PLACE, place)
            taken += len(events)


def take_from(journal: Journal, machine: str, read: Read) -> None:
    """Take in what is new of the sessions on another machine; `read` reads on in its journal there.

    Raises:
        IaiError: what `read` raises, or the journal can not be written: the next time, then.
    """
    setting = f"{_PLACE} {machine}"
    place = journal.setting(setting) or ""
    for _ in range(_MOST_PARTS):
        text, place = read(place)
        if not text:
            return
        if len(place) > _LONGEST_FIELD:
            raise RemoteFailed(f"{machine} says something that nobody asked for")
        found = (_parsed(line) for line in text.splitlines())
        events = [event for each in found if each and (event := _believed(each, machine))]
        journal.record_events(events, setting, place)


def _believed(event: Event, machine: str) -> Event | None:
    if event.kind not in _FAR_KINDS:
        return None
    told = {name: event.data[name] for name in _FAR_FIELDS if name in event.data}
    if any(
        not isinstance(one, str | int) or len(str(one)) > _LONGEST_FIELD for one in told.values()
    ):
        return None
    return event._replace(data={**told, "machine": machine})


def _parsed(line: bytes) -> Event | None:
    try:
        fields = json.loads(line)
        json.dumps(fields, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return None  # the end of a line that a full disk cut off, or nothing that can be kept
    if not isinstance(fields, dict):
        return None
    kind, at = fields.pop("event", None), fields.pop("ts_ms", None)
    if not isinstance(kind, str) or not isinstance(at, int) or not 0 <= at < _LATEST_MS:
        return None
    return Event(kind, fields, at * 1000)
