"""All checks of `doctor`, in the order people read them."""

from collections.abc import Callable
from functools import partial

from iai_mcp.checks import hosts, machine, memory
from iai_mcp.checks.result import Check, examined
from iai_mcp.store import MemoryStore

_MACHINE: tuple[Callable[[], Check], ...] = (
    machine.daemon,
    machine.tasks,
    machine.versions,
    machine.socket,
    machine.lock,
    machine.permissions,
    machine.key,
    machine.store,
    machine.original_store,
    machine.spool,
    machine.disk,
    machine.file_system,
    machine.aliases,
    machine.service,
    machine.processes,
    machine.sessions,
)


def of_machine() -> list[Check]:
    """Everything that can be said without opening the store."""
    found = [examined(look.__name__.replace("_", " "), look) for look in _MACHINE]
    return [*found, *of_hosts()]


def of_hosts() -> list[Check]:
    """Which agent programs are here, and whether they are connected."""
    return hosts.hosts()


def of_store(store: MemoryStore) -> list[Check]:
    """Everything that needs the open store."""
    return [examined(look.__name__, partial(look, store)) for look in memory.CHECKS]
