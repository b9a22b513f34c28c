"""A turn, or work, as hooks deliver it and spool files keep it: an object, read into a value."""

from collections.abc import Mapping

from iai_mcp.domain.errors import InvalidInput
from iai_mcp.domain.exchanges import said_within
from iai_mcp.domain.instants import Instant, instant
from iai_mcp.domain.memories import SUMMARY, NewTurn, encodable
from iai_mcp.domain.work import KINDS, NewWork, read_done
from iai_mcp.protocol.host_notices import without_notices
from iai_mcp.protocol.params import Params, meta_json

_LONGEST_SOURCE = 60


def read_turn(raw: object, shared: NewTurn) -> NewTurn | None:
    """The turn that an event describes; None for a blank one, and for what no person said in their place.

    Hosts tell nothing inside of what a person answers to a question or says in refusing a call.
    What it does not say about its session, place and host is as in `shared`.

    Raises:
        InvalidInput: it is no turn.
    """
    if not isinstance(raw, Mapping):
        raise InvalidInput("an event must be an object")
    event = Params(raw)
    text, role = event.text("text", ""), event.text("role", "user") or "user"
    meta = event.raw("meta")
    if event.raw("kind") == SUMMARY:
        role, meta = SUMMARY, _with_source(meta, event.text("source", ""))
    if role == "user" and not (isinstance(meta, Mapping) and said_within(role, meta)):
        text = without_notices(text)
    if not text.strip():
        return None
    return NewTurn(
        text=text,
        role=role,
        at=lenient_instant(event.raw("ts")),
        session_id=event.text("session_id", "") or shared.session_id,
        id=_turn_id(event.raw("id")),
        uid=_turn_id(event.raw("uid")),
        occurrence=event.integer("occurrence", -1, 0, 1 << 31) if event.has("occurrence") else None,
        project=event.text("project", "") or shared.project,
        cwd=event.text("cwd", "") or shared.cwd,
        host=event.text("host", "") or shared.host,
        agent_id=event.text("agent_id", ""),
        agent_name=event.text("agent_name", ""),
        branch=event.text("branch", ""),
        repository=event.text("repository", ""),
        speaker=event.text("speaker", ""),
        tier=event.text("tier", "episodic") or "episodic",
        cue=event.text("cue", ""),
        meta=meta_json(meta),
    )


def _with_source(meta: object, source: str) -> dict[str, object]:
    """What is noted of a summary, with where it comes from."""
    noted = dict(meta) if isinstance(meta, Mapping) else {}
    return noted | {"source": source[:_LONGEST_SOURCE]} if source else noted


def is_work(raw: object) -> bool:
    """Whether an event is work and no turn."""
    return isinstance(raw, Mapping) and raw.get("kind") in KINDS and raw.get("role") == "tool"


def read_work(raw: object, shared: NewTurn) -> NewWork | None:
    """The work that an event describes; None for a blank one.

    Raises:
        InvalidInput: it is none.
    """
    told = read_turn(raw, shared)
    if told is None or not isinstance(raw, Mapping):
        return None
    return NewWork(
        told, read_done(str(raw.get("kind")), raw.get("work")), _turn_id(raw.get("turn"))
    )


def spooled_turn(session_id: str, raw: Mapping[str, object]) -> NewTurn | NewWork | None:
    """What a line of a session's spool file holds; None for a line that holds nothing."""
    shared = NewTurn(text="", session_id=session_id)
    try:
        return read_work(raw, shared) if is_work(raw) else read_turn(raw, shared)
    except InvalidInput:
        return None


def lenient_instant(raw: object) -> Instant | None:
    """A time; None when there is none that can be understood: the words still count."""
    try:
        return None if raw is None else instant(raw)
    except InvalidInput:
        return None


def _turn_id(raw: object) -> str:
    if raw is None or isinstance(raw, bool):
        return ""
    return encodable(str(raw))
