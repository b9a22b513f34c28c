"""The control plane: answers about the daemon, and requests left for its lifecycle loop.

Nothing here changes the lifecycle: a request is put into `Requests`, and the loop alone acts on it.
`pause` and `resume` show at once in `scheduler_paused`.
"""

import threading
import time
from collections import UserDict
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import ClassVar

# What is shown: `fsm_state`, which the lifecycle writes, `scheduler_paused` and `paused_until`, which
# are written here. Each has one writer, so threads can not undo each other's word.
State = MutableMapping[str, object]
Message = Mapping[str, object]
Answer = dict[str, object]
Facts = Callable[[], Answer]

ASLEEP = frozenset({"SLEEP", "HIBERNATION"})


@dataclass(frozen=True, slots=True)
class SleepRequest:
    """Sleep, because somebody says so."""

    name: ClassVar = "user_initiated_sleep"
    reason: str
    ts: str


@dataclass(frozen=True, slots=True)
class Wake:
    name: ClassVar = "force_wake"
    ts: str


@dataclass(frozen=True, slots=True)
class Rem:
    """One night's work soon."""

    name: ClassVar = "force_rem"
    ts: str = ""


@dataclass(frozen=True, slots=True)
class SessionOpen:
    """A session begins there: what it will be told can be made ready."""

    name: ClassVar = "session_open"
    session_id: str | None
    ts: str | None
    cwd: str | None


Request = SleepRequest | Wake | Rem | SessionOpen


class Requests:
    """Left by whoever asks, taken by the lifecycle, each once. Safe from any thread.

    Only the newest of a kind counts, so there are never more than there are kinds.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[type[Request], Request] = {}

    def put(self, request: Request) -> None:
        with self._lock:
            self._waiting[type(request)] = request

    def take(self) -> list[Request]:
        """All that wait; nobody else gets them."""
        with self._lock:
            taken, self._waiting = self._waiting, {}
        return list(taken.values())

    def __bool__(self) -> bool:
        return bool(self._waiting)


class WiredState(UserDict[str, object]):
    """The state of a server, with its queue of requests and the facts that `status` adds."""

    def __init__(self, state: State, requests: Requests, facts: Facts) -> None:
        super().__init__()
        self.data = state  # type: ignore[assignment]  # the same mapping, not a copy
        self.requests = requests
        self.facts = facts


class InvalidMessage(ValueError):
    """A field is missing or of the wrong type."""


def answer(message: Message, state: State, requests: Requests, facts: Facts) -> Answer:
    """The answer to one control message; what it asks for ends up in `requests`."""
    try:
        match message["type"]:
            case "status":
                return _status(state, facts)
            case "pause":
                return _pause(message, state)
            case "resume":
                return _resume(state)
            case "user_initiated_sleep":
                return _sleep(message, state, requests)
            case "force_wake":
                requests.put(Wake(_text(message, "ts")))
                return {"ok": True, "reason": "wake_queued"}
            case "force_rem":
                requests.put(Rem(_text(message, "ts")))
                return {"ok": True, "reason": "rem_queued"}
            case "session_open":
                requests.put(_session(message))
                return {"ok": True, "reason": "session_open_queued"}
    except InvalidMessage as bad:
        return {"ok": False, "reason": "invalid_message", "error": str(bad)}
    raise LookupError("no control message has this type")


def current(state: State) -> str:
    """The state the daemon is in."""
    return str(state.get("fsm_state") or "WAKE")


def is_paused(state: State) -> bool:
    """Whether sleep is held off; a pause with an end runs out by itself."""
    until = state.get("paused_until")
    over = isinstance(until, int | float) and time.time() >= until
    return bool(state.get("scheduler_paused")) and not over


def _status(state: State, facts: Facts) -> Answer:
    return {
        "ok": True,
        "last_sleep": state.get("last_sleep"),
        **facts(),
        "state": current(state),
        "scheduler_paused": is_paused(state),
    }


def _sleep(message: Message, state: State, requests: Requests) -> Answer:
    request = SleepRequest(_text(message, "reason"), _text(message, "ts"))
    if current(state) in ASLEEP:
        return {"ok": False, "reason": "already_sleeping", "state": current(state)}
    requests.put(request)
    return {"ok": True, "state": current(state), "reason": "sleep_queued"}


def _pause(message: Message, state: State) -> Answer:
    seconds = message.get("seconds")
    if seconds is not None and (
        isinstance(seconds, bool) or not isinstance(seconds, int) or seconds < 0
    ):
        raise InvalidMessage("seconds must be a whole number, zero or more")
    # Its end first: a pause that was over long ago must not be taken for this one.
    state["paused_until"] = None if seconds is None else time.time() + seconds
    state["scheduler_paused"] = True
    return {"ok": True, "paused": True, "seconds": seconds}


def _resume(state: State) -> Answer:
    state["scheduler_paused"] = False
    return {"ok": True, "paused": False}


def _session(message: Message) -> SessionOpen:
    session, ts, cwd = (_optional_text(message, name) for name in ("session_id", "ts", "cwd"))
    return SessionOpen(session, ts, cwd)


def _text(message: Message, name: str) -> str:
    value = message.get(name)
    if not isinstance(value, str):
        raise InvalidMessage(f"{name} must be a string")
    return value


def _optional_text(message: Message, name: str) -> str | None:
    return None if message.get(name) is None else _text(message, name)
