"""A memory as the wire shows it: the same keys everywhere."""

from iai_mcp.domain.excerpts import excerpt
from iai_mcp.domain.instants import iso
from iai_mcp.domain.memories import Memory


def record(memory: Memory) -> dict[str, object]:
    """The keys that hits, timelines and exports share."""
    whence = memory.provenance
    return {
        "id": memory.id,
        "text": memory.text,
        "role": memory.role,
        "speaker": memory.speaker or None,
        "tier": memory.tier,
        "session_id": whence.session_id or None,
        "project": whence.project or None,
        "host": whence.host or None,
        "agent_id": whence.agent_id or None,
        "agent": whence.agent_name or None,
        "branch": whence.branch or None,
        "ts": memory.at.text,
        "valid_from": _moment(memory.valid_from),
        "valid_to": _moment(memory.valid_to),
        "pinned": memory.pinned,
        "derived": memory.derived,
        "meta": dict(memory.meta),
    }


def cut(shown: dict[str, object], about: str, length: int) -> dict[str, object]:
    """The same with an excerpt of its text, and how long the whole is."""
    text = str(shown["text"])
    if len(text) <= length:
        return shown
    pieces = excerpt(text, about, length)
    return {**shown, "text": pieces, "excerpt": True, "characters": len(text)}


def _moment(micros: int | None) -> str | None:
    return None if micros is None else iso(micros)
