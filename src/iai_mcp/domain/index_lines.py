"""An exchange in one line: `"request…" → first sentence of the conclusion`.

The words are verbatim; only Markdown marks and line breaks go. What others wrote can not end the
line, begin another, or pass for a mark of ours or of a host.
"""

import re
from collections.abc import Iterator

from iai_mcp.domain.quoting import in_line
from iai_mcp.domain.shown_text import shortened
from iai_mcp.domain.words import count

WIDTH = 130  # characters of the request and the conclusion together
_REQUEST_SHARE = 0.45  # of the width, while the conclusion needs the rest
_READ = 4_000  # characters: a conclusion says first what it came to
_FEWEST_TO_GO_ON = 2  # "1." is the number of a line
_FEWEST_WORDS = 4  # "Done!" and "Good news." conclude nothing
_SHORT = 50  # characters: "All tests pass." leaves room for what was changed

_FENCE = ("```", "~~~")
_HEADING = re.compile(r"#{1,6}\s")
_RULE = re.compile(r"[-=_*\s]{3,}$")
# What a line of Markdown begins with: headings, bullets, numbers, quotes, boxes to tick.
_LINE_MARKS = re.compile(r"(?:(?:#{1,6}|>|[-*+•]|\d{1,3}[.)]|\[[ xX]\])\s+)+")
_NEW_PARAGRAPH = re.compile(r"(?:#{1,6}|>|[-*+•]|\d{1,3}[.)])\s")
_BOLD = re.compile(r"\*\*(?=\S)([^\n]{1,300}?)\*\*")
_LINK = re.compile(r"!?\[([^\]\[\n]{1,200})\]\((?:[^()\s]{1,400})\)")
_SENTENCE_END = re.compile(r"(?:(?<=[.!?…])|(?<=[.!?…][\"'’”)*\]]))\s+(?=\S)|(?<=[。！？])(?=.)")
_INTRODUCES = (":", "：")


def exchange_words(request: str, conclusion: str, width: int = WIDTH) -> str:
    """`"request…" → conclusion`, or the one that there is; about `width` characters."""
    asked, came_to = plain(request), first_sentence(conclusion)
    if not came_to:
        return f'"{in_line(shortened(asked, width))}"'
    if not asked:
        return in_line(shortened(came_to, width))
    room = max(int(width * _REQUEST_SHARE), width - len(came_to))
    asked = shortened(asked, room)
    return f'"{in_line(asked)}" → {in_line(shortened(came_to, width - len(asked)))}'


def first_sentence(text: str) -> str:
    """The first sentence that says something: no heading, no "Done!", no "Here is what changed:".

    A short one brings the next with it. Of a text without such a sentence: its first paragraph.
    """
    paragraphs = _paragraphs(text[:_READ])
    told = ""
    for sentence in _sentences(paragraphs):
        if sentence.endswith(_INTRODUCES) or (not told and count(sentence) < _FEWEST_WORDS):
            continue
        if count(sentence) < _FEWEST_TO_GO_ON:
            continue
        told = f"{told} {sentence}".lstrip()
        if len(told) >= _SHORT:
            break
    return told or next((paragraph for _, paragraph in paragraphs), "")


def _sentences(paragraphs: list[tuple[bool, str]]) -> Iterator[str]:
    for is_heading, paragraph in paragraphs:
        if not is_heading:
            yield from _SENTENCE_END.split(paragraph)


def plain(text: str) -> str:
    """The beginning of a text on one line, without Markdown marks."""
    return " ".join(paragraph for _, paragraph in _paragraphs(text[:_READ]))


def _paragraphs(text: str) -> list[tuple[bool, str]]:
    """(whether it is a heading, its words on one line) of each; without code, tables and rules."""
    kept: list[tuple[bool, list[str]]] = []
    goes_on = in_code = False
    for raw in text.splitlines():
        line = raw.strip()
        is_fence = line.startswith(_FENCE)
        in_code = in_code != is_fence
        if in_code or is_fence or not line or line.startswith("|") or _RULE.match(line):
            goes_on = False
            continue
        is_heading = _HEADING.match(line) is not None
        if not goes_on or _NEW_PARAGRAPH.match(line):
            kept.append((is_heading, []))
        kept[-1][1].append(_without_marks(line))
        goes_on = not is_heading
    return [(is_heading, told) for is_heading, lines in kept if (told := " ".join(lines).strip())]


def _without_marks(line: str) -> str:
    marks = _LINE_MARKS.match(line)
    words = line[marks.end() :] if marks else line
    return _LINK.sub(r"\1", _BOLD.sub(r"\1", words)).strip()
