"""Putting one memory into the tables: its row, its words, its place on the backlog."""

import apsw

from iai_mcp.adapters.sqlite import entries
from iai_mcp.adapters.sqlite.database import cacheable
from iai_mcp.domain.memories import CleanTurn, stored_identity
from iai_mcp.domain.traits import Traits, traits_of

_INSERT = """
INSERT INTO memories (id, everywhere, teller, at, session, project, role, tier, ts, speaker, host,
    agent_id, agent_name, branch, valid_from, cue, meta, text)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""


def insert(
    db: apsw.Connection, turn: CleanTurn, *, teller: int | None = None, early: Traits | None = None
) -> int:
    """Store a turn that is not there yet; its key. `early`: what follows from its text, if known."""
    whence, at = turn.provenance, turn.at.micros
    db.execute(
        _INSERT,
        (
            turn.identity,
            turn.everywhere or free_identity(db, whence.session_id, turn.role, turn.text, at),
            teller,
            at,
            whence.session_id,
            project_id(db, whence.project),
            turn.role,
            turn.tier,
            turn.at.text,
            turn.speaker,
            whence.host,
            whence.agent_id,
            whence.agent_name,
            whence.branch,
            at,
            turn.cue,
            turn.meta,
            turn.text,
        ),
        can_cache=cacheable(turn.text),
    )
    key = db.last_insert_rowid()
    entries.put(db, key, early or traits_of(turn.text, turn.role))
    db.execute("INSERT INTO pending_vectors VALUES (?)", (key,))
    return key


def free_identity(db: apsw.Connection, session: str, role: str, text: str, at: int) -> bytes:
    """The identity on every machine of what is known by what is stored of it: the same words at the
    same time are told apart by a count.
    """
    occurrence = 0
    while True:
        identity = stored_identity(session, role, text, at, occurrence)
        if key_everywhere(db, identity) is None:
            return identity
        occurrence += 1


def key_everywhere(db: apsw.Connection, identity: bytes) -> int | None:
    """The key of the memory with that identity on every machine."""
    row = db.execute("SELECT key FROM memories WHERE everywhere = ?", (identity,)).fetchone()
    return None if row is None else int(row[0])


def project_id(db: apsw.Connection, key: str) -> int | None:
    if not key:
        return None
    known = db.execute("SELECT id FROM projects WHERE key = ?", (key,)).fetchone()
    if known:
        return int(known[0])
    db.execute("INSERT INTO projects (key) VALUES (?)", (key,))
    return db.last_insert_rowid()
