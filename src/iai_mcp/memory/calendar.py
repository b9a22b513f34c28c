"""How much was said on which day, by project, program or agent: counted, never read."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from iai_mcp.engine.columns import Columns
from iai_mcp.memory.scoping import Access, Caller, Filter

_DAY = 86_400_000_000  # microseconds
_MINUTE = 60_000_000

By = Literal["project", "host", "agent_name", "role"]


@dataclass(frozen=True, slots=True)
class Day:
    """So much was said by, or in, that name on a day; days are counted from 1970-01-01."""

    day: int
    name: str
    count: int


@dataclass(frozen=True, slots=True)
class Calendar:
    """Counts over the columns: all memories are looked at, and none is fetched."""

    columns: Columns
    access: Access

    def __call__(self, about: Filter, caller: Caller, by: By, offset: int = 0) -> list[Day]:
        """`offset`: minutes by which the day of whoever asks is ahead of UTC's."""
        view = self.columns.current()
        within = self.columns.within(view, self.access.scope(about, caller))
        days = (view.at[within] + offset * _MINUTE) // _DAY
        names = self.columns.names(by)
        places = days * max(len(names), 1) + getattr(view, by)[within]
        found, counts = np.unique(places, return_counts=True)
        return [
            Day(int(place) // len(names), names[int(place) % len(names)], int(count))
            for place, count in zip(found, counts, strict=True)
        ]
