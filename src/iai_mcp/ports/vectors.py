"""Where the meaning of memories is found by nearness."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Passages:
    """The other vectors of one memory: the topics of its standing wishes first, its passages
    between, and last, if `context`, that of the turn together with the one before it."""

    key: int
    topics: int
    context: bool
    vectors: Matrix


class Vectors(Protocol):
    """Vectors of one space. Vectors of another model are never mixed in."""

    def put(self, keys: Sequence[int], vectors: Matrix) -> None:
        """Keep the vectors of these memories durably; a memory that was forgotten is passed over."""
        ...

    def put_passages(self, found: Sequence[Passages]) -> None:
        """Keep the vectors of these memories' parts durably, in place of any before."""
        ...

    def nearest(
        self, vector: Matrix, limit: int, within: Sequence[int] | None = None
    ) -> list[tuple[int, float]]:
        """Keys and cosines, closest first, among `within` if given."""
        ...

    def like(self, key: int, limit: int) -> list[tuple[int, float]]:
        """Keys and cosines of the memories nearest to one of them; none if it has no vector yet."""
        ...

    def drop(self, keys: Sequence[int]) -> None:
        """Stop finding these memories."""
        ...

    def __len__(self) -> int: ...
