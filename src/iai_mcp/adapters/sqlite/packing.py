"""Blocks of rows packed into one value each: what a start reads of every memory, without its rows.

A block holds what `traits` and `memories`, or `vectors`, say about a fixed range of keys. It is derived,
and never believed against them: triggers drop it in the transaction that changes a row it was made
from, whoever writes, so that it is either right or not there. What is forgotten goes with it.
"""

import json

import apsw
import numpy as np

from iai_mcp.adapters.sqlite import entries
from iai_mcp.adapters.sqlite.database import Database, fetched
from iai_mcp.adapters.sqlite.told_vectors import space_here
from iai_mcp.ports.memories import NAMED, EntryPage, Names
from iai_mcp.ports.vectors import CodedPage

# Keys in a block. It stands in the triggers of stores: another one is another step of the schema. A
# block of vectors stays under the megabyte from which memory is asked of the system each time, and
# forgetting one memory costs no more than that to write again.
BLOCK = 2048
_FORMAT = 1  # how a block is laid out: those of another are not read

# A pin, a successor or the end of a memory's validity stands in no block. Where a member, a machine or
# a circle gets another name, any block may hold the old one.
TABLES = f"""
CREATE TABLE packed_entries (block INTEGER PRIMARY KEY, format INTEGER NOT NULL, data BLOB NOT NULL);
CREATE TABLE packed_vectors (
    block INTEGER PRIMARY KEY,
    format INTEGER NOT NULL,
    space INTEGER NOT NULL,
    size INTEGER NOT NULL,
    data BLOB NOT NULL
);

CREATE TRIGGER packed_entry_made AFTER INSERT ON traits BEGIN
    DELETE FROM packed_entries WHERE block = NEW.key / {BLOCK};
END;
CREATE TRIGGER packed_entry_renewed AFTER UPDATE ON traits BEGIN
    DELETE FROM packed_entries WHERE block IN (OLD.key / {BLOCK}, NEW.key / {BLOCK});
END;
CREATE TRIGGER packed_entry_gone AFTER DELETE ON traits BEGIN
    DELETE FROM packed_entries WHERE block = OLD.key / {BLOCK};
END;
CREATE TRIGGER packed_vector_made AFTER INSERT ON vectors BEGIN
    DELETE FROM packed_vectors WHERE block = NEW.key / {BLOCK};
END;
CREATE TRIGGER packed_vector_renewed AFTER UPDATE ON vectors BEGIN
    DELETE FROM packed_vectors WHERE block IN (OLD.key / {BLOCK}, NEW.key / {BLOCK});
END;
CREATE TRIGGER packed_vector_gone AFTER DELETE ON vectors BEGIN
    DELETE FROM packed_vectors WHERE block = OLD.key / {BLOCK};
END;
CREATE TRIGGER packed_memory_changed AFTER UPDATE OF
    key, at, session, project, role, speaker, host, agent_id, agent_name, teller ON memories BEGIN
    DELETE FROM packed_entries WHERE block IN (OLD.key / {BLOCK}, NEW.key / {BLOCK});
END;
CREATE TRIGGER packed_memory_gone AFTER DELETE ON memories BEGIN
    DELETE FROM packed_entries WHERE block = OLD.key / {BLOCK};
    DELETE FROM packed_vectors WHERE block = OLD.key / {BLOCK};
END;

CREATE TRIGGER packed_project_renamed AFTER UPDATE OF id, key ON projects BEGIN
    DELETE FROM packed_entries;
END;
CREATE TRIGGER packed_project_gone AFTER DELETE ON projects BEGIN
    DELETE FROM packed_entries;
END;
CREATE TRIGGER packed_teller_renamed AFTER UPDATE OF id, circle, member, machine ON tellers
WHEN (OLD.id, OLD.circle, OLD.member, OLD.machine) IS NOT
    (NEW.id, NEW.circle, NEW.member, NEW.machine) BEGIN
    DELETE FROM packed_entries;
END;
CREATE TRIGGER packed_teller_gone AFTER DELETE ON tellers BEGIN
    DELETE FROM packed_entries;
END;
CREATE TRIGGER packed_circle_made AFTER INSERT ON circles BEGIN
    DELETE FROM packed_entries;
END;
CREATE TRIGGER packed_circle_renamed AFTER UPDATE OF id, name, member ON circles BEGIN
    DELETE FROM packed_entries;
END;
CREATE TRIGGER packed_circle_gone AFTER DELETE ON circles BEGIN
    DELETE FROM packed_entries;
END;
"""

_VECTORS = """
SELECT group_concat(key), group_concat(scale), CAST(group_concat(code, '') AS BLOB)
FROM (SELECT key, scale, code FROM vectors WHERE key > ? AND key < ? AND space = ? ORDER BY key LIMIT ?)
"""
_NUMBERS = (("keys", "<i8"), ("at", "<i8"), ("length", "<i4"), ("facts", "<u2"))
_NAME = "<i4"
_NO_END = 1 << 62


class PackedBlocks:
    """`Blocks` of the encrypted file."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def missing(self) -> list[int]:
        with self._db.reading() as db:
            # Behind the last key others will come: its block is not full yet.
            full = range(entries.latest(db) // BLOCK)
            lacking = set(full) - _blocks(db, "packed_entries WHERE format = ?", _FORMAT)
            space = space_here(db)
            if space is not None:
                where = "packed_vectors WHERE format = ? AND space = ?"
                unpacked = set(full) - _blocks(db, where, _FORMAT, space.id)
                # Where vectors are still to come, each of them would drop the block again.
                if unpacked:
                    unpacked -= _blocks(db, f"(SELECT key / {BLOCK} AS block FROM pending_vectors)")
                lacking |= unpacked
        return sorted(lacking)

    def pack(self, block: int) -> None:
        # Read and written in one transaction: nothing is between what was read and the triggers.
        with self._db.writing(repeatable=True) as db:
            first = block * BLOCK
            page = entries.between(db, first - 1, first + BLOCK, BLOCK)
            db.execute(
                "INSERT OR REPLACE INTO packed_entries VALUES (?, ?, ?)",
                (block, _FORMAT, packed_entries(page)),
            )
            space = space_here(db)
            if space is not None:
                coded = vectors_between(db, space.id, first - 1, first + BLOCK, BLOCK)
                db.execute(
                    "INSERT OR REPLACE INTO packed_vectors VALUES (?, ?, ?, ?, ?)",
                    (block, _FORMAT, space.id, len(coded), _packed_vectors(coded)),
                )


def entries_behind(db: apsw.Connection, after: int, limit: int) -> EntryPage:
    """The next narrow rows behind that key: from a block where there is one, else from the tables."""
    sql = "SELECT data FROM packed_entries WHERE block = ? AND format = ?"
    block = (after + 1) // BLOCK
    while found := fetched(db, sql, (block, _FORMAT)):
        page = unpacked_entries(found[0][0]).part(after, limit)
        if len(page):
            return page
        block += 1  # nothing in this one is behind it
    return entries.between(db, after, _NO_END, limit)


def vectors_behind(db: apsw.Connection, space: int, after: int, limit: int) -> CodedPage:
    """The same of vectors."""
    sql = "SELECT size, data FROM packed_vectors WHERE block = ? AND format = ? AND space = ?"
    block = (after + 1) // BLOCK
    while found := fetched(db, sql, (block, _FORMAT, space)):
        page = _unpacked_vectors(*found[0]).part(after, limit)
        if len(page):
            return page
        block += 1
    return vectors_between(db, space, after, _NO_END, limit)


def vectors_between(
    db: apsw.Connection, space: int, after: int, before: int, limit: int
) -> CodedPage:
    # All of a page at once: rows that arrive one by one hold up everybody else at each of them. Fifteen
    # digits are more than a scale has.
    ((keys, scales, codes),) = db.execute(_VECTORS, (after, before, space, limit)).fetchall()
    found = np.fromstring(str(keys or ""), np.int64, sep=",")
    raw = codes if isinstance(codes, bytes) else b""
    return CodedPage(
        found,
        np.fromstring(str(scales or ""), np.float32, sep=","),
        np.frombuffer(raw, np.int8).reshape(len(found), len(raw) // max(1, len(found))),
    )


def packed_entries(page: EntryPage) -> bytes:
    """A line with the names of each column, then the columns one after another."""
    head = {"size": len(page), **{name: page.named[name].known for name in NAMED}}
    columns = [getattr(page, name).astype(kind).tobytes() for name, kind in _NUMBERS]
    for name in NAMED:
        numbers = page.named[name].numbers
        if numbers is not None:
            columns.append(numbers.astype(_NAME).tobytes())
    return b"".join((json.dumps(head).encode(), b"\n", *columns))


def unpacked_entries(data: bytes) -> EntryPage:
    end = data.index(b"\n")
    head = json.loads(data[:end])
    size, at = head["size"], end + 1
    found = []
    for kind in (
        *(kind for _, kind in _NUMBERS),
        *(_NAME for name in NAMED if _varies(head, name)),
    ):
        found.append(np.frombuffer(data, kind, size, at))
        at += found[-1].nbytes
    keys, when, length, facts, *numbers = found
    varying = iter(numbers)
    named = {
        name: Names(tuple(head[name]), next(varying) if _varies(head, name) else None)
        for name in NAMED
    }
    return EntryPage(keys, when, length, facts, named)


def _varies(head: dict[str, list[str]], name: str) -> bool:
    return len(head[name]) != 1


def _packed_vectors(page: CodedPage) -> bytes:
    parts = page.keys.astype("<i8"), page.scales.astype("<f4"), page.codes
    return b"".join(part.tobytes() for part in parts)


def _unpacked_vectors(size: int, data: bytes) -> CodedPage:
    keys = np.frombuffer(data, "<i8", size)
    scales = np.frombuffer(data, "<f4", size, keys.nbytes)
    codes = np.frombuffer(data, np.int8, offset=keys.nbytes + scales.nbytes)
    return CodedPage(keys, scales, codes.reshape(size, len(codes) // max(1, size)))


def _blocks(db: apsw.Connection, where: str, *values: int) -> set[int]:
    return {row[0] for row in db.execute(f"SELECT DISTINCT block FROM {where}", values)}
