"""What ranking knows about each memory beside its words and vectors, and keeping it current."""

from collections.abc import Iterator
from dataclasses import dataclass

import apsw

from iai_mcp.adapters.sqlite import words
from iai_mcp.adapters.sqlite.sheet import Line, flags
from iai_mcp.domain.exchanges import turning
from iai_mcp.domain.memories import CleanTurn
from iai_mcp.domain.traits import TRAITS_VERSION, traits_of

_LINES = """
SELECT m.key, m.at, t.length, t.flags, m.session, coalesce(p.key, ''), m.speaker, m.role, m.host,
    m.agent_id, m.agent_name
FROM memories AS m JOIN traits AS t USING (key) LEFT JOIN projects AS p ON p.id = m.project
ORDER BY m.key
"""
_OUTDATED = """
SELECT m.key, m.text, m.role FROM traits AS t JOIN memories AS m USING (key)
WHERE t.version < ? ORDER BY t.version, t.key LIMIT ?
"""


@dataclass(frozen=True, slots=True)
class Derived:
    """What follows from a memory's text: its words as they are indexed, how many, its flags in one byte."""

    index: str
    length: int
    bits: int


def derive(text: str, role: str) -> Derived:
    """What is kept of a memory beside its text. It takes as long as the text is."""
    found = traits_of(text, role)
    bits = flags(
        asks=found.asks,
        standing=found.standing,
        spoken=role != "assistant",
        holds=found.holds,
        turning=turning(text, role),
    )
    return Derived(found.index, found.length, bits)


def put(db: apsw.Connection, key: int, derived: Derived) -> None:
    """Keep what was derived from a memory, in place of any before."""
    words.put(db, key, derived.index)
    db.execute(
        "INSERT OR REPLACE INTO traits VALUES (?, ?, ?, ?)",
        (key, TRAITS_VERSION, derived.length, derived.bits),
    )


def line(key: int, turn: CleanTurn, derived: Derived) -> Line:
    whence = turn.provenance
    return Line(
        key,
        turn.at.micros,
        derived.length,
        derived.bits,
        whence.session_id,
        whence.project,
        turn.speaker or whence.agent_name,
        turn.role,
        whence.host,
        whence.agent_id,
        whence.agent_name,
    )


def lines(db: apsw.Connection) -> Iterator[Line]:
    """All memories, in order of arrival."""
    for row in db.execute(_LINES):
        key, at, length, bits, session, project, speaker, role, host, agent_id, agent = row
        yield Line(
            key, at, length, bits, session, project, speaker or agent, role, host, agent_id, agent
        )


def renew(db: apsw.Connection, page: int) -> list[tuple[int, Derived]]:
    """Derive again what an earlier version derived, and index those words again."""
    renewed: list[tuple[int, Derived]] = []
    outdated: list[tuple[int, str, str]] = db.execute(_OUTDATED, (TRAITS_VERSION, page)).fetchall()  # type: ignore[assignment] # the schema says so
    for key, text, role in outdated:
        derived = derive(text, role)
        put(db, key, derived)
        renewed.append((key, derived))
    return renewed
