"""Whatever is pasted, reading it takes as long as it is long: while it is read, nobody else is answered."""

import time
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from iai_mcp.domain.repeats import wording
from iai_mcp.recall.passages import spans
from iai_mcp.recall.query import parse_query
from iai_mcp.recall.resolve import repeats

PASTED = ["a", "0a1f", ".", "@", "a.", "a_", "_", "the ", "\n", " \n", "- ", "! ", "=", "a/"]
ASKED = [":or ", ":", "or ", "? ", "$", "$a", "error[", "天1111", "1", "**a", "# "]


def seconds(read_it: Callable[[str], object], text: str) -> float:
    began = time.thread_time()
    read_it(text)
    return time.thread_time() - began


@pytest.mark.parametrize("unit", [*PASTED, *ASKED])
@pytest.mark.parametrize(
    "reading",
    [
        lambda text: parse_query(text, now=datetime(2026, 5, 1, tzinfo=UTC), language="zh"),
        lambda text: parse_query("a", [text], now=datetime(2026, 5, 1, tzinfo=UTC)),
        wording,
        spans,
        lambda text: repeats(text, text),
    ],
    ids=["a cue", "a wording", "for repeats", "in passages", "beside another"],
)
def test_a_long_run_of_the_same_is_read_at_once(
    reading: Callable[[str], object], unit: str
) -> None:
    text = "x" + (unit * 10_000)[:10_000] + "y"
    assert seconds(reading, text) < 0.4
