"""The tables of sharing, and what is common to all who write them.

`memories.everywhere` is the identity of a memory on every machine; `teller` the device that told it,
NULL for what was captured here. The circles' private keys lie in these tables: the file is encrypted.
"""

from dataclasses import dataclass

import apsw

# `circle_projects` are the projects of a circle with what each is here; this device speaks under those
# that are `own`, from `since` on, which is NULL where it does not share it (any more).
# `outbox` is what this device says, in order: a memory by its identity, anything else as the event
# itself. `number` is the record it went, or goes, out with. A row stays: it tells what the record
# holds. `decisions` are pins ('pin') and supersessions ('after'), the latest of each.
TABLES = """
CREATE TABLE tellers (
    id INTEGER PRIMARY KEY,
    circle TEXT NOT NULL,
    device TEXT NOT NULL,
    member TEXT NOT NULL DEFAULT '',
    machine TEXT NOT NULL DEFAULT '',
    UNIQUE (circle, device)
);
ALTER TABLE memories ADD COLUMN everywhere BLOB;
ALTER TABLE memories ADD COLUMN teller INTEGER REFERENCES tellers (id);
CREATE UNIQUE INDEX memories_everywhere ON memories (everywhere);
CREATE INDEX memories_nameless ON memories (key) WHERE everywhere IS NULL AND derived = 0;
CREATE INDEX memories_by_teller ON memories (teller, key) WHERE teller IS NOT NULL;
CREATE TABLE forgotten_everywhere (identity BLOB PRIMARY KEY) WITHOUT ROWID;

CREATE TABLE circles (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    place TEXT NOT NULL,
    founder TEXT NOT NULL,
    device TEXT NOT NULL,
    signing BLOB NOT NULL,
    sealing BLOB NOT NULL,
    member TEXT NOT NULL,
    machine TEXT NOT NULL,
    everything INTEGER NOT NULL DEFAULT 0,
    has_left INTEGER NOT NULL DEFAULT 0,
    contact INTEGER NOT NULL DEFAULT 0,
    trouble TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
CREATE TABLE circle_projects (
    circle TEXT NOT NULL,
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    remote TEXT NOT NULL DEFAULT '',
    root_commit TEXT NOT NULL DEFAULT '',
    project INTEGER REFERENCES projects (id),
    own INTEGER NOT NULL DEFAULT 0,
    since INTEGER,
    PRIMARY KEY (circle, id)
) WITHOUT ROWID;
CREATE INDEX circle_projects_shared ON circle_projects (project) WHERE since IS NOT NULL;
CREATE TABLE circle_trust (
    circle TEXT NOT NULL, member TEXT NOT NULL, PRIMARY KEY (circle, member)
) WITHOUT ROWID;
CREATE TABLE circle_keys (
    circle TEXT NOT NULL, epoch TEXT NOT NULL, key BLOB NOT NULL, PRIMARY KEY (circle, epoch)
) WITHOUT ROWID;
CREATE TABLE circle_heard (
    position INTEGER PRIMARY KEY, circle TEXT NOT NULL, device TEXT NOT NULL, event TEXT NOT NULL,
    UNIQUE (circle, device, event)
);
CREATE TABLE circle_cursors (
    circle TEXT NOT NULL, device TEXT NOT NULL, number INTEGER NOT NULL,
    PRIMARY KEY (circle, device)
) WITHOUT ROWID;
CREATE TABLE circle_aside (
    circle TEXT NOT NULL, device TEXT NOT NULL, number INTEGER NOT NULL, why TEXT NOT NULL,
    PRIMARY KEY (circle, device, number)
) WITHOUT ROWID;
CREATE TABLE circle_records (
    circle TEXT NOT NULL, last INTEGER NOT NULL, first INTEGER NOT NULL,
    outdated INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (circle, last)
) WITHOUT ROWID;
CREATE TABLE outbox (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    circle TEXT NOT NULL,
    number INTEGER,
    identity BLOB,
    event TEXT
);
CREATE INDEX outbox_by_number ON outbox (circle, number, position);
CREATE INDEX outbox_by_identity ON outbox (identity, circle) WHERE identity IS NOT NULL;
CREATE TABLE decisions (
    circle TEXT NOT NULL, kind TEXT NOT NULL, identity BLOB NOT NULL,
    at INTEGER NOT NULL, device TEXT NOT NULL, value BLOB NOT NULL,
    PRIMARY KEY (circle, kind, identity)
) WITHOUT ROWID;
CREATE INDEX decisions_by_value ON decisions (value) WHERE kind = 'after';
"""

# Streams are chained: `leaf` (its salt in front) is an event's place in the chain, `digest` the chain after
# a record. What one device says it heard of another is in `circle_seen`. Records of an older version are
# sealed anew with a chain; streams of which a record was set aside are heard again from their beginning,
# because a cursor of that version may stand behind what was never heard.
CHAINS = """
ALTER TABLE outbox ADD COLUMN leaf BLOB;
ALTER TABLE circle_records ADD COLUMN digest BLOB;
ALTER TABLE circle_aside ADD COLUMN passed INTEGER NOT NULL DEFAULT 1;
CREATE TABLE circle_chains (
    circle TEXT NOT NULL, device TEXT NOT NULL, number INTEGER NOT NULL, digest BLOB NOT NULL,
    PRIMARY KEY (circle, device, number)
) WITHOUT ROWID;
CREATE TABLE circle_seen (
    circle TEXT NOT NULL, witness TEXT NOT NULL, device TEXT NOT NULL,
    number INTEGER NOT NULL, digest BLOB NOT NULL,
    PRIMARY KEY (circle, witness, device)
) WITHOUT ROWID;
CREATE TABLE circle_asked (
    circle TEXT PRIMARY KEY, invite TEXT NOT NULL, signing BLOB NOT NULL, sealing BLOB NOT NULL
) WITHOUT ROWID;
UPDATE circle_records SET outdated = outdated + 1;
DELETE FROM circle_cursors WHERE (circle, device) IN (SELECT circle, device FROM circle_aside);
DELETE FROM circle_aside;
"""

PIN, AFTER = "pin", "after"


@dataclass(frozen=True, slots=True)
class Membership:
    """A circle and which of its devices this store is."""

    id: str
    name: str
    device: str


def memberships(db: apsw.Connection) -> list[Membership]:
    """The circles that this device belongs to."""
    sql = "SELECT id, name, device FROM circles WHERE NOT has_left ORDER BY id"
    return [Membership(*row) for row in db.execute(sql)]


def is_forgotten(db: apsw.Connection, identity: bytes) -> bool:
    sql = "SELECT 1 FROM forgotten_everywhere WHERE identity = ?"
    return db.execute(sql, (identity,)).fetchone() is not None


def decide(
    db: apsw.Connection, circle: str, kind: str, identity: bytes, told: tuple[int, str, bytes]
) -> None:
    """Keep a decision (time, device, what) unless a later one is known."""
    db.execute(
        "INSERT INTO decisions VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE "
        "SET at = excluded.at, device = excluded.device, value = excluded.value "
        "WHERE (excluded.at, excluded.device, excluded.value) > (at, device, value)",
        (circle, kind, identity, *told),
    )
