"""The need for names that nobody else has."""

from typing import Protocol


class IdGenerator(Protocol):
    def new(self) -> str:
        """An id never given before: letters, digits and dashes, fit for a file name."""
        ...
