"""Memories and answers as the JSON that leaves us: the same keys everywhere."""

from iai_mcp.api.table import Json
from iai_mcp.domain.closeness import NOTE
from iai_mcp.domain.injected_text import InjectedText
from iai_mcp.domain.instants import iso
from iai_mcp.domain.memories import DEFAULT_TIER, Memory
from iai_mcp.domain.projects.identity import is_elsewhere
from iai_mcp.memory.payload import BYTES_PER_TOKEN, size
from iai_mcp.memory.question import Answer, Hit
from iai_mcp.memory.room import Shown

# A hit has these whether or not they are known.
_ALWAYS = frozenset(("text", "session_id", "project", "valid_from", "valid_to", "meta"))
_BUDGET_USED = len('"budget_used":1000000,')


def memory_view(memory: Memory) -> Json:
    """The keys that hits, timelines and exports share."""
    whence = memory.provenance
    told: Json = {
        "id": memory.id,
        "text": memory.text,
        "role": memory.role,
        "speaker": memory.speaker or None,
        "tier": memory.tier,
        "session_id": whence.session_id or None,
        **({"sessions": sorted(memory.sessions)} if memory.also_in else {}),
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
    if whence.captured_by:  # an agent's tool wrote it
        told["captured_by"] = whence.captured_by
    if is_elsewhere(whence.project):
        told["machine"] = "/".join(whence.project.split("/")[:3])
    if whence.circle:  # another machine told it
        told |= {"member": whence.member, "machine": whence.machine, "circle": whence.circle}
    return told


def shown_view(shown: Shown) -> Json:
    return {**memory_view(shown.memory), **_excerpt(shown)}


def _terse(shown: Shown) -> Json:
    """The same without what is not known or goes without saying: hosts pay for each letter of an answer."""
    memory, view = shown.memory, shown_view(shown)
    if memory.valid_from == memory.at.micros:
        view["valid_from"] = memory.at.text
    if memory.tier == DEFAULT_TIER:
        del view["tier"]
    for told_by_show in ("branch", "characters"):
        view.pop(told_by_show, None)
    return {key: value for key, value in view.items() if value or key in _ALWAYS}


def hit_view(hit: Hit) -> Json:
    told = _terse(hit.shown)
    told["score"] = round(hit.score, 4)
    told["reason"] = hit.reason
    if hit.parts is not None:
        told["parts"] = {name: round(value, 3) for name, value in hit.parts.items() if value}
    if hit.same:
        told |= {"count": hit.times, "same": list(hit.same)}
    if hit.request:
        told["request"] = hit.request
    if hit.also:
        told["also"] = [_elsewhere(memory, hit.memory) for memory in hit.also]
    if hit.around is not None:
        told["before"] = [_terse(turn) for turn in hit.around.before]
        told["after"] = [_terse(turn) for turn in hit.around.after]
    return told


def answer_view(answer: Answer) -> Json:
    told: Json = {
        "hits": [hit_view(hit) for hit in answer.hits],
        "anti_hits": [hit_view(hit) for hit in answer.superseded],
        "close": answer.close,
    }
    if not answer.close:
        told["note"] = NOTE
    if answer.sessions is not None:
        told["sessions"] = [
            {
                "session_id": session.session_id or None,
                "project": session.project or None,
                "score": round(session.score, 4),
                "hits": [hit.memory.id for hit in session.hits],
            }
            for session in answer.sessions
        ]
    told["cue_mode"] = "words+meaning" if answer.by_meaning else "words"
    told["degraded"] = list(answer.degraded)
    # Itself it takes up to so many bytes.
    told["budget_used"] = -(-(size(told) + _BUDGET_USED) // BYTES_PER_TOKEN)
    return told


def injected_view(made: InjectedText) -> Json:
    sources = [{"id": source.id, "why": source.why} for source in made.sources]
    return {"text": made.text, "tokens": made.tokens, "sources": sources}


def _elsewhere(memory: Memory, beside: Memory) -> Json:
    whence = memory.provenance
    told: Json = {"id": memory.id, "session_id": whence.session_id or None, "ts": memory.at.text}
    if whence.project != beside.provenance.project:
        told["project"] = whence.project or None
    return told


def _excerpt(shown: Shown) -> Json:
    return {} if shown.characters is None else {"excerpt": True, "characters": shown.characters}


def _moment(micros: int | None) -> str | None:
    return None if micros is None else iso(micros)
