"""The steps that care for the store itself: vectors, what is kept for how long, compacting, checking, backup."""

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field

from iai_mcp.ports.memories import Memories
from iai_mcp.ports.sleep import Enough, Page, never
from iai_mcp.ports.surroundings import Clock
from iai_mcp.ports.upkeep import Job, Upkeep

_MICROS_PER_DAY = 86_400_000_000
_MEGABYTE = 1_000_000
_FORGOTTEN = 20  # in a page
_WEIGHED = 1000  # in a page
_WEIGH = "weigh|0|0"
_PATIENCE = 0.02  # seconds that a page waits for work in another thread


@dataclass(frozen=True, slots=True)
class Retain:
    """Forget what people do not want to keep: what is too old, then the oldest of what is too much.
    By default nothing is forgotten; what is pinned never is.

    The stages, as the cursor names them: `forget|keys` by age, `weigh|key|bytes` how much there is,
    `drop|bytes too much|keys` by size; after each forgetting `purge` and `purging` rewrite the words
    index. What a page forgets was named by the page before it: killed in between, the same memories
    go and no others.
    """

    memories: Memories
    upkeep: Upkeep
    clock: Clock
    days: Callable[[], int]
    megabytes: Callable[[], int]
    forgotten: Callable[[Sequence[int]], None]  # told which keys went
    name: str = "retention"

    def start(self, cursor: str) -> str:
        return "forget|"

    def page(self, cursor: str, enough: Enough = never) -> Page:
        stage, _, rest = cursor.partition("|")
        first, _, second = rest.partition("|")
        match stage:
            case "forget":
                return self._too_old(_keys(first))
            case "weigh":
                return self._weighed(int(first), int(second))
            case "drop":
                return self._too_much(int(first), _keys(second))
            case _:
                return self._purged(stage, last=bool(first))

    def _too_old(self, named: list[int]) -> Page:
        went = self._forget(named, self._expired())
        following = self._expired()
        if following:
            return Page(f"forget|{_listed(following)}", counts=went)
        return Page("purge" if named else _WEIGH, counts=went)

    def _expired(self) -> Sequence[int]:
        days = self.days()
        before = self.clock.now() - days * _MICROS_PER_DAY
        return self.upkeep.expired(before, _FORGOTTEN) if days else ()

    def _weighed(self, after: int, so_far: int) -> Page:
        allowed = self.megabytes() * _MEGABYTE
        if not allowed:
            return Page("forget|", done=True)
        more = self.upkeep.weighed(after, _WEIGHED)
        if more is not None:
            return Page(f"weigh|{more[0]}|{so_far + more[1]}")
        counts = {"bytes_before": so_far}
        if so_far <= allowed:
            return Page("forget|", done=True, counts=counts)
        return Page(f"drop|{so_far - allowed}|", counts=counts)

    def _too_much(self, excess: int, named: list[int]) -> Page:
        weights = self._oldest()
        went = self._forget(named, weights)
        if went:
            went["bytes_forgotten"] = sum(weights.get(key, 0) for key in named)
        following: list[int] = []
        for key, size in self._oldest().items() if excess > 0 else ():
            if excess > 0:
                following.append(key)
                excess -= size
        if following:
            return Page(f"drop|{excess}|{_listed(following)}", counts=went)
        return Page("purge|last", counts=went)

    def _oldest(self) -> dict[int, int]:
        return dict(self.upkeep.oldest(_FORGOTTEN)) if self.megabytes() else {}

    def _purged(self, stage: str, *, last: bool) -> Page:
        """Nothing of what was forgotten may stay in the words index."""
        if self.upkeep.forget_words(begin=stage == "purge"):
            return Page("purging|last" if last else "purging")
        return Page("forget|", done=True) if last else Page(_WEIGH)

    def _forget(self, named: list[int], due: Container[int]) -> dict[str, int]:
        """Of those that were named, what is still due: somebody may have pinned one meanwhile."""
        keys = [key for key in named if key in due]
        if not keys:
            return {}
        # How long this machine keeps things is its own affair: others keep them.
        gone = self.memories.forget(
            keys, self.clock.now(), purge=False, only_here=True, hold="retention"
        )
        self.forgotten(keys)
        return {"changed": len(gone), "forgotten": len(gone)}


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
        return Page(did.cursor, did.done, counts=counts)


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


def _keys(named: str) -> list[int]:
    return [int(key) for key in named.split(",") if key]


def _listed(keys: Sequence[int]) -> str:
    return ",".join(map(str, keys))
