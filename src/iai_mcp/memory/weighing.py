"""How the candidates of one recall are put in order: turns of talk, exchanges of worked sessions."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from iai_mcp.domain.boosts import boosted
from iai_mcp.domain.exchanges import RankedExchange
from iai_mcp.domain.knobs import Knobs
from iai_mcp.domain.ranking.candidates import NONE, Candidates, supported
from iai_mcp.domain.ranking.exchanges import (
    ExchangeCandidates,
    ranked_exchanges,
    unread,
    whole_exchanges,
)
from iai_mcp.domain.ranking.features import Asked
from iai_mcp.domain.ranking.scoring import BOOST, Boosts, Scored, ranked
from iai_mcp.domain.ranking.use import support
from iai_mcp.domain.ranking.weights import Ranker
from iai_mcp.engine.finder import Finder, Looked, Sought
from iai_mcp.ports.memories import Memories, Scope

_EXCHANGES = 30  # that are looked at whole, whatever is asked for: an answer has room for six
_SUPPORTING = 5  # so many of the best support what answered together with them
_AGES_AGO = 1 << 62  # microseconds: older than any preference for the recent reaches


@dataclass(frozen=True, slots=True)
class Ranking:
    """What might answer, best first: turns of talk, and exchanges. Their scores are on one scale."""

    looked: Looked
    talk: Sequence[Scored]
    work: Sequence[RankedExchange]

    def order(self, limit: int) -> list[Scored]:
        """The best of both, each exchange by the turn that speaks for it."""
        if not self.work:
            return list(self.talk[:limit])
        best = self.work[:limit]
        spoken = [Scored(one.speaker, NONE, one.shown, one.parts) for one in best]
        return sorted([*self.talk, *spoken], key=lambda one: -one.score)[:limit]


@dataclass(frozen=True, slots=True)
class Weighing:
    """What weighs in one recall."""

    memories: Memories
    finder: Finder
    now: int  # microseconds
    cue: Asked
    ranker: Ranker
    knobs: Knobs
    here: str  # the key of the project one works in; "" favours none

    @property
    def unread(self) -> bool:
        """Whether the model can not read the cue, so that what is near to it tells nothing."""
        return unread(self.cue.reading, self.ranker)

    def ranking(self, sought: Sought, limit: int) -> Ranking:
        """What might answer, and the best of it.

        Looked for once; and once more with what answered together with the best, if anything did.
        """
        found = self.ranked(self.finder.find(sought), limit, sought.scope)
        gained = self._gained(found.order(limit)) if self.knobs.learning == "on" else {}
        if not gained:
            return found
        looked = self.finder.find(replace(sought, also=tuple(gained)))
        return self.ranked(looked, limit, sought.scope, gained)

    def ranked(
        self, looked: Looked, limit: int, scope: Scope, gained: Mapping[int, float] | None = None
    ) -> Ranking:
        gained = gained or {}
        if gained:
            looked = replace(looked, talk=supported(looked.talk, gained))
        talk = ranked(looked.talk, self.cue, self.ranker, self._boosts(looked.talk), limit)
        if looked.work is None:
            return Ranking(looked, talk, ())
        most = max(limit, _EXCHANGES)
        boosts = self._boosts(looked.work)
        scored = ranked_exchanges(looked.work, self.cue, self.ranker, boosts, most)
        turns = self.finder.turns([one.head for one in scored], scope)
        return Ranking(looked, talk, whole_exchanges(scored, turns, gained))

    def _gained(self, order: Sequence[Scored]) -> dict[int, float]:
        """What memories gain from having answered together with the best of this answer."""
        best = order[:_SUPPORTING]
        links = self.memories.links([one.key for one in best], "together")
        if not links:
            return {}
        top = best[0].score
        sure = {one.key: math.exp(min(0.0, one.score - top)) for one in best}
        return support(links, sure, self.now)

    def favour(self, project: str) -> float:
        """How much a memory of that project is favoured, in points."""
        own = bool(self.here) and project == self.here
        return BOOST * _boost(self.knobs, own=True) if own else 0.0

    def _boosts(self, pool: Candidates | ExchangeCandidates) -> Boosts:
        """How the surroundings favour each candidate, in the logarithm of a factor."""
        here = self.finder.number("project", self.here) if self.here else NONE
        own = (pool.project == here) & (here != NONE)
        recency = np.zeros(len(pool), np.float32)
        if self.knobs.recency_weight:
            ages = (self.now - pool.at * 1e6).astype(np.int64).tolist()
            recency = np.array([_boost(self.knobs, age=age) for age in ages], np.float32)
        return Boosts(
            project=own * np.float32(_boost(self.knobs, own=True)),
            recency=recency,
        )


def _boost(knobs: Knobs, *, age: int = _AGES_AGO, own: bool = False) -> float:
    """The logarithm of the factor by which a memory is favoured."""
    return math.log(boosted(1.0, knobs, age_micros=age, own_project=own))
