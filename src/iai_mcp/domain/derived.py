"""What was worked out of a text, kept for when the same text comes again."""

from collections.abc import Callable
from typing import Generic, TypeVar

Made = TypeVar("Made")


class Derived(Generic[Made]):
    """Keeps what was made of texts, of at most `most` of them.

    Texts are known by their hash, which is another one in every process: no word is held, so that
    nothing is left of what was forgotten. Every call is safe from any thread.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: dict[tuple[int, int], Made] = {}

    def of(self, text: str, make: Callable[[str], Made]) -> Made:
        """What `make` makes of the text, or once made of it."""
        found = self.known(text)
        if found is None:
            found = make(text)
            self.keep(text, found)
        return found

    def known(self, text: str) -> Made | None:
        """What was made of the text, if it is still kept."""
        return self._known.get((len(text), hash(text)))

    def keep(self, text: str, made: Made) -> None:
        if len(self._known) >= self._most:
            self._known = {}
        self._known[len(text), hash(text)] = made

    def __len__(self) -> int:
        return len(self._known)
