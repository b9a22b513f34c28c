"""How the room of an answer is shared."""

from hypothesis import given
from hypothesis import strategies as st

from iai_mcp.domain.shares import SHORT, Cost, shares

COSTS = st.lists(st.builds(Cost, st.integers(0, 50_000), st.integers(100, 900)), max_size=30)


def test_what_is_short_stays_whole_and_the_first_of_the_long_gets_most() -> None:
    found = shares([Cost(5000, 300), Cost(100, 300), Cost(5000, 300)], 4000)
    assert found[1] == 100
    assert found[0] is not None and found[2] is not None
    assert found[0] > found[2] > SHORT


def test_what_one_leaves_goes_to_the_next() -> None:
    crowded = shares([Cost(5000, 300), Cost(5000, 300)], 4000)
    alone = shares([Cost(400, 300), Cost(5000, 300)], 4000)
    assert (alone[1] or 0) > (crowded[1] or 0)


def test_whole_texts_are_shown_whole_or_not_at_all() -> None:
    assert shares([Cost(900, 100), Cost(5000, 100), Cost(50, 100)], 1500, whole=True) == [
        900,
        None,
        50,
    ]


@given(COSTS, st.integers(0, 20_000), st.booleans())
def test_beyond_the_first_the_room_is_kept(hits: list[Cost], room: int, whole: bool) -> None:
    found = shares(hits, room, whole=whole)
    assert len(found) == len(hits)
    assert not hits or found[0] is not None
    shown = [(own, cost) for own, cost in zip(found, hits, strict=True) if own is not None]
    assert all(own <= cost.text for own, cost in shown)
    if len(shown) > 1:
        assert sum(own + cost.around for own, cost in shown) <= room
