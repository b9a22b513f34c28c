"""Whatever is pasted, reading it takes as long as it is long: while it is read, nobody else is answered."""

import time
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from iai_mcp.domain.briefing import _CORRECTED
from iai_mcp.domain.cue.analysis import read
from iai_mcp.domain.recap import gist, narrates
from iai_mcp.domain.repeats import wording
from iai_mcp.domain.rulings import ruling, rulings

PASTED = ["a", "0a1f", ".", "@", "a.", "a_", "_", "the ", "\n", " \n", "- ", "! ", "=", "a/"]
BIDDING = [
    "you to ",
    "for a, ",
    "rule is ",
    "to emphasize ",
    "we always ",
    "start adding ",
    "'a' and ",
]


def seconds(read_it: Callable[[str], object], text: str) -> float:
    began = time.thread_time()
    read_it(text)
    return time.thread_time() - began


@pytest.mark.parametrize("unit", PASTED)
@pytest.mark.parametrize(
    "reading",
    [lambda text: read(text, now=datetime(2026, 5, 1, tzinfo=UTC)), wording, _CORRECTED.search],
    ids=["a cue", "for repeats", "for corrections"],
)
def test_a_long_run_of_the_same_is_read_at_once(
    reading: Callable[[str], object], unit: str
) -> None:
    text = "x" + (unit * 10_000)[:10_000] + "y"
    assert seconds(reading, text) < 0.4


@pytest.mark.parametrize("unit", [*PASTED, *BIDDING])
@pytest.mark.parametrize(
    "reading",
    [
        lambda text: rulings(text[:1500]),
        lambda text: ruling(text[:300], text[:300]),
        lambda text: gist(text, 400, set()),
        narrates,
    ],
    ids=["for rulings", "as one ruling", "for its gist", "for narration"],
)
def test_what_a_session_is_told_is_read_at_once(
    reading: Callable[[str], object], unit: str
) -> None:
    text = "x" + (unit * 10_000)[:10_000] + "y"
    assert seconds(reading, text) < 0.4
