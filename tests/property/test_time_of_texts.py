"""Whatever a text says, each path that it takes reads it in a time that its length allows.

`python -m bench fuzz` looks for the worst for much longer.
"""

from collections.abc import Iterator

import pytest
from bench import fuzz
from bench.text_paths import TextPath, pure, stored
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

LONGEST = 10_000  # characters
LONGEST_TURN = 100_000
PURE = {path.name: path for path in pure()}
# Each made one path slow once.
SLOW = {
    "time": ("a", " ", ""),
    "long word": ("a", "a", "\x00"),
    "long name": ("", "a.", ""),
    "versions": ("a", "1.", ""),
    "numbered list": ("", "1. do the next thing, please\n", ""),
    "bullets": ("", "- item\n", ""),
    "path": ("", "a/", ""),
    "blank lines": ("a", "\n", "a"),
    "sentences": ("", "The heron nests here. ", ""),
    "Chinese": ("", "漢", ""),
}


def check(path: TextPath, text: str) -> None:
    took = min(fuzz.seconds(path, text) for _ in range(2))
    assert took <= fuzz.allowed(path, text), f"{path.name} took {took:.2f} s"


@pytest.fixture(scope="module")
def through_store() -> Iterator[dict[str, TextPath]]:
    with stored() as paths:
        yield {path.name: path for path in paths}


@pytest.mark.parametrize("name", PURE)
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(text=st.deferred(lambda: fuzz.texts(LONGEST)))
def test_repeated_pieces_are_read_in_linear_time(name: str, text: str) -> None:
    if fuzz.seconds(PURE[name], text) > fuzz.allowed(PURE[name], text):
        check(PURE[name], text)


@pytest.mark.parametrize("name", PURE)
def test_one_unit_repeated_is_read_in_linear_time(name: str) -> None:
    for begin, unit, end in SLOW.values():
        check(PURE[name], fuzz.repeated(begin, unit, end, LONGEST))


@pytest.mark.parametrize("kind", SLOW)
@pytest.mark.parametrize(
    "name",
    [
        *("recall by it", "recall of it", "recall of it by it", "start of a session", "prompt"),
        *("failed command", "how", "fix", "blame", "timeline", "forgetting"),
    ],
)
def test_a_store_answers_in_time_whatever_is_stored_or_asked(
    through_store: dict[str, TextPath], name: str, kind: str
) -> None:
    check(through_store[name], fuzz.repeated(*SLOW[kind], LONGEST))


@pytest.mark.parametrize("kind", SLOW)
def test_very_long_turns_are_stored_and_found_in_time(
    through_store: dict[str, TextPath], kind: str
) -> None:
    for name in ("recall of it", "recall of it by it", "start of a session", "prompt"):
        check(through_store[name], fuzz.repeated(*SLOW[kind], LONGEST_TURN))
