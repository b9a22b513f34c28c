"""What the use cases need to know about where they run: the time, projects, and what is secret."""

from collections.abc import Sequence
from typing import Protocol


class Clock(Protocol):
    def now(self) -> int:
        """Microseconds since the epoch."""
        ...


class Projects(Protocol):
    def key_of(self, project: str, cwd: str) -> str:
        """The key a project is stored under: named or by path, else by `cwd`; "" when unknown."""
        ...

    def matching(self, project: str, known: Sequence[str]) -> list[str]:
        """Those of the known keys that a name or path stands for."""
        ...


class Redactor(Protocol):
    def __call__(self, text: str) -> str:
        """The text with secrets replaced by visible markers."""
        ...


class Consent(Protocol):
    def allows(self, project: str, cwd: str) -> bool:
        """Whether people want what is said there to be remembered."""
        ...
