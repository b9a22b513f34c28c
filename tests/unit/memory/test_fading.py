"""What nobody asks for sinks, what is used rises, what is pinned stays."""

from tests.fakes.strengths import DAY, FakeStrengths, HalvingCurve

from iai_mcp.memory.sleep.fading import Fade
from iai_mcp.ports.learned import Use
from iai_mcp.ports.sleep import Strengthened


class Today:
    def __init__(self) -> None:
        self.micros = 0

    def now(self) -> int:
        return self.micros


def night(fade: Fade, strengths: FakeStrengths) -> int:
    """One sleep's fading; how many pages it took."""
    cursor, pages = fade.start(""), 0
    while True:
        page = fade.page(cursor)
        pages += 1
        for change in page.changes:
            assert isinstance(change, Strengthened)
            strengths.write(change)
        if page.done:
            return pages
        cursor = page.cursor


def test_a_memory_sinks_with_time_and_rises_when_it_is_used() -> None:
    strengths, today = FakeStrengths({1: 0, 2: 0}), Today()
    fade = Fade(strengths, HalvingCurve(), today, lambda: None)
    today.micros = 10 * DAY
    night(fade, strengths)
    assert strengths.of([1, 2]) == {1: 0.5, 2: 0.5}
    strengths.note([Use(1, today.micros, 1)])
    night(fade, strengths)
    assert strengths.of([1, 2]) == {1: 1.0, 2: 0.5}
    today.micros = 30 * DAY
    night(fade, strengths)
    assert strengths.of([1, 2]) == {1: 0.5, 2: 0.125}


def test_what_was_called_useful_lasts_longer_than_a_mere_hit() -> None:
    strengths, today = FakeStrengths({1: 0, 2: 0}), Today()
    fade = Fade(strengths, HalvingCurve(), today, lambda: None)
    strengths.note([Use(1, 0, 1), Use(2, 0, 2)])
    today.micros = 20 * DAY
    night(fade, strengths)
    known = strengths.of([1, 2])
    assert known[1] < known[2] < 1.0


def test_a_pinned_memory_never_fades_and_a_new_one_is_not_written_down() -> None:
    strengths, today = FakeStrengths({1: 0, 2: 400 * DAY - 1}, pinned=[1]), Today()
    today.micros = 400 * DAY
    night(Fade(strengths, HalvingCurve(), today, lambda: None), strengths)
    assert strengths.of([1, 2]) == {}


def test_many_memories_take_several_pages_and_each_is_met_once() -> None:
    strengths, today = FakeStrengths(dict.fromkeys(range(1, 1001), 0)), Today()
    today.micros = 10 * DAY
    assert night(Fade(strengths, HalvingCurve(), today, lambda: None), strengths) > 1
    known = strengths.of(range(1, 1001))
    assert len(known) == 1000
    assert set(known.values()) == {0.5}


def test_uses_that_wait_in_memory_are_written_down_first() -> None:
    strengths, today = FakeStrengths({1: 0}), Today()
    today.micros = 10 * DAY
    fade = Fade(strengths, HalvingCurve(), today, lambda: strengths.note([Use(1, 10 * DAY, 1)]))
    night(fade, strengths)
    assert strengths.of([1]) == {1: 1.0}
