"""Where vectors outlive the process."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray


class Coded(NamedTuple):
    """The vector of a memory as it is kept: a byte per number, and what one step of it is worth."""

    key: int
    scale: float
    code: bytes


@dataclass(frozen=True, slots=True)
class CodedPage:
    """Vectors of many memories in columns: an object for each of a million takes seconds."""

    keys: NDArray[np.int64]
    scales: NDArray[np.float32]
    codes: NDArray[np.int8]  # a row each

    def __len__(self) -> int:
        return len(self.keys)

    def __iter__(self) -> Iterator[Coded]:
        for key, scale, code in zip(
            self.keys.tolist(), self.scales.tolist(), self.codes, strict=True
        ):
            yield Coded(key, scale, code.tobytes())

    def part(self, after: int, limit: int) -> "CodedPage":
        """At most so many behind that key."""
        start = int(np.searchsorted(self.keys, after, side="right"))
        own = slice(start, start + limit)
        return CodedPage(self.keys[own], self.scales[own], self.codes[own])


class CodedParts(NamedTuple):
    """The other vectors of a memory, one after another: the topics of its standing wishes first, its
    passages between, and last, if `context`, that of the turn together with the one before it.
    """

    key: int
    topics: int
    context: bool
    scales: bytes  # 32-bit floats
    codes: bytes


class VectorLog(Protocol):
    """Vectors of one space. Vectors of another model are never mixed in."""

    def put(
        self,
        turns: Sequence[Coded],
        parts: Sequence[CodedParts] = (),
        unfinished: Collection[int] = (),
    ) -> list[int]:
        """Keep them, in place of any before, and take the turns off the backlog, all or nothing; but
        for the `unfinished`, whose passages are to follow.

        Returns:
            The keys of what was kept: a memory that was forgotten is passed over.
        """
        ...

    def page(self, after: int, limit: int) -> CodedPage:
        """The next vectors behind that key, in order of arrival of their memories."""
        ...

    def parts(self, keys: Sequence[int]) -> list[CodedParts]:
        """Those of these memories that have any."""
        ...

    def with_topics(self, after: int, limit: int) -> list[CodedParts]:
        """The next behind that key that have topics, in order of arrival."""
        ...
