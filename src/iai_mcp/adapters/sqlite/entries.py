"""What is derived from each memory's text: kept beside it, read as narrow rows, made anew."""

from collections.abc import Sequence

import apsw

from iai_mcp.adapters.sqlite import words
from iai_mcp.adapters.sqlite.rows import MACHINE, TOLD_BY
from iai_mcp.domain.traits import TRAITS_VERSION, Traits, traits_of
from iai_mcp.ports.memories import EntryPage, Renewed

# A memory without a speaker's name was said by its agent.
_ENTRIES = f"""
SELECT m.key, m.at, t.length, t.flags, m.session, coalesce(p.key, ''),
    coalesce(nullif(m.speaker, ''), m.agent_name), m.role, m.host, m.agent_id, m.agent_name,
    {TOLD_BY}, {MACHINE}
FROM traits AS t JOIN memories AS m USING (key) LEFT JOIN projects AS p ON p.id = m.project
WHERE t.key > ? AND t.key < ? ORDER BY t.key LIMIT ?
"""
_OUTDATED = "SELECT key FROM traits WHERE version < ? ORDER BY version, key LIMIT ?"


def put_all(db: apsw.Connection, derived: Sequence[tuple[int, Traits]]) -> None:
    """Keep what was derived from memories, by their keys, in place of any before."""
    words.put_all(db, [(key, traits.index) for key, traits in derived])
    db.executemany(
        "INSERT OR REPLACE INTO traits VALUES (?, ?, ?, ?)",
        [(key, TRAITS_VERSION, traits.length, traits.facts) for key, traits in derived],
    )


def latest(db: apsw.Connection) -> int:
    row = db.execute("SELECT max(key) FROM traits").fetchone()
    return int(row[0] or 0) if row else 0


def between(db: apsw.Connection, after: int, before: int, limit: int) -> EntryPage:
    """The first narrow rows between those keys, in order of arrival."""
    return EntryPage.of(db.execute(_ENTRIES, (after, before, limit)).fetchall())


def outdated(db: apsw.Connection, limit: int) -> list[int]:
    """The keys of memories whose traits an earlier version derived."""
    return [row[0] for row in db.execute(_OUTDATED, (TRAITS_VERSION, limit))]


def renew(db: apsw.Connection, limit: int) -> list[Renewed]:
    """Derive again what an earlier version derived, and index those words again."""
    renewed: list[Renewed] = []
    for key in outdated(db, limit):
        row = db.execute("SELECT text, role, meta FROM memories WHERE key = ?", (key,)).get
        traits = traits_of(*row)
        put_all(db, [(key, traits)])
        renewed.append(Renewed(key, traits.length, traits.facts))
    return renewed
