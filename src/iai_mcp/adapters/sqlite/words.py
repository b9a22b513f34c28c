"""The lexical index: every memory findable by its words from the moment it is stored."""

from collections.abc import Sequence

import apsw

from iai_mcp.domain.memories import CleanTurn
from iai_mcp.ports.memories import WordHit


def add(db: apsw.Connection, key: int, turn: CleanTurn) -> None:
    """Index one turn: who spoke, when, and what was said."""
    body = f"{turn.speaker} {turn.at.text[:10]} {turn.text}"
    db.execute("INSERT INTO words (rowid, body) VALUES (?, ?)", (key, body))


def search(
    db: apsw.Connection, terms: Sequence[str], where: str, values: Sequence[object], limit: int
) -> list[WordHit]:
    """Memories with any of the terms that meet the condition, best first."""
    if not terms:
        return []
    query = " OR ".join('"' + term.replace('"', '""') + '"' for term in terms)
    sql = "SELECT rowid, bm25(words) FROM words WHERE words MATCH ?"
    if where != "1":
        sql += (
            # The plus keeps the planner from asking the index once per row of the scope.
            " AND +rowid IN (SELECT m.key FROM memories AS m "
            f"LEFT JOIN projects AS p ON p.id = m.project WHERE {where})"
        )
    sql += " ORDER BY rank, rowid LIMIT ?"
    return [WordHit(row[0], -row[1]) for row in db.execute(sql, (query, *values, limit))]


def purge(db: apsw.Connection) -> None:
    """Rewrite the index without the entries of deleted memories."""
    db.execute("INSERT INTO words (words) VALUES ('optimize')")
