"""Removing memories from a database, the open one or a copy of it, without a trace of their words."""

from collections.abc import Sequence

import apsw

from iai_mcp.adapters.sqlite import belonging, held, schema, words, work_words
from iai_mcp.ports.upkeep import Gone


def forget_one(db: apsw.Connection, key: int, at: int) -> tuple[list[bytes], bool] | None:
    """Remove a memory with all that hangs on it; its identities, and whether it was derived."""
    row = db.execute("SELECT id, derived FROM memories WHERE key = ?", (key,)).fetchone()
    if row is None:
        return None
    names = [bytes(row[0]), *belonging.names_of(db, key)]
    db.executemany("INSERT OR REPLACE INTO tombstones VALUES (?, ?)", [(n, at) for n in names])
    db.execute(
        "INSERT OR IGNORE INTO forgotten_everywhere SELECT everywhere FROM memories "
        "WHERE key = ? AND everywhere IS NOT NULL",
        (key,),
    )
    db.execute("UPDATE memories SET successor = NULL WHERE successor = ?", (key,))
    words.drop(db, key)
    work_words.forget_request(db, names)
    db.execute("DELETE FROM memories WHERE key = ?", (key,))
    return names, bool(row[1])


def forget_in_copy(db: apsw.Connection, gone: Sequence[Gone]) -> bool:
    """Remove the same from a copy, whatever version made it; restored, it keeps them away too.

    Returns:
        Whether there was anything to do.
    """
    schema.upgrade(db)
    before = db.total_changes()
    found = False
    for one in gone:
        found |= held.drop_in_copy(db, one.identity)
        key = belonging.by_identity(db, one.identity)
        if key is not None:
            forget_one(db, key, one.at)
            found = True
        elif work := db.execute("SELECT key FROM work WHERE id = ?", (one.identity,)).fetchone():
            forget_work(db, work[0], one.at)
            found = True
        else:
            db.execute("INSERT OR IGNORE INTO tombstones VALUES (?, ?)", (one.identity, one.at))
    if found:
        purge(db)
    return db.total_changes() > before


def forget_work(db: apsw.Connection, key: int, at: int) -> bytes | None:
    """Remove what was done with all that hangs on it; its identity."""
    row = db.execute("SELECT id FROM work WHERE key = ?", (key,)).fetchone()
    if row is None:
        return None
    db.execute("INSERT OR REPLACE INTO tombstones VALUES (?, ?)", (row[0], at))
    work_words.drop(db, key)
    db.execute("DELETE FROM work WHERE key = ?", (key,))
    return bytes(row[0])


def purge(db: apsw.Connection) -> None:
    """Rewrite the words indexes without what was forgotten: work is found by the words of prompts, too."""
    words.purge(db)
    work_words.purge(db)
