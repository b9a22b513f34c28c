"""Which steps sleep has, in which order, and what each works with: part of the composition root."""

from contextlib import suppress
from typing import TYPE_CHECKING

from iai_mcp.adapters.leiden import LeidenCommunities
from iai_mcp.adapters.sqlite.sleep_ledger import SqliteLedger
from iai_mcp.adapters.sqlite.upkeep import StoreUpkeep, Thread
from iai_mcp.domain.errors import IaiError
from iai_mcp.memory.sleep.folding import FoldRepeats
from iai_mcp.memory.sleep.sleep import Sleep
from iai_mcp.memory.sleep.topics import FindTopics
from iai_mcp.memory.sleep.upkeep import Compact, Errand, FinishVectors, Retain
from iai_mcp.memory.work_care import TendWork

if TYPE_CHECKING:
    from iai_mcp.store import MemoryStore

_EMBEDDED = 1  # memories embedded in a page: each has several vectors


def compose(store: "MemoryStore") -> Sleep:
    """The sleep of one store. Cheap: what is heavy is imported by the step that needs it."""
    upkeep = StoreUpkeep(store.database, store.copies)

    def days() -> int:
        return store.knobs.current().retention_days if store.nights.retains else 0

    def megabytes() -> int:
        return store.knobs.current().retention_mb if store.nights.retains else 0

    steps = (
        FinishVectors(lambda: store.backlog.page(_EMBEDDED)),
        Retain(
            store.memories,
            upkeep,
            store.clock,
            days,
            megabytes,
            store.forgotten,
        ),
        TendWork(
            store.works,
            store.mend,
            store.clock,
            days,
            megabytes,
        ),
        FoldRepeats(store.repeats),
        FindTopics(store.topics, LeidenCommunities(), store.model.space, store.learns),
        Compact(upkeep),
        Errand("check", upkeep.check),
        # Before there is another backup: what was held long enough leaves those that there are.
        Errand("copies", lambda: Thread(lambda: _reach(store), "copies"), lambda: _forgot(store)),
        Errand("circles", lambda: Thread(lambda: _roll(store), "circles"), lambda: store.shares),
        Errand("backup", upkeep.back_up, upkeep.backup_due),
    )
    ledger = SqliteLedger(store.database)
    return Sleep(steps, ledger, store.memories, store.clock, store.courtesy)


def _reach(store: "MemoryStore") -> None:
    store.reach()


def _roll(store: "MemoryStore") -> None:
    with suppress(IaiError):  # a place that is away is told where circles stand
        store.sharing.roll()


def _forgot(store: "MemoryStore") -> bool:
    store.restore_forgotten.expire()
    return store.memories.unreached_count() > 0
