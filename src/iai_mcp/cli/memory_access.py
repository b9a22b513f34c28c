"""How a command reaches the store: through the daemon if it is up, else by itself, alone."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from iai_mcp import paths
from iai_mcp.cli import agent_rights
from iai_mcp.client import connection
from iai_mcp.domain.errors import Busy, DaemonNotOurs, DaemonUnreachable

if TYPE_CHECKING:
    from iai_mcp.concurrency import ProcessLock

# A daemon that stops or starts, or another command, holds the store for a moment without answering.
_PATIENCE_SECONDS = 5.0
_POLL_SECONDS = 0.02
# Where there is none of these, nothing was ever kept: the store, its key, what agents did, who is at it.
_SIGNS_OF_LIFE = ("memory.db", "key.json", "agent-events.jsonl", ".lock")

Call = Callable[[str, dict[str, object]], dict[str, object]]


def call(
    method: str,
    params: dict[str, object] | None = None,
    timeout: float = 120.0,
    *,
    looks: bool = False,
) -> dict[str, object]:
    """The result of `method`, by the daemon or, where none runs, by this process.

    Whoever only `looks` makes no store where there is none.

    Raises:
        Busy: no daemon answers, yet another process holds the store.
        DaemonNotOurs: another user listens in the daemon's place.
        IaiError: what the method itself says.
    """
    params = _as_caller(method, params or {})
    ends_at = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            return connection.call(method, params, timeout)
        except DaemonNotOurs:
            raise  # opening the store here would hide that somebody waits for what we say
        except DaemonUnreachable:
            if looks and nothing_is_kept():
                with _empty() as call_store:
                    return call_store(method, params or {})
            lock = _locked_unless_served(ends_at)
        if lock is not None:
            with _opened(lock) as call_store:
                return call_store(method, params or {})


@contextmanager
def held(*, looks: bool = False) -> Iterator[Call]:
    """For many calls in a row: by the daemon, or by a store that is opened once for all of them.

    Whoever only `looks` makes no store where there is none.

    Raises:
        Busy: no daemon answers, yet another process holds the store.
    """
    lock = None
    if not connection.is_up():
        if looks and nothing_is_kept():
            with _empty() as call_empty:
                yield call_empty
            return
        lock = _locked_unless_served(time.monotonic() + _PATIENCE_SECONDS)
    if lock is None:
        yield lambda method, params: connection.call(
            method, _as_caller(method, params), timeout=120.0
        )
        return
    with _opened(lock) as call_store:
        yield lambda method, params: call_store(method, _as_caller(method, params))


def _as_caller(method: str, params: dict[str, object]) -> dict[str, object]:
    """A command that runs inside a launched agent's session calls as that agent. Hooks do not: they
    deliver what the host wrote down.
    """
    if not agent_rights.is_agent() or method == "capture_events":
        return params
    agent: dict[str, object] = {"caller": "agent"}
    for name, variable in (
        ("agent_id", agent_rights.AGENT_ID),
        ("agent_name", agent_rights.AGENT_NAME),
    ):
        if value := os.environ.get(variable):
            agent[name] = value
    return {"cwd": _here(), **params, **agent}


def _here() -> str:
    try:
        return os.getcwd()
    except OSError:  # the directory was removed
        return ""


def nothing_is_kept() -> bool:
    """Whether this is the home of somebody who has not begun yet."""
    return not any(os.path.lexists(paths.in_user_data(name)) for name in _SIGNS_OF_LIFE)


def _locked_unless_served(ends_at: float) -> "ProcessLock | None":
    """The store's lock, or None when a daemon answers after all."""
    from iai_mcp.concurrency import ProcessLock

    lock, gained = ProcessLock(), False
    try:
        gained = _gained(lock, ends_at)
        return lock if gained else None
    finally:
        if not gained:
            lock.close()


def _gained(lock: "ProcessLock", ends_at: float) -> bool:
    while not lock.try_acquire_exclusive():
        if time.monotonic() >= ends_at:
            holder = lock.holder()
            who = f" (pid {holder})" if holder else ""
            raise Busy(
                f"another process{who} holds the store and does not answer on the socket: "
                "wait for it, or stop it and try again"
            )
        if connection.is_up():
            return False
        time.sleep(_POLL_SECONDS)
    return True


@contextmanager
def _opened(lock: "ProcessLock") -> Iterator[Call]:
    from iai_mcp.core import dispatch
    from iai_mcp.store import MemoryStore

    try:
        store = MemoryStore()
        try:
            yield lambda method, params: dispatch(store, method, params)
        finally:
            store.close()
            lock.release()
    finally:
        lock.close()


@contextmanager
def _empty() -> Iterator[Call]:
    """What a store answers in which nothing is: one that is gone afterwards, with a key of its own."""
    from pathlib import Path
    from tempfile import TemporaryDirectory

    from iai_mcp.adapters.keys import custody
    from iai_mcp.core import dispatch
    from iai_mcp.store import MemoryStore

    with TemporaryDirectory(prefix="iai-mcp-empty-") as directory:
        custody.init(Path(directory), "file")
        store = MemoryStore(directory)
        try:
            yield lambda method, params: dispatch(store, method, params)
        finally:
            store.close()
