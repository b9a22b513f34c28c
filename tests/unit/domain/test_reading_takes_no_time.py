"""Whatever is pasted, reading it takes as long as it is long: while it is read, nobody else is answered."""

import time
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from iai_mcp.domain.cue.analysis import read
from iai_mcp.domain.instants import from_micros
from iai_mcp.domain.memories import Memory
from iai_mcp.domain.repeats import wording
from iai_mcp.domain.rule_register import register
from iai_mcp.domain.ruling_cues import asking_words, asks_for_a_rule
from iai_mcp.domain.rulings import ruling, rulings

PASTED = ["a", "0a1f", ".", "@", "a.", "a_", "_", "the ", "\n", " \n", "- ", "! ", "=", "a/"]
ASKED = [":or ", ":", "or ", "? ", "$", "$a", "error[", "天1111", "1"]
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


@pytest.mark.parametrize("unit", [*PASTED, *ASKED])
@pytest.mark.parametrize(
    "reading",
    [
        lambda text: read(text, now=datetime(2026, 5, 1, tzinfo=UTC), language="zh"),
        asks_for_a_rule,
        asking_words,
        wording,
    ],
    ids=["a cue", "for a rule", "for what asks for one", "for repeats"],
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
    ],
    ids=["for rulings", "as one ruling"],
)
def test_what_a_session_is_told_is_read_at_once(
    reading: Callable[[str], object], unit: str
) -> None:
    text = "x" + (unit * 10_000)[:10_000] + "y"
    assert seconds(reading, text) < 0.4


_GROWN = 4


def ruled_in(*said: str, turns: int) -> float:
    """How long it takes to tell which rules hold after people said these by turns, `{}` being a number."""
    texts = [said[turn % len(said)].replace("{}", str(turn)) for turn in range(turns)]
    memories = [
        Memory(key=key, id=f"m{key}", text=text, role="user", at=from_micros(key))
        for key, text in enumerate(texts)
    ]
    found = [(memory, rulings(memory.text)) for memory in memories]
    assert all(of_one for _, of_one in found)
    return min(seconds(lambda _: register(found), "") for _ in range(3))


@pytest.mark.parametrize(
    "said",
    [
        ("Always prefix class names with m_", "From now on not m_, k_"),
        (
            "Always prefix class names with m_ in area {}",
            "From now on not m_, use k_ for everything number {}",
        ),
        ("Always prefix class names with m_", "From now on use m{}_, not m_, for class names"),
        ("Always prefix class names with m{}_",),
        ("Always prefix class names with m_",),
        (
            "Always squash commits before a merge.",
            "From now on don't squash commits before a merge.",
        ),
    ],
    ids=["given up", "varied", "given up for others", "other values", "the same", "opposites"],
)
def test_four_times_the_rules_take_about_four_times_as_long(said: tuple[str, ...]) -> None:
    few = ruled_in(*said, turns=400)
    many = ruled_in(*said, turns=400 * _GROWN)

    assert many < few * _GROWN * 2.2
