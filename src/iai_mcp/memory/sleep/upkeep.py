"""The steps that care for the store itself: vectors, retention, compacting, checking, backup."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from iai_mcp.ports.memories import Memories
from iai_mcp.ports.sleep import Page
from iai_mcp.ports.surroundings import Clock
from iai_mcp.ports.upkeep import Job, Upkeep

_MICROS_PER_DAY = 86_400_000_000
_FORGOTTEN = 20  # in a page
_RELEASED = 32  # pages of 16 KB in a page
_PATIENCE = 0.02  # seconds that a page waits for work in another thread


@dataclass(frozen=True, slots=True)
class FinishVectors:
    """Give a vector to every memory that lacks one, a few at a time."""

    embed: Callable[[], int]  # embeds a few; how many there were
    name: str = "vectors"

    def start(self, cursor: str) -> str:
        return ""

    def page(self, cursor: str) -> Page:
        done = self.embed()
        return Page(done=done == 0, counts={"changed": done})


@dataclass(frozen=True, slots=True)
class Retain:
    """Forget what is older than people want to keep; by default nothing is."""

    memories: Memories
    upkeep: Upkeep
    clock: Clock
    days: Callable[[], int]
    forgotten: Callable[[Sequence[int]], None]  # told which keys went
    name: str = "retention"

    def start(self, cursor: str) -> str:
        return "forget"

    def page(self, cursor: str) -> Page:
        days = self.days()
        if cursor == "forget":
            before = self.clock.now() - days * _MICROS_PER_DAY
            keys = self.upkeep.expired(before, _FORGOTTEN) if days else ()
            if not keys:
                return Page("forget", done=True)
            gone = self.memories.forget(keys, self.clock.now(), purge=False)
            self.forgotten(keys)
            onward = "purge" if len(keys) < _FORGOTTEN else "forget"
            return Page(onward, counts={"changed": len(gone), "forgotten": len(gone)})
        # Nothing of what was forgotten may stay in the words index.
        more = self.upkeep.merge_words(all_of_it=cursor == "purge")
        return Page("purging", done=not more)


@dataclass(frozen=True, slots=True)
class Compact:
    """Merge the words index and give free pages back, both a little at a time."""

    upkeep: Upkeep
    name: str = "compact"

    def start(self, cursor: str) -> str:
        return "merge"

    def page(self, cursor: str) -> Page:
        if cursor == "merge":
            merged = self.upkeep.merge_words()
            return Page("merge" if merged else "release", counts={"merged": int(merged)})
        released = self.upkeep.release(_RELEASED)
        if released:
            return Page("release", counts={"changed": released, "released": released})
        self.upkeep.checkpoint()
        return Page("release", done=True)


@dataclass(slots=True)
class Errand:
    """Work that takes longer than a page, in a thread of its own: pages only look after it.

    It reads and never writes to the store, so nobody waits for it; killed, it begins anew.
    """

    name: str
    begin: Callable[[], Job]
    due: Callable[[], bool] = lambda: True
    _job: Job | None = field(default=None)

    def start(self, cursor: str) -> str:
        self._job = None
        return ""

    def page(self, cursor: str) -> Page:
        if self._job is None:
            if not self.due():
                return Page(done=True)
            self._job = self.begin()
        if not self._job.finished(_PATIENCE):
            return Page()
        self._job = None
        return Page(done=True, counts={"changed": 1})
