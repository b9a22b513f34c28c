"""What a session leaves on disk: its state, its events, and the lock that says it is alive.

Changes of status also go to the one journal of all agents and sessions, where the memory daemon
finds them when it looks: nobody here waits for it, or knows whether there is one.

None of it holds anything that was said in the terminal. `state.json` is replaced as a
whole; `events` grows by one line for every change. A full disk must not end the program in
the terminal: what can not be written is left out, and `trouble` says so to who asks.
"""

import os
import time

_EVENTS_LIMIT = 262_144  # then the older half of the story moves to `events.1`
_COMMON_LIMIT = 1_000_000  # and that of the common journal to `agent-events.jsonl.old`


class Journal:
    """The files of one session, in its own private directory."""

    __slots__ = ("_agent", "_common", "_directory", "_lock", "_numbers", "_session", "trouble")

    def __init__(self, directory: str, agent: str = "") -> None:
        self._directory = directory
        sessions, self._session = os.path.split(directory)
        self._common = os.path.join(os.path.dirname(sessions), "agent-events.jsonl")
        self._agent = agent
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
        text = ("{" + ", ".join(fields) + "}\n").encode()
        temporary = self._path("state.new")
        try:
            _write(temporary, os.O_CREAT | os.O_TRUNC, text, durable=durable)
            os.rename(temporary, self._path("state.json"))
        except OSError as failed:
            self.trouble = failed.errno or 0
            self._overwrite_state(text)

    def _overwrite_state(self, text: bytes) -> None:
        """On a full disk: into the space the old state has. Spaces hide what was longer."""
        path = self._path("state.json")
        try:
            _write(path, 0, text.rstrip().ljust(os.stat(path).st_size - 1) + b"\n")
            os.unlink(self._path("state.new"))
        except OSError as failed:
            self.trouble = failed.errno or 0

    def event(self, kind: str, status: str, source: str, **numbers: int) -> None:
        """Append one event to the session's own story; a change of status also to the common one."""
        told = f'"status": "{status}", "source": "{source}"'
        told += "".join(f', "{name}": {number}' for name, number in numbers.items())
        at = now_ms()
        self._append(
            "events", "events.1", _EVENTS_LIMIT, f'{{"ts": {at}, "event": "{kind}", {told}}}'
        )
        if kind not in ("SessionStatusChanged", "SessionExited"):
            return
        whose = f'"session_id": "{self._session}"'
        whose += f', "agent_id": "{self._agent}"' if self._agent else ""
        line = f'{{"event": "{kind}", "ts_ms": {at}, {whose}, {told}}}'
        self._append(self._common, self._common + ".old", _COMMON_LIMIT, line)

    def _append(self, name: str, older: str, limit: int, line: str) -> None:
        """One write of one line: lines of several processes do not mix."""
        path = self._path(name)
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                os.write(descriptor, line.encode() + b"\n")
                written = os.fstat(descriptor)
                # Another process may have moved it away this moment: its new file is not ours to move.
                if written.st_size > limit and os.stat(path).st_ino == written.st_ino:
                    os.rename(path, self._path(older))
            finally:
                os.close(descriptor)
        except OSError as failed:
            self.trouble = failed.errno or 0

    def status_path(self) -> str:
        """Where hooks append what they know."""
        return self._path("status")

    def _path(self, name: str) -> str:
        return os.path.join(self._directory, name)  # a path from the root stays as it is


def _write(path: str, flags: int, text: bytes, *, durable: bool = False) -> None:
    descriptor = os.open(path, os.O_WRONLY | flags, 0o600)
    try:
        if os.write(descriptor, text) < len(text):
            raise OSError(28, "the disk is full")
        if durable:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def now_ms() -> int:
    return int(time.time() * 1000)
