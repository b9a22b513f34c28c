"""Where the meaning of memories is found by nearness."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]


class Vectors(Protocol):
    """Vectors of one space. Vectors of another model are never mixed in."""

    def put(self, keys: Sequence[int], vectors: Matrix) -> None:
        """Keep the vectors of these memories durably; a memory that was forgotten is passed over."""
        ...

    def nearest(
        self, vector: Matrix, limit: int, within: Sequence[int] | None = None
    ) -> list[tuple[int, float]]:
        """Keys and cosines, closest first, among `within` if given."""
        ...

    def drop(self, keys: Sequence[int]) -> None:
        """Stop finding these memories."""
        ...

    def __len__(self) -> int: ...
