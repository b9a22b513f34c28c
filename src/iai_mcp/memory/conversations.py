"""Which conversations there are, the newest first, each with the words it began with."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from iai_mcp.domain.memories import SUMMARY, Memory
from iai_mcp.engine.columns import Columns, View
from iai_mcp.memory.scoping import Access, Caller, Filter
from iai_mcp.ports.memories import Memories, Scope

_OPENING = 300  # characters

_Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Conversation:
    """One session as far as it is remembered. `opening` is what a person said first in it."""

    session_id: str
    turns: int
    first: int  # microseconds
    last: int
    opening: Memory


@dataclass(frozen=True, slots=True)
class Extent:
    """How much is remembered within a scope, and since when (microseconds)."""

    sessions: int
    messages: int
    first: int


def extent(columns: Columns, scope: Scope) -> Extent:
    """Counted over the columns: nothing is read."""
    view = columns.current()
    rows = np.flatnonzero(columns.within(view, replace(scope, until=None)))
    rows = rows[view.role[rows] != columns.number("role", SUMMARY)]
    # A clock that was ahead tells no time.
    rows = rows if scope.until is None else rows[view.at[rows] < scope.until]
    sessions = np.unique(view.session[rows])
    return Extent(
        int(np.count_nonzero(sessions != view.no_session)),
        len(rows),
        int(view.at[rows].min()) if len(rows) else 0,
    )


@dataclass(frozen=True, slots=True)
class Conversations:
    """All sessions are looked at in the columns; only the openings of those shown are read."""

    columns: Columns
    access: Access
    memories: Memories

    def __call__(
        self, about: Filter, caller: Caller, limit: int, before: int | None = None
    ) -> list[Conversation]:
        """`before`: only those whose last turn was said earlier, in microseconds."""
        view = self.columns.current()
        within = self.columns.within(view, self.access.scope(about, caller))
        rows = np.flatnonzero(within & (view.session != view.no_session))
        newest = sorted(_sessions(view, rows), key=lambda turns: -int(view.at[turns[-1]]))
        shown = [turns for turns in newest if before is None or view.at[turns[-1]] < before]
        shown = shown[:limit]
        keys = [int(view.keys[_opening(view, turns)]) for turns in shown]
        opened = {memory.key: memory for memory in self.memories.get(keys, _OPENING)}
        return [
            Conversation(
                opened[key].provenance.session_id,
                len(turns),
                int(view.at[turns[0]]),
                int(view.at[turns[-1]]),
                opened[key],
            )
            for key, turns in zip(keys, shown, strict=True)
            if key in opened  # else it was forgotten at this moment
        ]


def _sessions(view: View, rows: _Rows) -> Iterator[_Rows]:
    """The rows of each session, in the order they were said."""
    if not len(rows):
        return
    ordered = rows[np.lexsort((view.at[rows], view.session[rows]))]
    borders = np.flatnonzero(np.diff(view.session[ordered])) + 1
    yield from np.split(ordered, borders)


def _opening(view: View, turns: _Rows) -> int:
    said_by_people = turns[view.spoken[turns]]
    return int(said_by_people[0] if len(said_by_people) else turns[0])
