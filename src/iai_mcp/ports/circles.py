"""What a store keeps about all its circles."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from iai_mcp.ports.sharing_ledger import SharingLedger

SINCE_EVER = -(1 << 62)  # before anything that was ever said


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownCircle:
    """A circle that this device belongs to, with the private halves of its keys there."""

    id: str
    name: str
    place: str
    founder: str
    device: str
    signing: bytes
    sealing: bytes
    member: str
    machine: str
    everything: bool = False  # whether all that is not private is shared
    contact: int = 0  # microseconds; 0 before the first
    trouble: str = ""  # why the last contact failed


@dataclass(frozen=True, slots=True)
class SharedProject:
    """A project of a circle, and what it is here."""

    id: str
    name: str
    project: str  # its key here
    shared: bool  # whether this device tells what is said in it
    remote: str = ""
    root_commit: str = ""


@dataclass(frozen=True, slots=True)
class Traffic:
    """What waits to go out, and what others told."""

    pending: int
    applied: int


class Circles(Protocol):
    """Every call is one transaction, and may raise `StoreError` or `IoFailed`."""

    def all(self) -> list[KnownCircle]:
        """Those that this device belongs to, by their names."""
        ...

    def add(self, circle: KnownCircle) -> None:
        """
        Raises:
            AlreadyExists: a circle of that name, or the same circle, is known already.
        """
        ...

    def leave(self, circle: str) -> None:
        """Belong to it no more. What others told stays, and who told it."""
        ...

    def contacted(self, circle: str, at: int, trouble: str) -> None:
        """How the last contact went; `at` is 0 for one that failed."""
        ...

    def ledger(self, circle: KnownCircle) -> SharingLedger: ...

    def identify(self, limit: int) -> int:
        """Give memories of older versions the identity they have everywhere; how many were left."""
        ...

    def share(
        self, circle: str, project: str, name: str, since: int, repository: tuple[str, str]
    ) -> int:
        """From now on tell what is said in a project, and what was said since then; how much."""
        ...

    def share_everything(self, circle: str) -> int:
        """The same for all projects that are not private, and for what belongs to none."""
        ...

    def unshare(self, circle: str, project: str) -> None:
        """Tell no more of it; what waits to go out does not."""
        ...

    def projects(self, circle: str) -> list[SharedProject]: ...

    def said_in(self, project: str, since: int) -> Iterator[str]:
        """The texts of what was said here in a project, in order."""
        ...

    def trust(self, circle: str, member: str, trusted: bool) -> None: ...

    def trusted(self, circle: str) -> list[str]:
        """The members whose words are told to agents without being asked for."""
        ...

    def has_pending(self, circle: str) -> bool:
        """Whether anything waits to go out."""
        ...

    def traffic(self, circle: str) -> Traffic: ...
