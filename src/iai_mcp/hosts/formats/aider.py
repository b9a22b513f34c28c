"""Aider: `.aider.chat.history.md` in a project, all sessions one after the other.

`# aider chat started at …` begins a session, `#### ` every line that the person typed, `> ` every line
that Aider itself printed. The rest is the assistant's.
"""

import os
import time

from iai_mcp.hosts import work
from iai_mcp.hosts.reader import Reading, contents
from iai_mcp.hosts.turns import Event, Record, count_occurrence, digest, moment_of, turn
from iai_mcp.hosts.usage import attach, usage
from iai_mcp.hosts.work import Call, Result, Setting

TYPE_CHECKING = False  # see compact_json
if TYPE_CHECKING:
    from collections.abc import Iterator

_ID = "aider"

_STARTED = "# aider chat started at "
_TYPED, _PRINTED = "####", ">"
_EDITED = "Applied edit to "
_TOKENS = "Tokens: "
_MODELS = ("Main model: ", "Models: ", "Model: ")
_FACTORS = {"k": 1_000, "M": 1_000_000}


def walk(reading: Reading) -> "Iterator[Event]":
    """The turns of all sessions; each carries its session."""
    text = contents(reading).decode("utf-8-sig", "replace")
    path = os.path.abspath(reading.path)
    reading.carry["cwd"] = os.path.dirname(path)
    mark = digest(path.encode("utf-8", "surrogateescape"), 4)
    session = _Session(f"{_ID}-{mark}", None, reading)
    for line in text.split("\n"):
        if line.startswith(_STARTED):
            yield from session.end()
            started = line.removeprefix(_STARTED).strip()
            digits = "".join(char for char in started if char.isdigit())
            session = _Session(f"{_ID}-{mark}-{digits}", _local(started), reading)
        else:
            yield from session.take(line.rstrip("\r"))
    yield from session.end()


class _Session:
    """One session: collects lines of one speaker until another speaks."""

    def __init__(self, name: str, started: str | None, reading: Reading) -> None:
        self._name = name
        self._started = started
        self._reading = reading
        self._seen: dict[str, int] = {}
        self._role = ""
        self._lines: list[str] = []
        self._answer: Event | None = None  # waits for what Aider prints of its tokens
        self._model = ""

    def take(self, line: str) -> "Iterator[Event]":
        """One line of the session."""
        if line.startswith(_TYPED):
            yield from self._turn_to("user")
            self._lines.append(line.removeprefix(_TYPED).removeprefix(" ").removesuffix("  "))
        elif line.startswith(_PRINTED):
            yield from self._turn_to("")
            yield from self._printed(line.removeprefix(_PRINTED).strip())
        elif line.strip() or self._role == "assistant":
            yield from self._turn_to("assistant")
            self._lines.append(line)

    def end(self) -> "Iterator[Event]":
        """What is left when the session is over."""
        yield from self._turn_to("")
        yield from self._release()

    def _turn_to(self, role: str) -> "Iterator[Event]":
        if role == self._role:
            return
        text = "\n".join(self._lines).strip("\n")
        event = self._event(self._role, text) if self._role and text.strip() else None
        self._role, self._lines = role, []
        if event is None:
            return
        yield from self._release()
        if event["role"] == "assistant":
            self._answer = attach(event, usage(self._model, None, None))
        else:
            yield event

    def _release(self) -> "Iterator[Event]":
        if self._answer is not None:
            yield self._answer
            self._answer = None

    def _printed(self, text: str) -> "Iterator[Event]":
        for mark in _MODELS:
            if text.startswith(mark):
                self._model = text.removeprefix(mark).split(" ", 1)[0].rstrip(",")
        if text.startswith(_TOKENS):
            known = _usage(text, self._model)
            if self._answer is not None:
                attach(self._answer, known)
            yield from self._release()
        elif text.startswith(_EDITED):
            yield from self._release()
            given: Record = {"path": text.removeprefix(_EDITED)}
            setting = Setting(_ID, cwd=self._reading.cwd, session_id=self._name)
            for event in work.events_of(Call("", "edit", given, self._started), Result(), setting):
                del event["id"]
                event["occurrence"] = count_occurrence(self._seen, event)
                yield event

    def _event(self, role: str, text: str) -> Event | None:
        cwd = self._reading.cwd
        event = turn(_ID, role, text, ts=self._started, session_id=self._name, cwd=cwd)
        if event is not None:
            event["occurrence"] = count_occurrence(self._seen, event)
        return event


def _usage(text: str, model: str) -> Record:
    """From `Tokens: 2.4k sent, 1.1k cache hit, 312 received. Cost: …`."""
    counts: dict[str, int] = {}
    for part in text.removeprefix(_TOKENS).split(". ")[0].split(","):
        number, _, name = part.strip().partition(" ")
        factor = _FACTORS.get(number[-1:], 1)
        try:
            counts[name.rstrip(".")] = round(float(number.rstrip("kM")) * factor)
        except (ValueError, OverflowError):
            continue
    return usage(model, counts.get("sent"), counts.get("received"), counts.get("cache hit"))


def _local(text: str) -> str | None:
    """A time of this machine's clock, as UTC."""
    try:
        return moment_of(time.mktime(time.strptime(text, "%Y-%m-%d %H:%M:%S")))
    except (ValueError, OverflowError):
        return None
