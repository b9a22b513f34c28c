"""Memories as documents: out a page at a time, and in again exactly once."""

import json
import uuid
from collections.abc import Mapping, Sequence

from iai_mcp.domain.errors import InvalidInput
from iai_mcp.domain.instants import from_micros
from iai_mcp.domain.memories import CleanTurn, Memory, Provenance, Turn, clean
from iai_mcp.memory.changing import one
from iai_mcp.memory.room import Room, in_portions
from iai_mcp.memory.showing import record
from iai_mcp.ports.memories import Carried, Memories
from iai_mcp.ports.surroundings import Projects, Redactor
from iai_mcp.protocol.params import Params, meta_json

FORMAT = 1
_LONGEST_SALT = 64  # of the keyed hash that makes identities
_PIECE = 2_000_000  # characters; in the worst of letters half a line


def page(memories: Memories, after: int, limit: int) -> dict[str, object]:
    """The next memories in order of arrival, as many as an answer holds, and where the next page begins.

    One that no answer holds stands alone in `large`, by its id: `piece` gives it.
    """
    placed = memories.arrived(after, limit)
    older = memories.supersedes([one.key for one in placed])
    room = Room()
    told: dict[str, object] = {"format": FORMAT, "salt": memories.salt.hex()}
    records: list[tuple[int, dict[str, object]]] = []
    last = placed[-1].key if len(placed) == limit else None
    for place, memory in in_portions(memories, placed):
        exported = _exported(memory, older)
        if not room.takes(exported):
            last = records[-1][0] if records else place.key
            if not records:
                told["large"] = memory.id
            break
        records.append((place.key, exported))
    return {**told, "records": [one for _, one in records], "next": last}


def piece(memories: Memories, public_id: str, offset: int) -> dict[str, object]:
    """A part of one memory's line in an export, from that character on, and where the next begins."""
    memory = one(memories, public_id)
    line = json.dumps(_exported(memory, memories.supersedes([memory.key])), ensure_ascii=False)
    end = offset + _PIECE
    return {"piece": line[offset:end], "next": end if end < len(line) else None}


def _exported(memory: Memory, older: Mapping[int, Sequence[str]]) -> dict[str, object]:
    supersedes = older.get(memory.key, [])
    return {**record(memory), "cue": memory.cue, "supersedes": list(supersedes)}


def imported(
    memories: Memories,
    projects: Projects,
    redact: Redactor,
    records: Sequence[object],
    salt: str,
) -> dict[str, object]:
    """Store exported records under the ids they had; those that are here already stay as they are.

    An empty store takes over the exporting store's salt, so that what its hooks capture again later
    is recognised as the same turns.
    """
    if salt and memories.count() == 0:
        memories.adopt_salt(_salt(salt))
    turns = [_turn(raw, projects, redact) for raw in records]
    outcomes = memories.add(turns)
    memories.carry_over(
        [
            _carried(raw, outcome.key)
            for raw, outcome in zip(records, outcomes, strict=True)
            if outcome.status == "inserted" and outcome.key is not None
        ]
    )
    statuses = [outcome.status for outcome in outcomes]
    return {
        "inserted": statuses.count("inserted"),
        "duplicates": statuses.count("duplicate"),
        "skipped": statuses.count("forgotten"),
    }


def _salt(written: str) -> bytes:
    try:
        salt = bytes.fromhex(written)
    except ValueError as bad:
        raise InvalidInput("salt must be written in hexadecimal digits") from bad
    if len(salt) > _LONGEST_SALT:
        raise InvalidInput(f"salt may have {_LONGEST_SALT} bytes at most")
    return salt


def _turn(raw: object, projects: Projects, redact: Redactor) -> CleanTurn:
    if not isinstance(raw, dict):
        raise InvalidInput("a record must be an object")
    given = Params(raw)
    turn = Turn(
        identity=_identity(given.text("id")),
        text=given.text("text"),
        role=given.text("role", "user"),
        at=given.instant("ts") or from_micros(0),
        speaker=given.text("speaker", ""),
        tier=given.text("tier", "episodic"),
        cue=given.text("cue", ""),
        provenance=Provenance(
            session_id=given.text("session_id", ""),
            project=projects.key_of(given.text("project", ""), ""),
            host=given.text("host", ""),
            agent_id=given.text("agent_id", ""),
            agent_name=given.text("agent", ""),
            branch=given.text("branch", ""),
        ),
        meta=meta_json(given.raw("meta") or None),
    )
    # What this program exported is clean; what others wrote in its form may not be.
    return clean(turn, redact(turn.text).text, lambda text: redact(text).text)


def _carried(raw: object, key: int) -> Carried:
    """What is no part of a turn. It is there only if this program exported the record."""
    given = Params(raw if isinstance(raw, dict) else {})
    until = given.instant("valid_to")
    return Carried(
        key=key,
        pinned=given.flag("pinned"),
        valid_to=None if until is None else until.micros,
        supersedes=tuple(given.texts("supersedes")) if given.raw("supersedes") else (),
    )


def _identity(public: str) -> bytes:
    try:
        return uuid.UUID(public).bytes
    except ValueError as bad:
        raise InvalidInput(f"{public[:40]!r} is not the id of a memory") from bad
