"""What the program is doing, and what a session leaves of it on disk.

By its host's hooks where they speak, else guessed from the terminal. A hook's word stands until the
next one, or until somebody submits a message: then the program is presumed running, and that is a
guess again. `started` is a hook's word too, and means idle only for a program that has nothing to do:
some start a conversation with the first message, and some start one anew in the middle of their work.
By guess, output means running, quiet means idle, and a bell before the quiet means that
it waits for somebody.

Nothing on disk holds anything that was said in the terminal. `state.json` is replaced as a whole;
`events` grows by one line for every change. Changes of status also go to the one journal of all
agents and sessions, where the memory daemon finds them when it looks: nobody here waits for it, or
knows whether there is one. A full disk must not end the program in the terminal: what can not be
written is left out, and `trouble` says so to who asks.
"""

import os
import time

_EVENTS_LIMIT = 262_144  # then the older half of the story moves to `events.1`
_COMMON_LIMIT = 1_000_000  # and that of the common journal to `agent-events.jsonl.old`
QUIET = 2.0  # seconds without output that make a guess "idle": spinners redraw far more often
SILENT_START = 10.0  # seconds a program may take to its first output before it counts as idle
_REPORT_LIMIT = 65_536  # read at most so much of what hooks wrote at once
_STARTED = "started"
_KNOWN = ("starting", "running", "waiting", "idle", _STARTED)


class SessionJournal:
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
        if kind not in ("SessionStatusChanged", "SessionExited", "SessionLost"):
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


class Status:
    """The current status, its source (`hook` or `guess`) and since when.

    `prompted`: the program was started with its first message. `spoken`: a hook has said something.
    """

    __slots__ = (
        "_journal",
        "_presumed",
        "_read",
        "on_change",
        "since_ms",
        "source",
        "spoken",
        "value",
    )

    def __init__(self, journal: SessionJournal, *, prompted: bool = False) -> None:
        self._presumed = prompted
        self.spoken = False
        self._journal = journal
        self._read = 0
        self.value = "running"
        self.source = "guess"
        self.since_ms = now_ms()
        self.on_change: list[str] = []  # changes the loop has still to tell others about

    def guess(self, value: str) -> None:
        """What the terminal suggests; ignored while a hook's word stands."""
        if self.source == "guess":
            self._change(value, "guess")

    def presume_running(self) -> None:
        """A message was submitted: whoever waits for the answer must not see the old "idle"."""
        self._presumed = True
        self._change("running", "guess")

    def read_hooks(self) -> None:
        """Take in what hooks appended since the last look."""
        try:
            descriptor = os.open(self._journal.status_path(), os.O_RDONLY | os.O_NONBLOCK)
        except OSError:
            return  # no hook has spoken yet
        try:
            if os.fstat(descriptor).st_size < self._read:
                self._read = 0  # somebody began the file anew
            text = os.pread(descriptor, _REPORT_LIMIT, self._read)
        except OSError:
            return  # not a file to read: what stands there is not a hook's word
        finally:
            os.close(descriptor)
        end = text.rfind(b"\n") + 1
        self._read += end
        for line in text[:end].splitlines():
            value = reported(line)
            if value:
                self._hear(value)

    def _hear(self, value: str) -> None:
        self.spoken = True
        if value != _STARTED:
            self._presumed = False
            self._change(value, "hook")
        elif self.source == "guess" and not self._presumed:
            self._change("idle", "hook")

    def _change(self, value: str, source: str) -> None:
        if value == self.value and source == self.source:
            return
        told = value != self.value
        self.value, self.source = value, source
        if told:
            self.since_ms = now_ms()
        self._journal.save(value, source, self.since_ms)
        if told:
            self._journal.event("SessionStatusChanged", value, source)
            self.on_change.append(value)


def reported(line: bytes) -> str:
    """The status in one line of a hook, or `""` if it holds none that is known."""
    at = line.find(b'"status"')
    if at < 0:
        return ""
    parts = line[at + len(b'"status"') :].split(b'"', 2)
    if len(parts) < 3 or parts[0].strip() != b":":
        return ""
    value = parts[1].decode("ascii", "replace")
    return value if value in _KNOWN else ""


def rang(text: bytes) -> bool:
    """Whether `text` rings the bell, as opposed to ending a title with the same byte."""
    at = text.rfind(b"\x07")
    while at >= 0:
        opener = max(text.rfind(b"\x1b]", 0, at), text.rfind(b"\x1bP", 0, at))
        if opener < 0 or b"\x07" in text[opener:at] or b"\x1b\\" in text[opener:at]:
            return True
        at = text.rfind(b"\x07", 0, opener)
    return False
