"""How a command reaches the store: through the daemon if it is up, else by itself, alone."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from iai_mcp.client import connection
from iai_mcp.domain.errors import Busy, DaemonUnreachable

Call = Callable[[str, dict[str, object]], dict[str, object]]


def call(
    method: str, params: dict[str, object] | None = None, timeout: float = 120.0
) -> dict[str, object]:
    """The result of `method`, by the daemon or, where none runs, by this process.

    Raises:
        Busy: no daemon answers, yet another process holds the store.
        IaiError: what the method itself says.
    """
    try:
        return connection.call(method, params, timeout)
    except DaemonUnreachable:
        return _call_here(method, params or {})


def _call_here(method: str, params: dict[str, object]) -> dict[str, object]:
    with _store_of_our_own() as call_store:
        return call_store(method, params)


@contextmanager
def held() -> Iterator[Call]:
    """For many calls in a row: by the daemon, or by a store that is opened once for all of them.

    Raises:
        Busy: no daemon answers, yet another process holds the store.
    """
    if connection.is_up():
        yield lambda method, params: connection.call(method, params, timeout=120.0)
        return
    with _store_of_our_own() as call_store:
        yield call_store


@contextmanager
def _store_of_our_own() -> Iterator[Call]:
    from iai_mcp.concurrency import ProcessLock
    from iai_mcp.core import dispatch
    from iai_mcp.store import MemoryStore

    lock = ProcessLock()
    try:
        if not lock.try_acquire_exclusive():
            holder = lock.holder()
            who = f" (pid {holder})" if holder else ""
            raise Busy(
                f"another process{who} holds the store and does not answer on the socket: "
                "wait for it, or stop it and try again"
            )
        store = MemoryStore()
        try:
            yield lambda method, params: dispatch(store, method, params)
        finally:
            store.close()
            lock.release()
    finally:
        lock.close()
