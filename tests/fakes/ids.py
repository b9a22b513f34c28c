"""Ids that can be foretold."""

from itertools import count


class FakeIds:
    def __init__(self, prefix: str = "id") -> None:
        self._prefix = prefix
        self._numbers = count(1)

    def new(self) -> str:
        return f"{self._prefix}-{next(self._numbers)}"
