"""How fast memory answered: minute by minute, bounded, the slow ones not lost among the quick."""

from iai_mcp.memory.pace import Pace, Sizes

MINUTE = 60_000_000


def test_a_minute_tells_how_long_recalls_took_and_what_there_was_at_its_beginning() -> None:
    now, sizes = [0], [Sizes(1, 10, 100)]
    pace = Pace(lambda: now[0], lambda: sizes[0])
    for milliseconds in range(100):
        pace.recalled(milliseconds / 1000)
    sizes[0] = Sizes(2, 20, 200)
    now[0] = 3 * MINUTE + 1
    first, second = pace.minutes()
    assert (first.begins, first.recalls, first.sizes) == (0, 100, Sizes(1, 10, 100))
    assert (first.share(0.5), first.share(0.95)) == (0.05, 0.095)
    assert (second.begins, second.recalls, second.share(0.95)) == (3 * MINUTE, 0, 0.0)
    assert second.sizes == Sizes(2, 20, 200)


def test_what_is_kept_is_bounded_however_long_and_busy_the_daemon_is() -> None:
    now = [0]
    pace = Pace(lambda: now[0], lambda: Sizes(0, 0, 0))
    for _ in range(10_000):
        pace.recalled(0.001)
    busy = pace.minutes()[0]
    assert busy.recalls == 10_000 and len(busy.took) <= 200
    for minute in range(2_000):
        now[0] = minute * MINUTE
        pace.recalled(0.001)
    kept = pace.minutes()
    assert len(kept) == 240 and kept[-1].begins == 1_999 * MINUTE
