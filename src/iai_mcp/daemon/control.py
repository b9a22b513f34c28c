"""The control plane: answers about the daemon, and requests left for its lifecycle loop.

Nothing here changes the lifecycle: a request is written into the shared state, and the loop
alone acts on it. `pause` and `resume` show at once in `scheduler_paused`.
"""

import time
from collections.abc import Callable, Mapping, MutableMapping

State = MutableMapping[str, object]
Message = Mapping[str, object]
Answer = dict[str, object]

ASLEEP = frozenset({"SLEEP", "HIBERNATION"})


class InvalidMessage(ValueError):
    """A field is missing or of the wrong type."""


def answer(message: Message, state: State, facts: Callable[[], Answer]) -> Answer:
    """The answer to one control message; requests end up in `state["requests"]`."""
    try:
        return _HANDLERS[str(message["type"])](message, state, facts)
    except InvalidMessage as bad:
        return {"ok": False, "reason": "invalid_message", "error": str(bad)}


def current(state: State) -> str:
    """The state the daemon is in."""
    return str(state.get("fsm_state") or "WAKE")


def is_paused(state: State) -> bool:
    """Whether sleep is held off; a pause with an end runs out by itself."""
    if not state.get("scheduler_paused"):
        return False
    until = state.get("paused_until")
    if isinstance(until, int | float) and time.time() >= until:
        state["scheduler_paused"] = False
        state["paused_until"] = None
        return False
    return True


def _status(message: Message, state: State, facts: Callable[[], Answer]) -> Answer:
    return {
        "ok": True,
        **facts(),
        "state": current(state),
        "scheduler_paused": is_paused(state),
        "last_sleep": state.get("last_sleep"),
    }


def _sleep(message: Message, state: State, facts: Callable[[], Answer]) -> Answer:
    reason, ts = _text(message, "reason"), _text(message, "ts")
    if current(state) in ASLEEP:
        return {"ok": False, "reason": "already_sleeping", "state": current(state)}
    _queue(state, {"type": "user_initiated_sleep", "reason": reason, "ts": ts})
    return {"ok": True, "state": current(state), "reason": "sleep_queued"}


def _wake(message: Message, state: State, facts: Callable[[], Answer]) -> Answer:
    _queue(state, {"type": "force_wake", "ts": _text(message, "ts")})
    return {"ok": True, "reason": "wake_queued"}


def _rem(message: Message, state: State, facts: Callable[[], Answer]) -> Answer:
    _queue(state, {"type": "force_rem", "ts": _text(message, "ts")})
    return {"ok": True, "reason": "rem_queued"}


def _pause(message: Message, state: State, facts: Callable[[], Answer]) -> Answer:
    seconds = message.get("seconds")
    if seconds is not None and (
        isinstance(seconds, bool) or not isinstance(seconds, int) or seconds < 0
    ):
        raise InvalidMessage("seconds must be a whole number, zero or more")
    state["scheduler_paused"] = True
    state["paused_until"] = None if seconds is None else time.time() + seconds
    return {"ok": True, "paused": True, "seconds": seconds}


def _resume(message: Message, state: State, facts: Callable[[], Answer]) -> Answer:
    state["scheduler_paused"] = False
    state["paused_until"] = None
    return {"ok": True, "paused": False}


def _session_open(message: Message, state: State, facts: Callable[[], Answer]) -> Answer:
    fields = {name: _optional_text(message, name) for name in ("session_id", "ts", "cwd")}
    _queue(state, {"type": "session_open", **fields})
    return {"ok": True, "reason": "session_open_queued"}


def _text(message: Message, name: str) -> str:
    value = message.get(name)
    if not isinstance(value, str):
        raise InvalidMessage(f"{name} must be a string")
    return value


def _optional_text(message: Message, name: str) -> str | None:
    return None if message.get(name) is None else _text(message, name)


def _queue(state: State, request: dict[str, object]) -> None:
    """Leave a request for the loop. Only the newest of a kind counts, so the queue stays small."""
    waiting = state.get("requests")
    kept = (
        [one for one in waiting if one.get("type") != request["type"]]
        if isinstance(waiting, list)
        else []
    )
    state["requests"] = [*kept, request]


_HANDLERS: Mapping[str, Callable[[Message, State, Callable[[], Answer]], Answer]] = {
    "status": _status,
    "user_initiated_sleep": _sleep,
    "force_wake": _wake,
    "force_rem": _rem,
    "pause": _pause,
    "resume": _resume,
    "session_open": _session_open,
}
