"""The steps that care for the store itself: vectors, compacting, checking, backup."""

from collections.abc import Callable
from dataclasses import dataclass, field

from iai_mcp.ports.sleep import Enough, Page, never
from iai_mcp.ports.upkeep import Job, Upkeep

_PATIENCE = 0.02  # seconds that a page waits for work in another thread


@dataclass(frozen=True, slots=True)
class FinishVectors:
    """Give a vector to every memory that lacks one, a few at a time."""

    embed: Callable[[], int]  # embeds a few; how many there were
    name: str = "vectors"

    def start(self, cursor: str) -> str:
        return ""

    def page(self, cursor: str, enough: Enough = never) -> Page:
        done = self.embed()
        return Page(done=done == 0, counts={"changed": done})


@dataclass(frozen=True, slots=True)
class Compact:
    """Make the store smaller and quicker to ask, a little at a time."""

    upkeep: Upkeep
    name: str = "compact"

    def start(self, cursor: str) -> str:
        return ""

    def page(self, cursor: str, enough: Enough = never) -> Page:
        did = self.upkeep.compact(cursor)
        counts = {"merged": did.merged, "changed": did.released, "released": did.released}
        return Page(did.cursor, did.done, counts={n: count for n, count in counts.items() if count})


@dataclass(slots=True)
class Errand:
    """Work that takes longer than a page, in a thread of its own: pages only look after it.

    It works beside the store and hardly writes to it, so nobody waits for it; killed, it begins anew.
    """

    name: str
    begin: Callable[[], Job]
    due: Callable[[], bool] = lambda: True
    _job: Job | None = field(default=None)

    def start(self, cursor: str) -> str:
        self._job = None
        return ""

    def page(self, cursor: str, enough: Enough = never) -> Page:
        if self._job is None:
            if not self.due():
                return Page(done=True)
            self._job = self.begin()
        if not self._job.finished(_PATIENCE):
            return Page()
        self._job = None
        return Page(done=True, counts={"changed": 1})
