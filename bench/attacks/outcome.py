"""How one attack ended."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Outcome:
    """An attack, how often it was tried, and how often the product held.

    `goal` says what is asked where it is not simply "every time" (a share, a time).
    """

    attack: str
    held: int
    tried: int
    goal: str = "held every time"
    least: float = 1.0  # the share that has to hold

    @property
    def is_held(self) -> bool:
        return self.tried > 0 and self.held >= self.least * self.tried
