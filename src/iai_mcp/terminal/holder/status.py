"""What the program is doing: by its host's hooks where they speak, else guessed from the terminal.

A hook's word stands until the next one, or until somebody submits a message: then the
program is presumed running, and that is a guess again. By guess, output means running,
quiet means idle, and a bell before the quiet means that it waits for somebody.
"""

import os

from iai_mcp.terminal.holder.journal import Journal, now_ms

QUIET = 2.0  # seconds without output that make a guess "idle": spinners redraw far more often
SILENT_START = 10.0  # seconds a program may take to its first output before it counts as idle
_REPORT_LIMIT = 65_536  # read at most so much of what hooks wrote at once
_KNOWN = ("starting", "running", "waiting", "idle")


class Status:
    """The current status, its source (`hook` or `guess`) and since when."""

    __slots__ = ("_journal", "_read", "on_change", "since_ms", "source", "value")

    def __init__(self, journal: Journal) -> None:
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
                self._change(value, "hook")

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
