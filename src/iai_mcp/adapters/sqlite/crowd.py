"""What holds for all memories of a scope together, counted once and not for every cue."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from iai_mcp.adapters.sqlite.sheet import Mask, View
from iai_mcp.domain.ranking.exchanges import NONE, Work, work
from iai_mcp.domain.ranking.lexical import Population, population


@dataclass(frozen=True, slots=True)
class Crowd:
    """The rows as words are weighed among them, and who spoke there."""

    population: Population
    speakers: Sequence[int]
    assistants: bool
    work: Work
    talk: Mask  # rows of sessions in which nobody worked, and of none


class Crowds:
    """Keeps the crowd asked for last: it changes only when something is stored or forgotten."""

    def __init__(self) -> None:
        self._last: tuple[Mask, Crowd] | None = None

    def of(self, view: View, within: Mask) -> Crowd:
        """`within` is the sheet's own mask, which is another one after every change."""
        last = self._last
        if last is not None and last[0] is within:
            return last[1]
        made = _crowd(view, within)
        self._last = (within, made)
        return made


def _crowd(view: View, within: Mask) -> Crowd:
    done = work(within, view.in_session, view.head, view.session, view.length)
    return Crowd(
        population=population(within, view.length, view.session, view.conversed),
        speakers=np.flatnonzero(np.bincount(view.speaker[within])).tolist(),
        assistants=bool((within & ~view.spoken).any()),
        work=done,
        talk=within & (done.number == NONE) if len(done) else within,
    )
