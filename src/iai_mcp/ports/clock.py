"""The need to know what time it is."""

from typing import Protocol


class Clock(Protocol):
    def now_ms(self) -> int:
        """Milliseconds since 1970, UTC."""
        ...
