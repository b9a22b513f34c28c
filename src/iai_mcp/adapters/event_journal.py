"""`EventBus` that also keeps a private journal, so that other processes can follow along."""

import dataclasses
import json
import os
from collections.abc import Callable
from pathlib import Path
from threading import Lock

from iai_mcp.adapters.files.local import io_failure
from iai_mcp.domain.agent_events import AgentEvent
from iai_mcp.ports.clock import Clock

# Enough for months of work; what is older goes when the journal is turned over.
_LARGEST_JOURNAL = 1_000_000


class JournalEventBus:
    """Tells subscribers in this process, then appends one line to `<user data>/agent-events.jsonl`.

    The line holds ids, a kind and a time: never what anybody said.
    """

    def __init__(self, user_data: Callable[[], str], clock: Clock) -> None:
        self._user_data = user_data
        self._clock = clock
        self._subscribers: dict[object, Callable[[AgentEvent], None]] = {}
        self._turnstile = Lock()

    def publish(self, event: AgentEvent) -> None:
        with self._turnstile:
            listeners = list(self._subscribers.values())
        for listener in listeners:
            listener(event)
        self._append(event)

    def subscribe(self, callback: Callable[[AgentEvent], None]) -> Callable[[], None]:
        token = object()
        with self._turnstile:
            self._subscribers[token] = callback

        def stop() -> None:
            with self._turnstile:
                self._subscribers.pop(token, None)

        return stop

    def _append(self, event: AgentEvent) -> None:
        fields = dataclasses.asdict(event)
        line = json.dumps({"event": type(event).__name__, "ts_ms": self._clock.now_ms(), **fields})
        path = Path(self._user_data(), "agent-events.jsonl")
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
            descriptor = os.open(path, flags, 0o600)
            try:
                if os.fstat(descriptor).st_size > _LARGEST_JOURNAL:
                    path.replace(f"{path}.old")
                # One write of one line: lines of several processes do not mix.
                os.write(descriptor, line.encode() + b"\n")
            finally:
                os.close(descriptor)
        except OSError as refused:
            raise io_failure(refused, str(path)) from refused
