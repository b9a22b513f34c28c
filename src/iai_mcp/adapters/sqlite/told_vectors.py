"""Vectors that travel with a memory: who has the same model does not make them again.

They come from another machine, so each is looked at: one that is longer than a vector of meaning can be
would be near to everything.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass

import apsw
import numpy as np

from iai_mcp.domain.shared_events import Said

_SCALE = struct.Struct("<f")
_LONGEST = 1.05  # a vector of meaning has the length 1; a byte per number moves that a little
_MOST_PARTS = 64
CURRENT = "current_space"


@dataclass(frozen=True, slots=True)
class Space:
    """The vectors of the model that this store uses."""

    id: int
    model: str
    dimensions: int

    def fits(self, said: Said) -> bool:
        return said.model == self.model and len(said.vector) - _SCALE.size == self.dimensions

    def keep(self, db: apsw.Connection, arrived: Sequence[tuple[int, Said]]) -> None:
        """The vectors of memories that have just been stored under these keys."""
        db.executemany(
            "INSERT INTO vectors VALUES (?, ?, ?, ?)",
            [
                (key, self.id, _SCALE.unpack_from(one.vector)[0], one.vector[_SCALE.size :])
                for key, one in arrived
            ],
        )
        db.executemany(
            "INSERT INTO passages VALUES (?, ?, ?, ?, ?, ?)",
            [
                (key, self.id, one.topics, int(one.context), *_parts(one))
                for key, one in arrived
                if one.parts
            ],
        )


def space_here(db: apsw.Connection) -> Space | None:
    """None where no model has been used yet."""
    sql = "SELECT id, model, dimensions FROM spaces WHERE id = (SELECT value FROM meta WHERE name = ?)"
    row = db.execute(sql, (CURRENT,)).fetchone()
    return None if row is None else Space(int(row[0]), str(row[1]), int(row[2]))


def are_sound(said: Said) -> bool:
    """Whether all vectors came along, and each is one."""
    dimensions = len(said.vector) - _SCALE.size
    if not said.whole or dimensions <= 0 or len(said.parts) % (dimensions + _SCALE.size):
        return False
    scales, codes = _parts(said)
    count = len(scales) // _SCALE.size
    if not 0 <= said.topics + said.context <= count <= _MOST_PARTS or said.topics < 0:
        return False
    steps = np.frombuffer(said.vector[: _SCALE.size] + scales, "<f4").astype(np.float64)
    rows = np.frombuffer(said.vector[_SCALE.size :] + codes, np.int8).astype(np.float32)
    lengths = np.sqrt(np.square(rows.reshape(count + 1, -1)).sum(axis=1)) * steps
    return bool(np.all(steps >= 0) and np.all(lengths <= _LONGEST))  # no number is not less


def _parts(said: Said) -> tuple[bytes, bytes]:
    """The scales and the bytes of the other vectors."""
    count = len(said.parts) // len(said.vector)
    return said.parts[: count * _SCALE.size], said.parts[count * _SCALE.size :]
