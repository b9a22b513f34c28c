"""`Strengths` and `Curve` in memory, with a curve that anybody can follow in their head."""

import math
from collections.abc import Mapping, Sequence

from iai_mcp.ports.learned import Standing, Trace, Use, Used
from iai_mcp.ports.sleep import Strengthened

DAY = 86_400_000_000


class HalvingCurve:
    """Strength halves every `stability` days; every use doubles the stability."""

    def first(self, at: int) -> Trace:
        return Trace(10.0, 5.0, at)

    def used(self, trace: Trace, use: Use) -> Trace:
        return Trace(trace.stability * 2 * use.weight, trace.difficulty, use.at)

    def strength(self, trace: Trace, now: int) -> float:
        return math.pow(0.5, (now - trace.used_at) / DAY / trace.stability)


class FakeStrengths:
    """Memories by key, said at a moment, some of them pinned."""

    def __init__(self, said_at: Mapping[int, int], pinned: Sequence[int] = ()) -> None:
        self._said_at = dict(said_at)
        self._pinned = set(pinned)
        self._uses: dict[int, Use] = {}
        self._written: dict[int, Strengthened] = {}

    def note(self, uses: Sequence[Use]) -> None:
        for use in uses:
            self._uses[len(self._uses) + 1] = use

    def of(self, keys: Sequence[int]) -> dict[int, float]:
        return {key: self._written[key].strength for key in keys if key in self._written}

    def used(self, limit: int) -> list[Used]:
        keys = sorted({use.key for use in self._uses.values()})[:limit]
        return [
            Used(
                key,
                self._said_at[key],
                self._trace(key),
                tuple((n, use) for n, use in self._uses.items() if use.key == key),
            )
            for key in keys
        ]

    def standing(self, after: int, limit: int) -> list[Standing]:
        keys = sorted(key for key in self._said_at if key > after)[:limit]
        return [
            Standing(
                key,
                self._said_at[key],
                key in self._pinned,
                self._trace(key),
                self._written[key].strength if key in self._written else None,
            )
            for key in keys
        ]

    def weakest(self, limit: int, not_projects: Sequence[str]) -> list[tuple[int, float]]:
        known = [(key, one.strength) for key, one in self._written.items()]
        open_ones = [one for one in known if one[0] not in self._pinned and "" not in not_projects]
        return sorted(open_ones, key=lambda one: (one[1], one[0]))[:limit]

    def levels(self, not_projects: Sequence[str] = ()) -> list[int]:
        known = self._written.values() if "" not in not_projects else ()
        at = [min(int(one.strength * 10), 9) for one in known]
        return [at.count(level) for level in range(10)]

    def write(self, change: Strengthened) -> None:
        """What the ledger does with a page's change."""
        self._written[change.key] = change
        for number in change.used:
            del self._uses[number]

    def _trace(self, key: int) -> Trace | None:
        known = self._written.get(key)
        return None if known is None else Trace(known.stability, known.difficulty, known.used_at)
