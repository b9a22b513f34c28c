"""What was done as the JSON that leaves us: the keys that turns have, and `kind`, `work`, `turn`."""

from uuid import UUID

from iai_mcp.api.table import Json
from iai_mcp.domain.work import Command, Record, details_of, text_of
from iai_mcp.memory.work_recall import Folded, Share, WorkHit

_ALWAYS = frozenset(("text", "session_id", "project"))


def work_view(record: Record) -> Json:
    """The keys that hits and exports share."""
    whence = record.provenance
    return {
        "id": record.id,
        "kind": record.kind,
        "text": text_of(record.done, record.note),
        "role": "tool",
        "work": details_of(record.done),
        "turn": None if record.turn is None else str(UUID(bytes=record.turn)),
        "session_id": whence.session_id or None,
        "project": whence.project or None,
        "host": whence.host or None,
        "agent_id": whence.agent_id or None,
        "agent": whence.agent_name or None,
        "branch": whence.branch or None,
        "ts": record.at.text,
    }


def work_hit_view(hit: WorkHit) -> Json:
    """With the keys that every hit has; what is not known is left out of the others."""
    told = {key: value for key, value in work_view(hit.record).items() if value or key in _ALWAYS}
    told |= {"valid_from": hit.record.at.text, "valid_to": None, "meta": {}}
    told |= {"score": round(hit.score, 4), "reason": "done"}
    return {**told, "request": hit.request} if hit.request else told


def work_whole_view(hit: WorkHit) -> Json:
    """One piece of work with what it printed, as one text."""
    told = work_view(hit.record)
    done = hit.record.done
    printed = f"\n{done.output}" if isinstance(done, Command) and done.output else ""
    text = f"{told['text']}{printed}"
    return {**told, "text": text, "characters": len(text), "request": hit.request}


def with_work(told: Json, share: Share, limit: int) -> Json:
    """An answer with what was done among its hits."""
    said = told["hits"]
    if not share.hits or not isinstance(said, list):
        return told
    done = [work_hit_view(hit) for hit in share.hits]
    hits = [*said[: share.behind], *done, *said[share.behind :]][:limit]
    used = told.get("budget_used")
    used = used if isinstance(used, int) else 0
    if not share.behind and told.pop("note", None):
        told["close"] = True  # what was done is what was asked for
    return {**told, "hits": hits, "budget_used": used + share.tokens}


def folded_view(one: Folded) -> Json:
    """What was done after a turn; nothing where nothing was."""
    if not (one.commands or one.edits or one.looked):
        return {}
    counts = {
        "commands": one.commands,
        "failed": one.failed,
        "edits": one.edits,
        "looked": one.looked,
    }
    return {"work": {**counts, "did": list(one.did)}}
