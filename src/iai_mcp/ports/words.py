"""Which memories hold which words."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

# Thousands of them at a time, for every word of a cue: a list would take longer than the index does.
Places = NDArray[np.int64]


class Words(Protocol):
    """The index as it is at one moment."""

    def spelled(self, terms: Sequence[str]) -> list[str]:
        """The terms as the index spells them, each once."""
        ...

    def places(self, word: str, limit: int) -> Places:
        """The keys of memories that hold a word, once for every time they do: a memory's stand together.

        The word comes as the index spells it; `limit` counts the times.
        """
        ...

    def holding(self, word: str) -> int:
        """How many memories hold the word."""
        ...

    def holding_phrase(self, phrase: str, limit: int) -> list[int]:
        """The keys of memories with these words side by side, newest first."""
        ...


class WordIndex(Protocol):
    """Every memory is in it from the moment that it is stored, and until it is forgotten."""

    def tokens(self, text: str) -> Sequence[str]:
        """The words of `text` as the index spells them, in order."""
        ...

    def looked_up(self) -> AbstractContextManager[Words]:
        """One view of the index for all that is asked within.

        Raises:
            StoreError: the store can not be read.
        """
        ...
