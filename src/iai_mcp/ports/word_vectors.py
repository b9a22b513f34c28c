"""Where the meaning of single words outlives the process."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from iai_mcp.ports.vectors import Coded


class Unread(NamedTuple):
    """The words of some memories that nobody has read for them yet."""

    words: Mapping[str, str]  # by how the index spells them, in the form that is said most
    read_to: int | None  # the key of the last memory; None when all are read


class WordVectorLog(Protocol):
    """Words of one space, each under a number that is never given to another one."""

    def page(self, after: int, limit: int) -> list[Coded]:
        """The next words behind that number."""
        ...

    def unread(self, limit: int, often: int) -> Unread:
        """What the next `limit` memories say that was said so often by now and is not kept yet."""
        ...

    def put(self, words: Mapping[str, Coded], read_to: int) -> dict[str, int]:
        """Keep the words, whatever number they come with; those that are new, with their number."""
        ...

    def pair(self, pairs: Sequence[tuple[int, int, float]]) -> None:
        """Keep how near two words are, both ways; a word that is gone is passed over."""
        ...

    def pairs(self, words: Sequence[str], least: float) -> list[tuple[str, str, float]]:
        """What is that near to each of the words, nearest first."""
        ...

    def missing(self, terms: Sequence[str]) -> dict[str, str]:
        """Those of the terms that are not kept, by how the index spells them."""
        ...

    def spelled(self, numbers: Sequence[int]) -> dict[int, str]:
        """The words with these numbers that are still there."""
        ...
