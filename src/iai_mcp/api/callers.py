"""The three kinds of callers, and who may call a method.

A person uses the command line, the page or a hook. An agent uses MCP tools, or runs a command inside
its own session. A remote caller is on another machine. Transports state the kind under `CALLER`; a
client can only lower its own rights. Every method names in the table who may call it, and `check` is
the one place that refuses.
"""

from collections.abc import Mapping

from iai_mcp.domain.errors import InvalidInput, NotAllowed
from iai_mcp.memory.scoping import AGENT, PERSON, REMOTE, Caller, Kind

CALLER = "caller"
VISITOR = "visitor"  # an older spelling: true means an agent

Callers = frozenset[Kind]
PERSON_ONLY: Callers = frozenset((PERSON,))
PERSON_AND_AGENTS: Callers = frozenset((PERSON, AGENT))
PERSON_AND_REMOTE_HOOKS: Callers = frozenset((PERSON, REMOTE))
EVERYBODY: Callers = frozenset((PERSON, AGENT, REMOTE))


def kind_of(params: Mapping[str, object]) -> Kind:
    """The kind that the transport stated; a person where it stated none.

    Raises:
        InvalidInput: there is no such kind.
    """
    visits = params.get(VISITOR)
    if visits is not None and not isinstance(visits, bool):
        raise InvalidInput(f"{VISITOR} must be true or false")
    stated = params.get(CALLER)
    for kind in (AGENT, REMOTE):
        if stated == kind:
            return kind
    if stated not in (None, PERSON):
        raise InvalidInput(f"{CALLER} must be one of {PERSON}, {AGENT}, {REMOTE}")
    return AGENT if visits else PERSON


def caller(params: Mapping[str, object]) -> Caller:
    """Who calls, and from where."""
    return Caller(
        cwd=_text(params, "cwd"),
        kind=kind_of(params),
        name=_text(params, "agent_name") or _text(params, "agent_id"),
    )


def check(method: str, kind: Kind, allowed: Callers, command: str) -> None:
    """
    Raises:
        NotAllowed: a caller of this kind may not call the method.
    """
    if kind in allowed:
        return
    if kind == REMOTE:
        raise NotAllowed(f"{method} is not for another machine: call it on the memory's own")
    run = command or "the matching 'iai-mcp' command"
    raise NotAllowed(f"an agent may not call {method}. A person runs this in a terminal: {run}")


def _text(params: Mapping[str, object], name: str) -> str:
    value = params.get(name)
    return value if isinstance(value, str) else ""
