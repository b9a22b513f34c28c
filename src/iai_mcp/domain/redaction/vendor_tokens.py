"""Well-known tokens, known by their own letters wherever they stand."""

import re
from collections.abc import Iterator
from functools import cache

from iai_mcp.domain.pieces import bounds, matches
from iai_mcp.domain.redaction.keyword_scan import Span, tree
from iai_mcp.domain.redaction.values import filler, random_letters
from iai_mcp.domain.redaction.vendor_formats import COMMON, PREFIXED, SHAPED, SHORTEST

_RULES = [(kind, prefix, rest) for kind, prefixes, rest in PREFIXED for prefix in prefixes]
# What ends in a letter, digit or dash and still is no part of a word: a colour of the terminal, a
# percent-encoded quote, an escape of JSON, an entity of HTML.
_EDGE = re.compile(
    r"(?:(?:\x1b|\\x1b|\\e|\\033|\\u001b)?\[[0-9;:]{0,16}[A-Za-z]"
    r"|%[0-9A-Fa-f]{2}|\\[nrtbfv0]|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|&#?\w{2,6};)\Z"
)
_LONGEST_EDGE = 28
_WORD_LETTER = re.compile("[A-Za-z0-9_-]")
_ANYWHERE = re.compile("")
_LONGEST_CLUE = 512  # longer than any prefix and any shape that has none
# So many letters of base64 in a row are an image or a digest, and so is what goes on from there.
_BLOB = re.compile(r"[A-Za-z0-9+/]{24}\Z")


def find(text: str) -> Iterator[Span]:
    """Every token that has a well-known shape."""
    prefixes: dict[str, None] = {}
    shapes: set[str] = set()
    for long_words in _long_words(text):
        prefixes |= dict.fromkeys([match[0] for match in _any_prefix().finditer(long_words)])
        shapes |= {
            shape
            for _, needle, shape in SHAPED
            if needle in long_words and _compiled(shape).search(long_words)
        }
    # In their order, so that of two kinds that overlap always the same one is named.
    for seen in prefixes:
        for kind, prefix, expression in _rules_for(seen):
            for match in matches(expression, text):
                body = match[0][len(prefix) :]
                if not filler(body) and _may_begin(text, match.start(), prefix, body):
                    yield *match.span(), kind
    for kind, _, shape in SHAPED:
        if shape in shapes:
            for match in matches(_compiled(shape), text):
                yield *match.span(), kind


def _long_words(text: str) -> Iterator[str]:
    """The long words of each piece: only these can hold one, and they are few.

    What is cut by the end of a piece is whole in the next one.
    """
    for start, end in bounds(text, _ANYWHERE):
        words = text[max(0, start - _LONGEST_CLUE) : end].split()
        if long := [word for word in words if len(word) >= SHORTEST]:
            yield " ".join(long)


def _may_begin(text: str, start: int, prefix: str, body: str) -> bool:
    """Whether a token may begin here: apart from any word, or else too odd to be a part of it."""
    if _is_apart(text, start):
        return prefix not in COMMON or not (body.isalpha() and body.islower())
    if prefix in COMMON:
        return not prefix.isalnum() and random_letters(body)
    return not (prefix.isalnum() and _BLOB.search(text, max(0, start - 24), start))


def _is_apart(text: str, start: int) -> bool:
    if start == 0 or not _WORD_LETTER.match(text, start - 1):
        return True
    return _EDGE.search(text, max(0, start - _LONGEST_EDGE), start) is not None


@cache
def _rules_for(seen: str) -> list[tuple[str, str, re.Pattern[str]]]:
    """(kind, prefix, expression) of the tokens that may begin with `seen`, the most special first."""
    return [
        (kind, prefix, re.compile(re.escape(prefix) + rest))
        for kind, prefix, rest in sorted(_RULES, key=lambda rule: -len(rule[1]))
        if seen.startswith(prefix)
    ]


@cache
def _any_prefix() -> re.Pattern[str]:
    return re.compile(tree({prefix for _, prefix, _ in _RULES}))


@cache
def _compiled(shape: str) -> re.Pattern[str]:
    return re.compile(shape)
