"""A briefing as text: facts, within a budget of tokens, with the sources of each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from iai_mcp.domain.briefing import Point, Sitting, newest
from iai_mcp.domain.memories import Memory
from iai_mcp.domain.quoting import in_line, quotation
from iai_mcp.domain.shown_text import shortened

# Hosts move more than 10,000 characters out of the context; marks and a heading come on top.
LONGEST_TEXT = 9_000
# What is distilled gets half of the room: the other half is for the words themselves.
_DISTILLED = 0.5
_QUOTED_FROM = 40
_OPENING_LENGTH = 160
# A long answer is quoted as far as this much of the room goes; then an older one has its turn.
_LONGEST_QUOTE = 0.35
_LONGEST_NAME = 90
_NO_BRACKETS = str.maketrans("[]", "()")

CountTokens = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Section:
    """Points under one heading; at most `limit` of them."""

    title: str
    points: Sequence[Point]
    limit: int
    pointless_when_quoted: bool = False

    def without(self, quoted: frozenset[str]) -> "Section":
        """The section for a text that quotes these memories in full anyway."""
        if not self.pointless_when_quoted:
            return self
        kept = [point for point in self.points if point.memory.id not in quoted]
        return replace(self, points=kept)


@dataclass(frozen=True, slots=True)
class Source:
    """A memory that was used, and why."""

    id: str
    why: str


@dataclass(frozen=True, slots=True)
class Briefing:
    """What to say; an empty text when there is nothing to say."""

    text: str = ""
    tokens: int = 0
    sources: tuple[Source, ...] = ()


@dataclass(slots=True)
class _Page:
    """Lines as long as they fit."""

    budget: int
    letters_left: int
    count: CountTokens
    lines: list[str] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    tokens: int = 0

    def fits(self, text: str, ceiling: int) -> bool:
        return len(text) < self.letters_left and self.tokens + self.count(text) <= min(
            ceiling, self.budget
        )

    def add(self, text: str, sources: Sequence[Source] = ()) -> None:
        self.lines.append(text)
        self.tokens += self.count(text)
        self.letters_left -= len(text) + 1
        self.sources += sources


def compose(
    heading: str,
    sections: Sequence[Section],
    turns: Sequence[Memory],
    budget: int,
    count: CountTokens,
) -> Briefing:
    """The latest of `turns` word for word, newest first; then what was distilled."""
    head = _Page(budget, LONGEST_TEXT, count)
    heading = in_line(heading)
    if heading and head.fits(heading, budget):
        head.add(heading)
    budget -= head.tokens
    room = int(budget * _DISTILLED) if turns else budget
    letters = int(head.letters_left * _DISTILLED) if turns else head.letters_left
    distilled = _distilled(sections, _Page(room, letters, count), frozenset())
    quotes = _Page(
        budget - distilled.tokens, head.letters_left - letters + distilled.letters_left, count
    )
    _quote(quotes, turns)
    # What is quoted in full needs no mention; the room that this leaves stays free.
    quoted = frozenset(source.id for source in quotes.sources)
    distilled = _distilled(sections, _Page(room, letters, count), quoted)
    pages = (head, quotes, distilled)
    if not any(page.sources for page in pages):
        return Briefing()
    return Briefing(
        "\n".join(line for page in pages for line in page.lines),
        sum(page.tokens for page in pages),
        tuple(source for page in pages for source in page.sources),
    )


def sessions_section(sittings: Sequence[Sitting], limit: int) -> Section:
    """What the latest sessions were about: their first question."""
    points = []
    for sitting in sittings:
        last, opening = sitting.last, sitting.opening
        who = last.provenance.agent_name or last.provenance.host
        words = shortened(opening.text, _OPENING_LENGTH)
        turns = "1 turn" if len(sitting.turns) == 1 else f"{len(sitting.turns)} turns"
        by = f", {who}" if who else ""
        points.append(Point(f"{words} ({turns}{by})", opening, "recent session"))
    return Section("The latest sessions were about", points, limit, pointless_when_quoted=True)


def estimated_tokens(text: str) -> int:
    """Where no tokenizer is loaded: a token has about four letters, and rather fewer."""
    return len(text) // 3 + 1


def heading_of(memory: Memory) -> str:
    """The line of ours that stands above what a memory says: when, and who said it."""
    whence = memory.provenance
    who = memory.speaker or whence.agent_name or memory.role
    if whence.member:
        who = f"{whence.member}, {who}"
    said = shortened(f"{_day(memory)} {who}", _LONGEST_NAME)
    return f"[{in_line(said).translate(_NO_BRACKETS)}]"


def _day(memory: Memory) -> str:
    return memory.at.text[:10]


def _distilled(sections: Sequence[Section], page: _Page, quoted: frozenset[str]) -> _Page:
    filled = [section.without(quoted) for section in sections]
    filled = [section for section in filled if section.points]
    for number, section in enumerate(filled):
        # Each gets its share of what is left, so that the first can not crowd out the last.
        share = (page.budget - page.tokens) // (len(filled) - number)
        _list(page, section, page.tokens + share)
    return page


def _list(page: _Page, section: Section, ceiling: int) -> None:
    title = f"{section.title}:"
    listed = 0
    for point in section.points[: section.limit]:
        line = in_line(f"- {_day(point.memory)}: {point.text}")
        whole = line if listed else f"{title}\n{line}"
        if not page.fits(whole, ceiling):
            continue
        page.add(whole, [Source(point.memory.id, point.why)])
        listed += 1


def _quote(page: _Page, turns: Sequence[Memory]) -> None:
    title = "The latest words here, newest first:"
    quoted = 0
    for turn in newest(turns)[:_QUOTED_FROM]:
        head = f"{heading_of(turn)}\n"
        lead = head if quoted else f"{title}\n{head}"
        # No more of it can fit; a turn may be megabytes long.
        text = quotation(turn.text.strip()[:LONGEST_TEXT])
        if not page.fits(lead + text, page.budget):
            text = _as_far_as_it_fits(page, lead, text)
        if text:
            page.add(lead + text, [Source(turn.id, "latest words")])
            quoted += 1


def _as_far_as_it_fits(page: _Page, lead: str, text: str) -> str:
    """The beginning of a long turn, word for word, marked as cut; "" where it is not worth it."""
    ceiling = page.tokens + int((page.budget - page.tokens) * _LONGEST_QUOTE)
    room = min(len(text), page.letters_left - len(lead) - 8)
    while room > _OPENING_LENGTH:
        part = text[:room].rstrip() + " […]"
        if page.fits(lead + part, ceiling):
            return part
        room = room * 2 // 3
    return ""
