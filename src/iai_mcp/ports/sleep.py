"""Sleep's work as values: a page reads, decides, and returns changes; the ledger applies them.

The changes of a page and the cursor behind it are written in one transaction: killed at any
moment, sleep goes on from the last page that was written.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

Enough = Callable[[], bool]


def never() -> bool:
    """For whoever wants all of a page, however long it takes."""
    return False


@dataclass(frozen=True, slots=True)
class Folded:
    """A memory was compared with all before it. `fold` names the group it repeats, if any."""

    key: int
    digest: int
    bands: tuple[int, ...] = ()
    fold: int | None = None


@dataclass(frozen=True, slots=True)
class Assigned:
    """Memories take their places in the windows in which topics are looked for.

    A window holds so many of one project at `most`; who comes after that begins another.
    """

    keys: tuple[int, ...]
    most: int


@dataclass(frozen=True, slots=True)
class Grouped:
    """The topics of one window: which topic each memory belongs to, and how many ties it has."""

    window: int
    topic_of: Mapping[int, int]
    ties_of: Mapping[int, int]


Change = Folded | Assigned | Grouped


@dataclass(frozen=True, slots=True)
class Page:
    """What one page of a step found: changes to write, numbers for the report, where to go on."""

    cursor: str = ""
    done: bool = False
    changes: tuple[Change, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    failed: str = ""  # the code of what went wrong, where the step gave up for this time


class Step(Protocol):
    """One kind of work, in small pages."""

    @property
    def name(self) -> str: ...

    def start(self, cursor: str) -> str:
        """Where a new sleep begins, given where the last one ended ("" if there was none)."""
        ...

    def page(self, cursor: str, enough: Enough = ...) -> Page:
        """A little work, about 20 ms at most: after each memory it asks whether that is enough.

        What is found does not depend on how it was cut into pages.
        """
        ...


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a step came in the current sleep."""

    step: str
    cursor: str
    done: bool
    pages: int
    micros: int
    counts: Mapping[str, int]
    failed: str = ""


@dataclass(frozen=True, slots=True)
class Night:
    """One sleep: `finished` is None while it is under way."""

    started: int
    finished: int | None
    steps: tuple[Progress, ...]


class Ledger(Protocol):
    """Where sleep keeps how far it came. Every call is safe from any thread."""

    def night(self) -> Night | None:
        """The current sleep, or the last one; None before the first."""
        ...

    def cursors(self) -> Mapping[str, str]:
        """Where each step stood last."""
        ...

    def begin(self, cursors: Mapping[str, str], at: int) -> None:
        """Start a new sleep with these steps, in this order."""
        ...

    def apply(self, step: str, page: Page, micros: int) -> None:
        """Write a page's changes, numbers and cursor in one transaction."""
        ...

    def finish(self, at: int) -> None: ...
