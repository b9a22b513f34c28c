"""What the use cases need to know about where they run: the time, projects, and what is secret."""

from collections.abc import Sequence
from typing import Protocol

from iai_mcp.domain.redaction import Redacted


class Clock(Protocol):
    def now(self) -> int:
        """Microseconds since the epoch."""
        ...


class Projects(Protocol):
    """Which project a place is. What looks at a place may raise `PlaceSilent`."""

    def key_of(self, project: str, cwd: str) -> str:
        """The key a project is stored under: named or by path, else by `cwd`; "" when unknown."""
        ...

    def place_of(self, cwd: str) -> str:
        """The key of the project that `cwd` provably lies in; "" for none."""
        ...

    def matching(self, project: str, known: Sequence[str]) -> list[str]:
        """Those of the known keys that a name or path stands for."""
        ...

    def kin(self, project: str, known: Sequence[str]) -> list[str]:
        """Those of the known keys that are other checkouts of its repository."""
        ...

    def comes_from(self, key: str, repository: str, *, guessed: bool = False) -> None:
        """What a transcript tells about a project that is not here: the remote or the place of its
        repository. What is `guessed` counts only where nothing else was told.
        """
        ...

    def is_here(self, key: str) -> bool:
        """Whether a project's directory is on this machine."""
        ...

    def closed(self, private: Sequence[str], known: Sequence[str], here: str) -> list[str]:
        """Those of the known keys that are closed to whoever stands in the project `here`: `private`
        ones and all that lies below them.
        """
        ...

    def covering(self, private: Sequence[str], key: str) -> list[str]:
        """Those of the private projects that a project is, or lies in."""
        ...


class Redactor(Protocol):
    def __call__(self, text: str) -> Redacted:
        """The text with secrets and private spans replaced by visible markers."""
        ...


class ConsentRules(Protocol):
    def refusal(self, project: str, cwd: str, at: int) -> str | None:
        """Why people do not want what was said there and then to be remembered, or None."""
        ...

    def work_refusal(self, project: str, cwd: str) -> str | None:
        """Why people do not want what was done there to be remembered, or None."""
        ...


class Consent(Protocol):
    def rules(self) -> ConsentRules:
        """The rules of this moment, good for one batch."""
        ...
