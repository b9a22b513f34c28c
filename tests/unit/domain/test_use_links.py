"""Learning from use: bounded, decaying."""

from hypothesis import given
from hypothesis import strategies as st

from iai_mcp.domain.use_links import FULL, Link, support

MONTH = 30 * 86_400_000_000


def test_a_memory_gains_from_having_answered_with_the_best() -> None:
    assert support([Link(1, 2, 0.4, 0)], {1: 1.0}, 0) == {2: 0.4}


def test_links_work_both_ways() -> None:
    assert support([Link(1, 2, 0.4, 0)], {2: 1.0}, 0) == {1: 0.4}


def test_a_link_to_what_is_not_among_the_best_gives_nothing() -> None:
    assert support([Link(1, 2, 0.4, 0)], {3: 1.0}, 0) == {}


def test_half_of_it_is_gone_after_a_month() -> None:
    assert support([Link(1, 2, 0.4, 0)], {1: 1.0}, MONTH) == {2: 0.2}


def test_what_nobody_used_for_a_year_has_faded_away() -> None:
    assert support([Link(1, 2, 1.0, 0)], {1: 1.0}, 12 * MONTH) == {}


@given(
    st.lists(
        st.builds(
            Link,
            st.integers(1, 5),
            st.integers(6, 9),
            st.floats(0, 100),
            st.integers(0, 5 * MONTH),
        )
    )
)
def test_no_memory_ever_gains_more_than_the_bound(links: list[Link]) -> None:
    gained = support(links, dict.fromkeys(range(1, 6), 1.0), 3 * MONTH)

    assert all(0.0 <= value <= FULL for value in gained.values())
