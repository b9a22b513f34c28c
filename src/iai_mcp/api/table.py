"""All methods by name, and the one way to call them: socket, MCP, HTTP and command line come here."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Generic, TypeVar

from iai_mcp.domain.errors import InvalidInput, StoreError
from iai_mcp.domain.memories import encodable
from iai_mcp.protocol.params import Params

if TYPE_CHECKING:
    from iai_mcp.ports.surroundings import Redactor
    from iai_mcp.store import MemoryStore
    from iai_mcp.workspace import Workspace

Json = dict[str, object]
# What a method works on: the store of memories, or the workspace of the agents.
On = TypeVar("On")


@dataclass(frozen=True, slots=True)
class Method(Generic[On]):
    """What stands behind a name on the wire, and who may call it.

    `answer` reads the parameters into values, enters one use case, and shows what it gives.
    """

    name: str
    answer: Callable[[On, Params], Json]
    activity: bool = True  # a call keeps the daemon awake; watching it does not
    tool: str = ""  # the MCP tool that it is behind
    page: bool = False  # whether a page in a browser may call it
    types: bool = False  # it types into the `session` it names: from a page with its keyboard only
    # Names are asked for as they are stored: without secrets. What makes a turn itself is worked out
    # from its names as they arrive.
    names_as_given: bool = False
    waits_for_sleep: bool = False  # so sleep must not step aside for it
    takes_ids: bool = False  # `id` and `ids` name records: a prefix of the digits will do


class UnknownMethodError(LookupError):
    """There is no such method; `args[0]` is its name."""


def dispatch(store: "MemoryStore | None", method: str, params: object) -> Json:
    """Call `method` with `params` (an object) and return its result.

    Raises:
        UnknownMethodError: no such method.
        IaiError: with a stable code and a sentence; InvalidInput for bad params.
    """
    of_memory = memory_methods().get(method)
    of_agents = None if of_memory else agent_methods().get(method)
    if of_memory is None and of_agents is None:
        raise UnknownMethodError(method)
    if params is None or params == []:
        params = {}
    if not isinstance(params, dict):
        raise InvalidInput("params must be an object")
    if store is None:
        raise StoreError("no store is open here")
    if of_memory is not None:
        given = params if of_memory.names_as_given else _as_stored(params, store.redactor)
        return of_memory.answer(store, Params(_whole_ids(store, of_memory, given)))
    from iai_mcp.workspace import workspace_of

    named = params.get("project") or params.get("path")
    return call(workspace_of(named if isinstance(named, str) else None), method, params)


def _whole_ids(
    store: "MemoryStore", method: "Method[MemoryStore]", given: Mapping[str, object]
) -> Mapping[str, object]:
    """The params with ids of records in full."""
    if not method.takes_ids or not (given.get("id") or given.get("ids")):
        return given
    from iai_mcp.api.reading import caller_of

    caller = caller_of(Params(given))
    whole = dict(given)
    if isinstance(one := given.get("id"), str):
        whole["id"] = store.record_ids.whole(one, caller)
    if isinstance(several := given.get("ids"), list):
        whole["ids"] = [
            store.record_ids.whole(one, caller) if isinstance(one, str) else one for one in several
        ]
    return whole


def call(workspace: "Workspace", name: str, params: Mapping[str, object]) -> Json:
    """Call a method of the agents half in this process, as the command line does."""
    return agent_methods()[name].answer(workspace, Params(params))


def is_activity(method: str) -> bool:
    """Whether a call of it keeps the daemon awake. Whatever is not of the memory half does: it need
    not be loaded to know that.
    """
    found = memory_methods().get(method)
    return found is None or found.activity


def waits_for_sleep(method: str) -> bool:
    found = memory_methods().get(method)
    return found is not None and found.waits_for_sleep


@cache
def memory_methods() -> "Mapping[str, Method[MemoryStore]]":
    from iai_mcp.api import injection, knobs, memory, overviews, sharing, transfer, upkeep, work

    subjects = (memory, overviews, work, injection, knobs, sharing, transfer, upkeep)
    return {method.name: method for subject in subjects for method in subject.METHODS}


@cache
def agent_methods() -> "Mapping[str, Method[Workspace]]":
    """Loaded when the first of them is asked for."""
    from iai_mcp.api import agents, projects, sessions

    subjects = (agents, projects, sessions)
    return {method.name: method for subject in subjects for method in subject.METHODS}


# What is known about a turn by name, and asked for by the same name.
_NAMES = ("session_id", "host", "agent", "agent_id", "agent_name", "speaker", "role", "branch")


def _as_stored(raw: Mapping[str, object], redact: "Redactor") -> Mapping[str, object]:
    """The params of a call whose names are those that are stored: without secrets."""
    cleaned: dict[str, object] = {}
    for name in _NAMES:
        value = raw.get(name)
        if isinstance(value, str) and value:
            cleaned[name] = redact(encodable(value)).text
    return {**raw, **cleaned} if cleaned else raw
