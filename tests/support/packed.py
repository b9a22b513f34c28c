"""Stores whose memories are packed as soon as they are said, and from before there were packed blocks."""

import re
from collections.abc import Collection, Sequence

import apsw

from iai_mcp.adapters.sqlite import packing, schema, shared_tables
from iai_mcp.adapters.sqlite.memories import SqliteMemories
from iai_mcp.adapters.sqlite.packing import PackedBlocks
from iai_mcp.adapters.sqlite.vectors import SqliteVectors
from iai_mcp.domain.memories import CleanTurn
from iai_mcp.ports.memories import Stored
from iai_mcp.ports.vectors import Coded, CodedParts


class PackedMemories(SqliteMemories):
    """What was said is packed at once; what happens to it afterwards is not."""

    def add(self, turns: Sequence[CleanTurn]) -> list[Stored]:
        stored = super().add(turns)
        PackedBlocks(self._db).pack(0)
        return stored


class PackedVectors(SqliteVectors):
    """The same of vectors."""

    def put(
        self,
        turns: Sequence[Coded],
        parts: Sequence[CodedParts] = (),
        unfinished: Collection[int] = (),
    ) -> list[int]:
        kept = super().put(turns, parts, unfinished)
        PackedBlocks(self._db).pack(0)
        return kept


def take_out_packing(db: apsw.Connection) -> None:
    """Back to the format before there were any."""
    for kind, name in re.findall(r"CREATE (TRIGGER|TABLE) (\w+)", packing.TABLES)[::-1]:
        db.execute(f"DROP {kind} {name}")
    take_out_chains(db)
    db.pragma("user_version", schema.STEPS.index(packing.TABLES))


def take_out_chains(db: apsw.Connection) -> None:
    """Later steps are taken again, so what they added goes, too."""
    for table in re.findall(r"CREATE TABLE (\w+)", shared_tables.CHAINS):
        db.execute(f"DROP TABLE {table}")
    for table, column in re.findall(r"ALTER TABLE (\w+) ADD COLUMN (\w+)", shared_tables.CHAINS):
        db.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
