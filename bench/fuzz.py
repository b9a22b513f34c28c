"""No input takes seconds: texts that make parsers slow, against every path that text takes.

A text is a few pieces repeated many times, perhaps with an end that nothing matches: that is what makes
a pattern try again and again. The pieces are the words and signs of the product's own patterns.
Hypothesis looks for the text that takes longest.
"""

import argparse
import re
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from hypothesis import HealthCheck, given, settings, target
from hypothesis import strategies as st

from bench.report import Row, show
from bench.text_paths import TextPath, pure, stored
from iai_mcp.domain.errors import IaiError

METHOD = (
    "Each path reads texts of {size} characters that repeat a few pieces; the processor time of the slowest\n"
    "counts. Pieces come from the patterns of the product itself. Hypothesis searches for the worst."
)
SIZE = 20_000  # characters: what is quadratic takes seconds for them
EXAMPLES = 200
SECONDS_PER_BYTE = 10e-6
_FAR_TOO_LONG = 5.0  # nobody needs to know how much longer it may take
_AT_ONCE = 0.05  # seconds that may pass whatever the length
_WORDS = re.compile(r"[A-Za-z_]{2,12}|[^\w\s]")
_MOST_PIECES = 30  # of one pattern
# What is repeated, and what comes before and after it.
UNITS = (
    *("a", "A", "1", " ", "\n", "\t", "\r\n", "\x00", ".", "-", "_", "#", "*", "`", "/", "\\", '"', "'"),
    *("[", "(", ")", "{", "<", ">", "=", ":", ";", ",", "|", "&", "@", "$", "%", "~", "+", "é", "漢", "🪿"),
    *("a ", "a.", "a-", "a/", "a\n", "a=", "a:", "a[", "1.", "1-", "1 ", " \n", "\n ", "\t\n", " )", "- "),
    *("//", "/a", ".-", "..", '"\\', "a, ", "and ", "or ", "#\n", "1. one\n", "- item\n", "```\n", "|a"),
    *("the heron ", "The Heron. ", "yes, ", "\x1b[", "\x1b[1;31m", "\u200b", "\ud800", "<a>", "&amp;"),
)  # fmt: skip
EDGES = ("", "a", "1", "\x00", '"', "\n")


def texts(size: int = SIZE) -> st.SearchStrategy[str]:
    """Texts of that many characters, of repeated pieces that belong to one pattern."""
    return st.sampled_from(_pieces_by_pattern()).flatmap(lambda found: _repeating(found, size))


def _repeating(pieces: tuple[str, ...], size: int) -> st.SearchStrategy[str]:
    piece, sign = st.sampled_from(pieces), st.sampled_from(UNITS)
    edge = st.sampled_from((*EDGES, *pieces))
    unit = st.lists(piece | sign, min_size=1, max_size=3).map("".join)
    return st.builds(repeated, edge, unit, edge, st.just(size))


def _pieces_by_pattern() -> list[tuple[str, ...]]:
    """The words and signs of each pattern of the product's loaded modules."""
    found = {
        tuple(sorted(set(_WORDS.findall(value.pattern)))[:_MOST_PIECES])
        for name, module in list(sys.modules.items())
        for value in list(vars(module).values())
        if name.startswith("iai_mcp.")
        if isinstance(value, re.Pattern) and isinstance(value.pattern, str)
    }
    return sorted(pieces for pieces in found if pieces)


def plain_texts(size: int = SIZE, *, few: bool = False) -> Iterator[str]:
    """One unit alone, with each edge."""
    edges = [(edge, edge) for edge in EDGES[1:]]
    for unit in UNITS:
        for begin, end in (("a", "\x00"), *(() if few else (*edges, ("", ""), ("", "\x00")))):
            yield repeated(begin, unit, end, size)


def repeated(begin: str, unit: str, end: str, size: int) -> str:
    """A text of that many characters: `unit` again and again, between two edges."""
    return (begin + unit * (size // len(unit) + 1))[: size - len(end)] + end


@dataclass(slots=True)
class Worst:
    """The slowest text that one path met."""

    seconds: float = 0.0
    size: int = 1
    text: str = field(default="", repr=False)

    @property
    def rate(self) -> float:
        """Bytes a second."""
        return self.size / max(self.seconds, 1e-9)


def seconds(path: TextPath, text: str) -> float:
    """The processor time that a path takes for a text. It may refuse it with an error of its own."""
    began = time.thread_time()
    with suppress(IaiError, ValueError):
        path.read(text[: path.longest])
    return time.thread_time() - began


def allowed(path: TextPath, text: str) -> float:
    """The seconds that a path may take for a text."""
    return _AT_ONCE + SECONDS_PER_BYTE * path.times * _bytes(text[: path.longest])


def search(path: TextPath, examples: int, size: int = SIZE) -> Worst:
    """Look for the text that takes the path longest."""
    worst = Worst()

    def meet(text: str) -> float:
        took = seconds(path, text)
        if took > worst.seconds:
            took = min(took, seconds(path, text))  # something else may have slowed it down
        if took > worst.seconds:
            worst.seconds, worst.size, worst.text = took, _bytes(text[: path.longest]), text
        return took

    for text in plain_texts(size, few=path.slow):
        meet(text)
        if worst.seconds > _FAR_TOO_LONG:
            return worst

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(texts(size))
    def read(text: str) -> None:
        if worst.seconds <= _FAR_TOO_LONG:
            target(meet(text))

    read()
    return worst


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench fuzz")
    parser.add_argument("path", nargs="*", help="only paths whose names contain one of these")
    parser.add_argument(
        "--examples", type=int, default=EXAMPLES, help="texts to search with for each path"
    )
    parser.add_argument("--size", type=int, default=SIZE, help="characters of a text")
    asked = parser.parse_args(arguments)
    rows = []
    with stored() as through_store:
        for path in [*pure(), *through_store]:
            if asked.path and not any(part in path.name for part in asked.path):
                continue
            worst = search(path, asked.examples, asked.size)
            rows.append(_row(path, worst))
            print(f"  {rows[-1].what}: {rows[-1].measured}", flush=True)
    return show("fuzz", METHOD.format(size=asked.size), rows)


def _row(path: TextPath, worst: Worst) -> Row:
    met = worst.seconds <= allowed(path, worst.text)
    slowest = f"{worst.rate / 1e6:.2f} MB/s, {worst.seconds:.3f} s"
    example = "" if met else f" for {worst.text[:60]!r}"
    goal = f"{1e-6 / SECONDS_PER_BYTE:.1f} MB/s at least"
    return Row(path.name, slowest + example, goal, met)
