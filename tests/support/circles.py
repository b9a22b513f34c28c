"""A store's side of one circle, and what a circle's turns come to in it."""

import re

import apsw

from iai_mcp.adapters.sqlite import schema, shared_tables
from iai_mcp.adapters.sqlite.circle_ledger import SqliteSharingLedger
from iai_mcp.adapters.sqlite.database import Database
from iai_mcp.adapters.sqlite.shared_tables import Membership
from iai_mcp.ports.sharing_ledger import SharingLedger
from tests.fakes.sharing_ledger import FakeSharingLedger
from tests.support.packed import take_out_packing

OWN = "2" * 32
CIRCLE = "c" * 32
_TABLES = (
    "memories",
    "forgotten_everywhere",
    "decisions",
    "outbox",
    "circle_records",
    "circle_cursors",
    "circle_aside",
    "circle_chains",
    "circle_seen",
    "circles",
)


def take_out_sharing(db: apsw.Connection) -> None:
    """Back to the format before there was any sharing."""
    take_out_packing(db)
    for index in re.findall(r"INDEX (memories_\w+)", shared_tables.TABLES):
        db.execute(f"DROP INDEX {index}")
    for column in ("everywhere", "teller"):
        db.execute(f"ALTER TABLE memories DROP COLUMN {column}")
    for table in re.findall(r"CREATE TABLE (\w+)", shared_tables.TABLES + shared_tables.CHAINS):
        db.execute(f"DROP TABLE IF EXISTS {table}")


class StoredLedger(SqliteSharingLedger):
    """One whose store can be looked into."""

    def __init__(self, database: Database, circle: Membership) -> None:
        super().__init__(database, circle)
        self.database = database


def joined_ledger(database: Database) -> StoredLedger:
    """The side of a store that holds nothing yet, and belongs to one circle."""
    with database.writing() as db:
        schema.upgrade(db)
        for table in _TABLES:
            db.execute(f"DELETE FROM {table}")
        db.execute(
            "INSERT INTO circles (id, name, place, founder, device, signing, sealing, member, machine) "
            "VALUES (?, 'team', '/place', ?, ?, x'', x'', 'ann', 'desk')",
            (CIRCLE, OWN, OWN),
        )
    return StoredLedger(database, Membership(CIRCLE, "team", OWN))


def standing(ledger: SharingLedger) -> dict[bytes, tuple[str, str, bool, bytes]]:
    """By identity: who told it, its words, whether it is pinned, and what took its place, if that
    is there."""
    if isinstance(ledger, FakeSharingLedger):
        turns = ledger.replica.standing()
        return {
            identity: (
                one.told.device,
                one.told.turn.text,
                one.pinned,
                one.superseded_by if one.superseded_by in turns.keys() - {identity} else b"",
            )
            for identity, one in turns.items()
        }
    assert isinstance(ledger, StoredLedger)
    sql = (
        "SELECT m.everywhere, coalesce(t.device, ?), m.text, m.pinned, n.everywhere FROM memories AS m "
        "LEFT JOIN tellers AS t ON t.id = m.teller LEFT JOIN memories AS n ON n.key = m.successor"
    )
    with ledger.database.reading() as db:
        return {
            bytes(identity): (str(device), str(text), bool(pinned), bytes(by or b""))
            for identity, device, text, pinned, by in db.execute(sql, (OWN,))
        }
