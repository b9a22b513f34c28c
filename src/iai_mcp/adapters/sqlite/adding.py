"""Putting memories into the tables: their rows, their words, their places on the backlog."""

from collections.abc import Sequence
from dataclasses import dataclass

import apsw

from iai_mcp.adapters.sqlite import entries
from iai_mcp.adapters.sqlite.database import cacheable
from iai_mcp.domain.memories import CleanTurn, stored_identity
from iai_mcp.domain.traits import Traits, traits_of

_INSERT = """
INSERT INTO memories (id, everywhere, teller, at, session, project, role, tier, ts, speaker, host,
    agent_id, agent_name, branch, valid_from, cue, meta, text)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING key
"""


@dataclass(frozen=True, slots=True)
class Arriving:
    """A turn that is not there yet, with what belongs beside it."""

    turn: CleanTurn
    traits: Traits
    project: int | None
    teller: int | None = None
    vectors_come_along: bool = False  # all of them, so that none has to be made here


def insert(db: apsw.Connection, turn: CleanTurn, early: Traits | None = None) -> int:
    """Store one that was captured here; its key. `early`: what follows from its text, if known."""
    traits = early or traits_of(turn.text, turn.role, turn.meta)
    project = project_id(db, turn.provenance.project)
    return insert_all(db, [Arriving(turn, traits, project)])[0]


def insert_all(db: apsw.Connection, arriving: Sequence[Arriving]) -> list[int]:
    """Store turns of which none is there yet; their keys, in order."""
    # One after another: an identity that is made here must not be that of the one before. Each by
    # itself: where a statement runs while another one is asked for its rows, apsw keeps a cursor for
    # good, and every later statement takes a little longer.
    keys = [_insert_one(db, one) for one in arriving]
    entries.put_all(db, [(key, one.traits) for key, one in zip(keys, arriving, strict=True)])
    db.executemany(
        "INSERT INTO agent_notes VALUES (?, ?)",
        [
            (key, one.turn.provenance.captured_by)
            for key, one in zip(keys, arriving, strict=True)
            if one.turn.provenance.captured_by
        ],
    )
    db.executemany(
        "INSERT INTO pending_vectors VALUES (?)",
        [(k,) for k, one in zip(keys, arriving, strict=True) if not one.vectors_come_along],
    )
    return keys


def _insert_one(db: apsw.Connection, one: Arriving) -> int:
    row = _row(db, one)
    found = db.execute(_INSERT, row, can_cache=cacheable(one.turn.text)).fetchall()
    return int(str(found[0][0]))


def _row(db: apsw.Connection, one: Arriving) -> "tuple[apsw.SQLiteValue, ...]":
    turn, whence, at = one.turn, one.turn.provenance, one.turn.at.micros
    return (
        turn.identity,
        turn.everywhere or free_identity(db, whence.session_id, turn.role, turn.text, at),
        one.teller,
        at,
        whence.session_id,
        one.project,
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
    )


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
