"""Removing memories from a database, the open one or a copy of it, without a trace of their words."""

from collections.abc import Sequence

import apsw

from iai_mcp.adapters.sqlite import schema, words
from iai_mcp.ports.upkeep import Gone


def forget_one(db: apsw.Connection, key: int, at: int) -> tuple[bytes, bool] | None:
    """Remove a memory with all that hangs on it; its identity, and whether it was derived."""
    row = db.execute("SELECT id, derived FROM memories WHERE key = ?", (key,)).fetchone()
    if row is None:
        return None
    db.execute("INSERT OR REPLACE INTO tombstones VALUES (?, ?)", (row[0], at))
    db.execute("UPDATE memories SET successor = NULL WHERE successor = ?", (key,))
    words.drop(db, key)
    db.execute("DELETE FROM memories WHERE key = ?", (key,))
    return bytes(row[0]), bool(row[1])


def forget_in_copy(db: apsw.Connection, gone: Sequence[Gone]) -> bool:
    """Remove the same from a copy, whatever version made it; restored, it keeps them away too.

    Returns:
        Whether there was anything to do.
    """
    schema.upgrade(db)
    before = db.total_changes()
    found = False
    for one in gone:
        row = db.execute("SELECT key FROM memories WHERE id = ?", (one.identity,)).fetchone()
        if row is not None:
            forget_one(db, row[0], one.at)
            found = True
        else:
            db.execute("INSERT OR IGNORE INTO tombstones VALUES (?, ?)", (one.identity, one.at))
    if found:
        words.purge(db)
    return db.total_changes() > before
