"""Reading what many methods of the memory half take: who calls, and what the call is about."""

from datetime import UTC, datetime

from iai_mcp.domain.errors import InvalidInput
from iai_mcp.domain.memories import encodable
from iai_mcp.domain.moments import moment
from iai_mcp.memory.scoping import Caller, Filter
from iai_mcp.protocol.params import Params
from iai_mcp.store import MemoryStore

MOST_WORDINGS, LONGEST_WORDING = 6, 500
# Says that the caller is not the owner of the memory. Whoever speaks MCP is none.
VISITOR = "visitor"


def caller_of(params: Params) -> Caller:
    return Caller(cwd=params.text("cwd", ""), visitor=params.flag(VISITOR))


def wants_text(params: Params) -> bool:
    """Whether the answer is one text, as models read it, instead of JSON."""
    given = params.text("format", "json")
    if given not in ("json", "text"):
        raise InvalidInput(f"format must be text or json, not {given[:40]!r}")
    return given == "text"


def wordings_of(params: Params) -> tuple[str, ...]:
    """Other ways to say the question.

    Raises:
        InvalidInput: they are too many or too long.
    """
    given = params.raw("wordings")
    if given is None:
        return ()
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        raise InvalidInput("wordings must be a list of strings")
    if len(given) > MOST_WORDINGS:
        raise InvalidInput(f"give at most {MOST_WORDINGS} wordings, not {len(given)}")
    if any(len(one) > LONGEST_WORDING for one in given):
        raise InvalidInput(f"a wording has at most {LONGEST_WORDING} characters")
    return tuple(one for one in map(encodable, given) if one.strip())


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
