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


@dataclass(frozen=True, slots=True)
class Unmeant:
    """Words that are said often and have no vector yet."""

    tokens: tuple[str, ...]  # as the index spells them
    words: tuple[str, ...]  # as they are said
    read_to: int | None  # the key of the last memory read for them; None when all are read


class WordVectors(Protocol):
    """What the store's words mean."""

    def unmeant(self, page: int) -> Unmeant:
        """The words of the next `page` memories that still lack a vector."""
        ...

    def put(self, found: Unmeant, vectors: Matrix) -> None:
        """Keep the vectors of what `unmeant` gave."""
        ...

    def unknown(self, terms: Sequence[str]) -> dict[str, str]:
        """Those of a cue's terms that have no vector, by their token; none while no word has one."""
        ...


class Vectors(Protocol):
    """Vectors of one space. Vectors of another model are never mixed in."""

    @property
    def words(self) -> WordVectors: ...

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
