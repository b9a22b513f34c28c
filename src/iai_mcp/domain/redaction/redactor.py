"""Replaces secrets and private spans in a text by markers.

`[secret:github-token]` names the kind of secret, `[private]` replaces a `<private>…</private>` span.
Redacting twice changes nothing more. The time is proportional to the text.
"""

import json
import re
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from iai_mcp.domain.pieces import matches, pieces
from iai_mcp.domain.redaction import (
    assignments,
    commands,
    formats,
    sentences,
    vendor_tokens,
)
from iai_mcp.domain.redaction.keyword_scan import Keywords, KeywordScanner, Rule, Span
from iai_mcp.domain.redaction.names import NAME_KEYWORDS, is_name_keyword

PRIVATE = "[private]"
_MARKER = re.compile(r"\[secret:[a-z0-9-]{1,40}\]|\[private\]")
_PRIVATE_TAG = re.compile(r"<(/?)private(?:\s[^<>]{0,200})?>")
# Markers can bring neighbours into a new light ("ab" + secret + "cd"); more rounds than this
# were never seen to change anything.
_ROUNDS = 4


@dataclass(frozen=True, slots=True)
class Pattern:
    """A secret of the user's own: what group 1 matches is replaced, or all if there is none."""

    name: str
    expression: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text that may be stored, and how often each kind of thing was taken out of it."""

    text: str
    counts: Mapping[str, int]

    @property
    def nothing_left(self) -> bool:
        """Whether only private spans were there: nothing worth keeping."""
        return "private" in self.counts and not self.text.replace(PRIVATE, "").strip()


def redact(text: str, extra_patterns: Sequence[Pattern] = ()) -> Redacted:
    """`text` without its secrets and private spans."""
    counts: Counter[str] = Counter()
    lowered = _lowered(text)
    if "<private" in lowered:
        text = _without_private(text, lowered, counts)
        lowered = _lowered(text)
    for _ in range(_ROUNDS):
        match = list(_secrets(text, lowered, extra_patterns))
        spans = _beside_markers(text, _merged(match)) if match else []
        if not spans:
            break
        text = _marked(text, spans, counts)
        lowered = _lowered(text)
    return Redacted(text, dict(counts))


def redact_json(text: str, redact_text: Callable[[str], str]) -> str:
    """A JSON text without its secrets, still JSON; the very same text if it holds none."""
    cleaned = redact_text(text)
    if cleaned == text:
        return text
    try:
        json.loads(cleaned)
    except ValueError:  # a secret that took a bracket or quote with it: every string by itself
        return json.dumps(_each_string(json.loads(text), redact_text), ensure_ascii=False)
    return cleaned


def _each_string(value: object, redact_text: Callable[[str], str], name: str = "") -> object:
    if isinstance(value, str):
        return _named_string(name, value, redact_text) if name else redact_text(value)
    if isinstance(value, list):
        return [_each_string(item, redact_text, name) for item in value]
    if isinstance(value, dict):
        return {
            redact_text(key): _each_string(part, redact_text, key) for key, part in value.items()
        }
    return value


def _named_string(name: str, value: str, redact_text: Callable[[str], str]) -> str:
    """`value` as it is redacted next to its name, which may be all that gives it away."""
    try:
        pair = json.loads(redact_text(json.dumps({name: value}, ensure_ascii=False)))
    except ValueError:
        return redact_text(value)
    return next((item for item in pair.values() if isinstance(item, str)), redact_text(value))


def _without_private(text: str, lowered: str, counts: Counter[str]) -> str:
    kept: list[str] = []
    depth = resume = 0
    for tag in matches(_PRIVATE_TAG, lowered):
        if not tag[1]:
            if depth == 0:
                kept += (text[resume : tag.start()], PRIVATE)
                counts["private"] += 1
            depth += 1
        elif depth > 0:
            depth -= 1
            resume = tag.end()
    # A span that nobody closed goes on to the end.
    return "".join(kept) + ("" if depth else text[resume:])


def _secrets(text: str, lowered: str, extra_patterns: Sequence[Pattern]) -> Iterator[Span]:
    """All spans that hold secrets; of two that overlap, the earlier one names the kind."""
    for pattern in extra_patterns:
        yield from _of_user(text, pattern)
    keywords = scanner().scan(lowered)
    yield from _by_rules(formats.PRIVATE_KEYS, text, lowered, keywords)
    yield from vendor_tokens.find(text)
    yield from _by_rules(RULES, text, lowered, keywords)
    yield from commands.in_lines(text)
    yield from commands.in_options(text, lowered)
    yield from sentences.in_other_scripts(text, lowered)
    yield from assignments.find(text, keywords.names)


def _by_rules(rules: Sequence[Rule], text: str, lowered: str, keywords: Keywords) -> Iterator[Span]:
    if keywords.words:
        for needed, search in rules:
            if not keywords.words.isdisjoint(needed):
                yield from search(text, lowered)


# In the order in which the kinds are named where two overlap.
RULES: tuple[Rule, ...] = (
    *formats.MANIFESTS,
    *formats.ADDRESSES,
    *commands.LOGINS,
    *commands.COMMANDS,
    *sentences.SENTENCES,
)


@cache
def scanner() -> KeywordScanner:
    words = (word for needed, _ in (*formats.PRIVATE_KEYS, *RULES) for word in needed)
    return KeywordScanner(words, NAME_KEYWORDS, is_name_keyword)


def _of_user(text: str, pattern: Pattern) -> Iterator[Span]:
    """What a user's pattern finds between the markers, never a part of one."""
    resume = 0
    for gap_end, resume_after in [*(m.span() for m in _MARKER.finditer(text)), (len(text),) * 2]:
        for match in pattern.expression.finditer(text, resume, gap_end):
            start, end = match.span(1 if match.re.groups else 0)
            if end > start:
                yield start, end, pattern.name
        resume = resume_after


def _lowered(text: str) -> str:
    """`text` in lower case, each letter at its old place (only İ would become two)."""
    if text.isascii():
        return text.lower()  # many times as fast, and without a second copy
    return "".join([piece.replace("İ", "i").lower() for piece in pieces(text)])


def _merged(spans: Iterable[Span]) -> list[Span]:
    """Spans in order, those that overlap made one; the kind that was found first stays."""
    merged: list[tuple[int, int, str, int]] = []
    ranked = ((start, end, kind, rank) for rank, (start, end, kind) in enumerate(spans))
    for start, end, kind, rank in sorted(ranked, key=lambda span: (span[0], span[3])):
        if merged and start < merged[-1][1]:
            first, last, named, best = merged.pop()
            merged.append((first, max(last, end), kind if rank < best else named, min(rank, best)))
        else:
            merged.append((start, end, kind, rank))
    return [(start, end, kind) for start, end, kind, _ in merged]


def _beside_markers(text: str, spans: list[Span]) -> list[Span]:
    """The spans that hold no part of a marker; a whole one may go together with what is around it."""
    if "[secret:" not in text and PRIVATE not in text:
        return spans
    markers = [marker.span() for marker in matches(_MARKER, text)]
    return [span for span in spans if not _cuts_any(markers, span[0], span[1])]


def _cuts_any(markers: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    at = max(0, bisect(markers, (start, 0)) - 1)
    while at < len(markers) and markers[at][0] < end:
        first, stop = markers[at]
        if stop > start and not (start <= first and stop <= end and stop - first < end - start):
            return True
        at += 1
    return False


def _marked(text: str, spans: Sequence[Span], counts: Counter[str]) -> str:
    kept: list[str] = []
    at = 0
    for start, end, kind in spans:
        kept += (text[at:start], f"[secret:{kind}]")
        counts[kind] += 1
        at = end
    return "".join(kept) + text[at:]
