"""Memories as the events in which circles are told of them."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass

import apsw

from iai_mcp.domain.shared_events import Said

_SAID = """
SELECT m.everywhere, coalesce(c.id, ''), m.session, m.role, m.text, m.at, m.speaker, m.tier, m.cue,
    m.host, m.agent_id, m.agent_name, m.branch, m.meta, coalesce(s.model, ''), v.scale, v.code,
    coalesce(p.key, '')
FROM memories AS m
LEFT JOIN circle_projects AS c ON c.circle = :circle AND c.id = (
    SELECT id FROM circle_projects WHERE circle = :circle AND project IS m.project
    ORDER BY own DESC, id LIMIT 1)
LEFT JOIN projects AS p ON p.id = m.project
LEFT JOIN vectors AS v ON v.key = m.key
LEFT JOIN spaces AS s ON s.id = v.space
WHERE m.everywhere = :identity
"""


@dataclass(frozen=True, slots=True)
class Own:
    """A memory as a circle is told of it, and the key of its project here."""

    said: Said
    project: str


def said_of(db: apsw.Connection, circle: str, identity: bytes) -> Own | None:
    """A memory as that circle is told of it; None if it is not there (any more)."""
    names = {"circle": circle, "identity": identity}
    row = db.execute(_SAID, names, can_cache=False).fetchone()
    return None if row is None else Own(_event(row[:-1]), str(row[-1]))


def _event(row: Sequence[object]) -> Said:
    (identity, project, session, role, text, at, speaker, tier, cue) = row[:9]
    (host, agent_id, agent_name, branch, meta, model, scale, code) = row[9:]
    vector = b""
    if isinstance(scale, float) and isinstance(code, bytes):
        vector = struct.pack("<f", scale) + code
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
    )
