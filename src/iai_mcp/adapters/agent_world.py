"""What surrounds agents on this machine: a bus with a journal, the memory daemon, clock and ids."""

import dataclasses
import json
import os
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from threading import Lock

from iai_mcp.adapters.files.local import io_failure
from iai_mcp.client import connection
from iai_mcp.client.connection import CallFailed
from iai_mcp.domain.agents.events import AgentEvent
from iai_mcp.domain.errors import DaemonUnreachable
from iai_mcp.ports.agent_world import MillisecondClock
from iai_mcp.protocol import markers

# Enough for months of work; what is older goes when the journal is turned over.
_LARGEST_JOURNAL = 1_000_000
# A launch waits for memory no longer than a person notices.
_PATIENCE_SECONDS = 3.0


class JournalEventBus:
    """`EventBus`: tells subscribers in this process, then appends one line to `<user data>/agent-events.jsonl`.

    Other processes follow along there. The line holds ids, a kind and a time: never what anybody said.
    """

    def __init__(self, user_data: Callable[[], str], clock: MillisecondClock) -> None:
        self._user_data = user_data
        self._clock = clock
        self._subscribers: dict[object, Callable[[AgentEvent], None]] = {}
        self._lock = Lock()

    def publish(self, event: AgentEvent) -> None:
        with self._lock:
            listeners = list(self._subscribers.values())
        for listener in listeners:
            listener(event)
        self._append(event)

    def subscribe(self, callback: Callable[[AgentEvent], None]) -> Callable[[], None]:
        token = object()
        with self._lock:
            self._subscribers[token] = callback

        def stop() -> None:
            with self._lock:
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


class DaemonMemory:
    """`SharedMemory` through the daemon's socket. `machine`: where projects are, `ssh://…`; "" here."""

    def __init__(self, machine: str = "") -> None:
        self._machine = machine

    def is_up(self) -> bool:
        return connection.is_up()

    def session_start(self, project: str, agent_id: str, session_id: str) -> str | None:
        try:
            answer = connection.call(
                "session_start_payload",
                {
                    "project": f"{self._machine}{project}",
                    "agent_id": agent_id,
                    "session_id": session_id,
                },
                timeout=_PATIENCE_SECONDS,
            )
        except (DaemonUnreachable, CallFailed):
            return None
        text = answer.get("text")
        # Marked as ours, so that what was recalled is never captured as if somebody had said it.
        return markers.wrap(text) if isinstance(text, str) and text.strip() else None


class SystemMillisecondClock:
    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000


class UuidIds:
    def new(self) -> str:
        return str(uuid.uuid4())
