"""What a session leaves on disk: its state, its events, and the lock that says it is alive.

None of it holds anything that was said in the terminal. `state.json` is replaced as a
whole; `events` grows by one line for every change. A full disk must not end the program in
the terminal: what can not be written is left out, and `trouble` says so to who asks.
"""

import os
import time

_EVENTS_LIMIT = 262_144  # then the older half of the story moves to `events.1`


class Journal:
    """The files of one session, in its own private directory."""

    __slots__ = ("_directory", "_lock", "_numbers", "trouble")

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._lock = -1
        self.trouble = 0  # the system's number of the last error
        self._numbers: dict[str, int] = {}

    def take_lock(self) -> None:
        """Held for as long as this process lives, whatever ends it."""
        self._lock = os.open(self._path("lock"), os.O_RDWR | os.O_CREAT, 0o600)
        os.lockf(self._lock, os.F_TLOCK, 0)

    def exists(self) -> bool:
        return os.path.exists(self._path("meta.json"))

    def note(self, **numbers: int) -> None:
        """Facts that go into every later state: pids, exit code, when it ended."""
        self._numbers.update(numbers)

    def save(self, status: str, source: str, since_ms: int, *, durable: bool = False) -> None:
        """Replace `state.json`."""
        fields = [f'"status": "{status}"', f'"source": "{source}"', f'"since": {since_ms}']
        fields += [f'"{name}": {number}' for name, number in self._numbers.items()]
        temporary = self._path("state.new")
        try:
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            try:
                os.write(descriptor, ("{" + ", ".join(fields) + "}\n").encode())
                if durable:
                    os.fsync(descriptor)
            finally:
                os.close(descriptor)
            os.rename(temporary, self._path("state.json"))
        except OSError as failed:
            self.trouble = failed.errno or 0

    def event(self, kind: str, status: str, source: str, **numbers: int) -> None:
        """Append one event."""
        extra = "".join(f', "{name}": {number}' for name, number in numbers.items())
        line = (
            f'{{"ts": {now_ms()}, "event": "{kind}", "status": "{status}", '
            f'"source": "{source}"{extra}}}\n'
        )
        path = self._path("events")
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                os.write(descriptor, line.encode())
                if os.fstat(descriptor).st_size > _EVENTS_LIMIT:
                    os.rename(path, self._path("events.1"))
            finally:
                os.close(descriptor)
        except OSError as failed:
            self.trouble = failed.errno or 0

    def status_path(self) -> str:
        """Where hooks append what they know."""
        return self._path("status")

    def _path(self, name: str) -> str:
        return os.path.join(self._directory, name)


def now_ms() -> int:
    return int(time.time() * 1000)
