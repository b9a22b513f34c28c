"""Let what nobody asks for sink, and what was used rise. Nothing is ever removed by it."""

from collections.abc import Callable
from dataclasses import dataclass

from iai_mcp.ports.learned import Curve, Standing, Strengths, Trace
from iai_mcp.ports.sleep import Enough, Page, Strengthened, never
from iai_mcp.ports.surroundings import Clock

_COUNTED = 40  # memories whose uses are counted in a page
_SWEPT = 300  # memories whose strength is worked out in a page
_WORTH_WRITING = 0.01


@dataclass(frozen=True, slots=True)
class Fade:
    """First the uses since the last sleep are counted; then every memory's strength is brought up
    to this day. A pinned memory stands at full strength.
    """

    strengths: Strengths
    curve: Curve
    clock: Clock
    flush: Callable[[], None]  # writes down the uses that still wait in memory
    name: str = "fading"

    def start(self, cursor: str) -> str:
        self.flush()
        return "0"

    def page(self, cursor: str, enough: Enough = never) -> Page:
        used = self.strengths.used(_COUNTED) if cursor == "0" else ()
        if used:
            changes = []
            for memory in used:
                trace = memory.trace or self.curve.first(memory.said_at)
                for _, use in memory.uses:
                    trace = self.curve.used(trace, use)
                numbers = tuple(number for number, _ in memory.uses)
                changes.append(_strengthened(memory.key, trace, 1.0, numbers))
            counts = {"used": sum(len(memory.uses) for memory in used)}
            return Page(cursor, changes=tuple(changes), counts=counts)
        return self._swept(int(cursor), enough)

    def _swept(self, after: int, enough: Enough) -> Page:
        now = self.clock.now()
        found = self.strengths.standing(after, _SWEPT)
        changes: list[Strengthened] = []
        reached = after
        for memory in found:
            changed = self._changed(memory, now)
            if changed is not None:
                changes.append(changed)
            reached = memory.key
            if enough():
                break
        return Page(
            str(reached),
            done=len(found) < _SWEPT and (not found or reached == found[-1].key),
            changes=tuple(changes),
            counts={"changed": len(changes)},
        )

    def _changed(self, memory: Standing, now: int) -> Strengthened | None:
        trace = memory.trace or self.curve.first(memory.said_at)
        strength = 1.0 if memory.pinned else self.curve.strength(trace, now)
        before = 1.0 if memory.strength is None else memory.strength
        if abs(strength - before) < _WORTH_WRITING:
            return None
        return _strengthened(memory.key, trace, strength)


def _strengthened(
    key: int, trace: Trace, strength: float, used: tuple[int, ...] = ()
) -> Strengthened:
    return Strengthened(
        key, trace.stability, trace.difficulty, trace.used_at, round(strength, 4), used
    )
