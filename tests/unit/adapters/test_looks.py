"""A place that does not answer costs those who name it, and nobody else."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from iai_mcp.adapters.bounded_stat import Looks
from iai_mcp.domain.errors import PlaceSilent

PATIENCE = 0.05


@pytest.fixture
def answer() -> Iterator[threading.Event]:
    """Set when the silent place answers at last."""
    given = threading.Event()
    yield given
    given.set()


def test_what_is_seen_is_told_and_what_fails_is_raised() -> None:
    look = Looks()

    def fail() -> None:
        raise KeyError("nothing there")

    assert look("/a", lambda: 7) == 7
    assert look("/a", lambda: None) is None
    with pytest.raises(KeyError):
        look("/a", fail)


def test_a_silent_place_is_asked_no_more_until_it_answers(answer: threading.Event) -> None:
    look = Looks(PATIENCE)
    with pytest.raises(PlaceSilent, match="/gone does not answer"):
        look("/gone", answer.wait)

    asked = []
    with pytest.raises(PlaceSilent):
        look("/gone", lambda: asked.append("again"))
    assert asked == []
    assert look("/here", lambda: "seen") == "seen"

    answer.set()
    until = time.monotonic() + 30
    while time.monotonic() < until:
        try:
            assert look("/gone", lambda: "back") == "back"
            return
        except PlaceSilent:
            time.sleep(0)  # whoever looks there has yet to come back
    pytest.fail("it was never asked again")


def test_however_many_ask_at_once_a_silent_place_takes_few_threads(
    answer: threading.Event,
) -> None:
    look = Looks(PATIENCE, threads=3)

    def ask(number: int) -> str:
        try:
            return look("/gone", lambda: str(answer.wait()))
        except PlaceSilent:
            return f"silent {number}"

    with ThreadPoolExecutor(16) as callers:
        answers = list(callers.map(ask, range(64)))

    assert answers == [f"silent {number}" for number in range(64)]
    assert look("/here", lambda: "seen") == "seen"


def test_there_is_a_bound_to_how_many_places_can_be_silent(answer: threading.Event) -> None:
    look = Looks(PATIENCE, threads=3)
    for number in range(3):
        with pytest.raises(PlaceSilent):
            look(f"/gone{number}", answer.wait)

    with pytest.raises(PlaceSilent):
        look("/here", lambda: "not even looked at")
    answer.set()


def test_many_looks_at_one_place_that_answers_are_all_taken() -> None:
    look = Looks()
    with ThreadPoolExecutor(16) as callers:
        seen = list(callers.map(lambda number: look("/here", lambda: number), range(500)))
    assert seen == list(range(500))
