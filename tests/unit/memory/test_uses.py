"""Which memories were asked for is written down together, after the answers have left."""

from collections.abc import Callable

from tests.fakes.strengths import FakeStrengths

from iai_mcp.domain.instants import from_micros
from iai_mcp.domain.memories import Memory
from iai_mcp.memory.question import Answer, Hit
from iai_mcp.memory.room import Shown
from iai_mcp.memory.uses import HIT, USEFUL, Uses


class StandingClock:
    def now(self) -> int:
        return 1_000


def answer(*keys: int) -> Answer:
    said = from_micros(0)
    memories = [Memory(key=key, id=str(key), text="words", role="user", at=said) for key in keys]
    return Answer(hits=tuple(Hit(shown=Shown(m), score=1.0, reason="words") for m in memories))


def noted(strengths: FakeStrengths) -> list[tuple[int, int]]:
    return [(use.key, use.weight) for used in strengths.used(100) for _, use in used.uses]


def test_of_a_long_answer_only_the_first_hits_were_surely_asked_for() -> None:
    strengths = FakeStrengths(dict.fromkeys(range(1, 10), 0))
    uses = Uses(strengths, StandingClock(), later=lambda errand: None)

    uses.hits(answer(5, 3, 4, 2, 1))
    uses.useful([1])
    assert noted(strengths) == [], "the one who asks does not wait for a write"
    uses.flush()

    assert noted(strengths) == [(1, USEFUL), (3, HIT), (4, HIT), (5, HIT)]


def test_many_uses_are_written_without_waiting_for_the_night() -> None:
    strengths = FakeStrengths({1: 0})
    soon: list[Callable[[], None]] = []
    uses = Uses(strengths, StandingClock(), later=soon.append)

    for _ in range(64):
        uses.hits(answer(1))
    assert len(soon) == 1
    soon[0]()
    uses.flush()

    assert len(noted(strengths)) == 64
