"""A start reads no table from end to end that holds texts or vectors: those are gigabytes."""

import re
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
from tests.fakes.memories import said

from iai_mcp.adapters.sqlite.database import Database
from iai_mcp.adapters.sqlite.memories import SqliteMemories
from iai_mcp.adapters.sqlite.vectors import SqliteVectors
from iai_mcp.ports.vectors import Coded

_READ_THROUGH = re.compile(r"^(?:SCAN|SEARCH) (?:memories|m|vectors)\b(?!.*(?:INDEX|rowid=))")


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    path = tmp_path / "memory.db"
    path.touch()
    opened = Database(path, bytes(32))
    memories = SqliteMemories(opened)
    memories.add([said(f"turn {n}") for n in range(50)])
    SqliteVectors(opened, "model", 4).put([Coded(1, 0.5, b"1234")])
    yield opened
    opened.close()


def _read_through(database: Database, asked: list[str]) -> list[str]:
    with database.reading() as db:
        plans = [
            str(row[3])
            for sql in asked
            if sql.lstrip().startswith(("SELECT", "INSERT"))
            for row in db.execute(f"EXPLAIN QUERY PLAN {sql}", [None] * sql.count("?"))
        ]
    return [plan for plan in plans if _READ_THROUGH.match(plan)]


@pytest.fixture
def asked(database: Database) -> list[str]:
    """Every statement from now on."""
    noted: list[str] = []

    def note(_cursor: apsw.Cursor, sql: str, _bindings: object) -> bool:
        noted.append(sql)
        return True

    with database.reading():
        pass
    for connection in (database._writer, *database._readers):
        connection.exec_trace = note
    return noted


def test_how_many_there_are_is_counted_without_their_texts(
    database: Database, asked: list[str]
) -> None:
    assert SqliteMemories(database).count() == 50
    assert asked and not _read_through(database, asked)


def test_the_model_of_before_is_recognised_without_its_vectors(
    database: Database, asked: list[str]
) -> None:
    SqliteVectors(database, "model", 4)
    assert asked and not _read_through(database, asked)


def test_an_empty_backlog_is_seen_without_the_memories(
    database: Database, asked: list[str]
) -> None:
    assert len(SqliteMemories(database).pending()) == 49
    assert asked and not _read_through(database, asked)


def test_a_model_that_was_used_in_between_leaves_all_of_its_vectors_to_be_made_again(
    database: Database,
) -> None:
    memories = SqliteMemories(database)
    SqliteVectors(database, "another", 4).put([Coded(2, 0.5, b"1234")])
    assert 1 in memories.pending() and 2 not in memories.pending()
    SqliteVectors(database, "model", 4)
    assert 2 in memories.pending()
