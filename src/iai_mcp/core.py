"""Dispatch: the one function behind every transport."""

from collections.abc import Callable, Mapping
from functools import cache

from iai_mcp.domain.errors import InvalidInput, StoreError
from iai_mcp.memory.params import Params, as_stored
from iai_mcp.store import MemoryStore

# These need names as they arrive: what makes a turn itself is worked out from them.
_CAPTURES = ("memory_capture", "capture_events", "import_records")


class UnknownMethodError(LookupError):
    """There is no such method; `args[0]` is its name."""


def dispatch(store: MemoryStore | None, method: str, params: object) -> dict[str, object]:
    """Call `method` with `params` (an object) and return its result.

    Raises:
        UnknownMethodError: no such method.
        IaiError: with a stable code and a sentence; InvalidInput for bad params.
    """
    of_memory = methods().get(method)
    found = of_memory or agent_methods().get(method)
    if found is None:
        raise UnknownMethodError(method)
    if params is None:
        params = {}
    if not isinstance(params, dict):
        raise InvalidInput("params must be an object")
    if store is None:
        raise StoreError("no store is open here")
    if of_memory is not None and method not in _CAPTURES:
        params = as_stored(params, store.redactor)
    return found(store, Params(params))


@cache
def methods() -> Mapping[str, Callable[[MemoryStore, Params], dict[str, object]]]:
    """Every method by name."""
    from iai_mcp.methods import bulky, custody, doctor, injection, journal, knobs, memory, sleep

    tables = (memory, journal, injection, custody, doctor, knobs, sleep, bulky)
    return {name: method for table in tables for name, method in table.METHODS.items()}


@cache
def agent_methods() -> Mapping[str, Callable[[MemoryStore, Params], dict[str, object]]]:
    """The methods of the agents half, loaded when the first of them is asked for."""
    from iai_mcp.workspace.methods import METHODS

    return METHODS
