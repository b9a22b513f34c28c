"""Reading what many methods of the memory half take: who calls, and what the call is about."""

from iai_mcp.memory.scoping import Caller, Filter
from iai_mcp.protocol.params import Params

# Says that the caller is not the owner of the memory. Whoever speaks MCP is none.
VISITOR = "visitor"


def caller_of(params: Params) -> Caller:
    return Caller(cwd=params.text("cwd", ""), visitor=params.flag(VISITOR))


def filter_of(params: Params, since: str = "since", until: str = "until") -> Filter:
    return Filter(
        project=params.text("project", ""),
        session_id=params.text("session_id", ""),
        host=params.text("host", ""),
        agent=params.text("agent", ""),
        role=params.text("role", ""),
        since=micros_of(params, since),
        until=micros_of(params, until),
        as_of=micros_of(params, "as_of"),
        member=params.text("from", ""),
        machine=params.text("machine", ""),
    )


def micros_of(params: Params, name: str) -> int | None:
    given = params.instant(name)
    return None if given is None else given.micros
