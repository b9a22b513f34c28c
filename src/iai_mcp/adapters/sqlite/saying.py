"""Memories as the events in which circles are told of them."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass

import apsw

from iai_mcp.adapters.sqlite import belonging
from iai_mcp.domain.shared_events import Said

_SAID = """
SELECT m.everywhere, coalesce(c.id, ''), m.session, m.role, m.text, m.at, m.speaker, m.tier, m.cue,
    m.host, m.agent_id, m.agent_name, m.branch, m.meta, coalesce(s.model, ''), v.scale, v.code,
    coalesce(o.topics, 0), coalesce(o.context, 0), coalesce(o.scales, x''), coalesce(o.codes, x''),
    b.key IS NULL, m.key, coalesce(p.key, '')
FROM memories AS m
LEFT JOIN circle_projects AS c ON c.circle = :circle AND c.id = (
    SELECT id FROM circle_projects WHERE circle = :circle AND project IS m.project
    ORDER BY own DESC, id LIMIT 1)
LEFT JOIN projects AS p ON p.id = m.project
LEFT JOIN vectors AS v ON v.key = m.key
LEFT JOIN spaces AS s ON s.id = v.space
LEFT JOIN passages AS o ON o.key = m.key AND o.space = v.space
LEFT JOIN pending_vectors AS b ON b.key = m.key
WHERE m.everywhere = :identity
"""


@dataclass(frozen=True, slots=True)
class Own:
    """A memory as a circle is told of it, and what decides whether it may be.

    `before` is what was said before it in its session, where one of its vectors is made of both; None
    where the circle is not told of that.
    """

    said: Said
    project: str  # its key here
    before: str | None = ""


def said_of(db: apsw.Connection, circle: str, identity: bytes) -> Own | None:
    """A memory as that circle is told of it; None if it is not there (any more)."""
    names = {"circle": circle, "identity": identity}
    row = db.execute(_SAID, names, can_cache=False).fetchone()
    if row is None:
        return None
    said, key, project = _event(row[:-2]), int(row[-2]), str(row[-1])
    return Own(said, project, _before(db, circle, key, said) if said.context else "")


def _before(db: apsw.Connection, circle: str, key: int, said: Said) -> str | None:
    sql = (
        "SELECT text FROM memories WHERE key = ? AND everywhere IN "
        "(SELECT identity FROM outbox WHERE circle = ?)"
    )
    for last in belonging.before(db, said.session_id, (said.at, key), 1):
        row = db.execute(sql, (last, circle), can_cache=False).fetchone()
        return None if row is None else str(row[0])
    return None


def _event(row: Sequence[object]) -> Said:
    (identity, project, session, role, text, at, speaker, tier, cue) = row[:9]
    (host, agent_id, agent_name, branch, meta, model, scale, code) = row[9:17]
    (topics, context, scales, codes, embedded) = row[17:]
    vector = parts = b""
    if isinstance(scale, float) and isinstance(code, bytes) and embedded:
        vector = struct.pack("<f", scale) + code
        assert isinstance(scales, bytes) and isinstance(codes, bytes)  # noqa: S101 - the schema says so
        parts = scales + codes
    assert isinstance(identity, bytes) and isinstance(at, int)  # noqa: S101 - the schema says so
    return Said(
        identity=identity,
        project=str(project),
        session_id=str(session),
        role=str(role),
        text=str(text),
        at=at,
        speaker=str(speaker),
        tier=str(tier),
        cue=str(cue),
        host=str(host),
        agent_id=str(agent_id),
        agent_name=str(agent_name),
        branch=str(branch),
        meta=str(meta),
        model=str(model) if vector else "",
        vector=vector,
        parts=parts,
        topics=int(str(topics)) if parts else 0,
        context=bool(context) and bool(parts),
        whole=bool(vector),
    )
