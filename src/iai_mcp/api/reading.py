"""Reading what many methods of the memory half take: who calls, and what the call is about."""

from datetime import UTC, datetime

from iai_mcp.api import callers
from iai_mcp.domain.moments import moment
from iai_mcp.memory.scoping import Caller, Filter
from iai_mcp.protocol.params import Params
from iai_mcp.store import MemoryStore


def caller_of(params: Params) -> Caller:
    params.text("cwd", "")  # refused unless it is a string
    return callers.caller(params.all())


def filter_of(
    store: MemoryStore, params: Params, since: str = "since", until: str = "until"
) -> Filter:
    return Filter(
        project=params.text("project", ""),
        session_id=params.text("session_id", ""),
        host=params.text("host", ""),
        agent=params.text("agent", ""),
        role=params.text("role", ""),
        since=micros_of(store, params, since),
        until=micros_of(store, params, until),
        as_of=micros_of(store, params, "as_of"),
        member=params.text("from", ""),
        machine=params.text("machine", ""),
    )


def micros_of(store: MemoryStore, params: Params, name: str) -> int | None:
    """The time that a call gives, as a date or in words such as `yesterday`."""
    given = params.optional_text(name)
    if given is None:
        return None
    now = datetime.fromtimestamp(store.clock.now() / 1e6, UTC).astimezone()
    return moment(given, now, name=name)
