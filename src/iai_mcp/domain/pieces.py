"""A long text in pieces.

One call that looks at all of a long text keeps the interpreter to itself for as long, and whoever
waits for an answer waits for that; a list of all of its words takes many times its own memory. In
pieces others come in between, and each piece is let go of before the next.
"""

import re
from collections.abc import Callable, Iterator

# Longer than whatever is looked for by `matches`.
REACH = 1 << 15
SIZE = 1 << 16  # characters: a millisecond or two of most of what is done with them
_LONGEST = 1 << 18  # without any place to cut: no word, and cut all the same


def _go_on() -> None:
    """Nobody is answered beside this."""


# What happens between two pieces. Whoever answers others meanwhile puts here how they come first.
breathe: Callable[[], None] = _go_on

# Behind a blank, or a sign that is part of no word and joins nothing: letters that change their form
# at the end of a word look beyond dots and colons, and a mark may belong to the sign before it.
_BETWEEN_WORDS = re.compile(r"\s|[、。，！？；]|[!\"#$%&()*+,/;<=>?@\[\\\]{|}~-](?=[A-Za-z0-9])")


def pieces(text: str, cut: re.Pattern[str] = _BETWEEN_WORDS) -> Iterator[str]:
    """`text` in pieces of about `SIZE` characters, each but the last up to where `cut` matches."""
    return (text[start:end] for start, end in bounds(text, cut))


def bounds(text: str, cut: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """Where such pieces begin and end."""
    start = 0
    while len(text) - start > SIZE:
        most = start + SIZE + _LONGEST
        found = cut.search(text, start + SIZE, most)
        end = min(most, len(text)) if found is None else found.end()
        yield start, end
        breathe()
        start = end
    if start < len(text) or not text:
        yield start, len(text)


def matches(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """What `pattern.finditer(text)` finds. A match may have `REACH` characters at most, and no fewer
    than one, with what the pattern looks at behind it.
    """
    # Most texts are one piece: nothing comes in between.
    return pattern.finditer(text) if len(text) <= 4 * SIZE else _in_pieces(pattern, text)


def _in_pieces(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    at = 0
    while at < len(text):
        stop = last = at + 4 * SIZE
        for match in pattern.finditer(text, at, stop + REACH):
            if match.start() >= stop:
                break
            yield match
            last = max(stop, match.end())
        at = last
        breathe()
