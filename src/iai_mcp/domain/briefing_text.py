"""A briefing as text: facts, within a budget of tokens, with the sources of each."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from iai_mcp.domain.briefing import Point
from iai_mcp.domain.memories import Memory
from iai_mcp.domain.quoting import in_line, quotation
from iai_mcp.domain.recap import Ended, beginning, gist, narrates, unsaid
from iai_mcp.domain.relevance import read_prompt
from iai_mcp.domain.shown_text import shortened

# Hosts move more than 10,000 characters out of the context; marks and a heading come on top.
LONGEST_TEXT = 9_000
_LISTED = 0.75  # of the room at most, while there is something to quote
# Whoever has no tokenizer of the host takes bytes for them: the budget holds in that measure, too.
_BYTES_PER_TOKEN = 4
_QUOTED_FROM = 60
_EACH_SESSION = 6  # exchanges: the one before the latest session has its say too
# Characters of a conclusion, and of the one that ended last; a prompt is told whole or by its start.
_ROOM, _ROOM_OF_THE_LAST = 400, 600
_LEAST_ROOM = 160  # where no more is left
_WHOLE_PROMPT, _START_OF_A_PROMPT = 240, 120
_PLAN, _OF_A_PLAN = 1500, 420
_CHORE = 120
_FEWEST_LETTERS = 12
_LONGEST_NAME = 90
_NO_BRACKETS = str.maketrans("[]", "()")

CountTokens = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Section:
    """Points under one heading: `share` of the room while others want theirs, more where some is left."""

    title: str
    points: Sequence[Point]
    share: float
    verbatim: bool = False  # one sentence of a person each: in quotes, and its day does not matter

    def without(self, quoted: str) -> "Section":
        """The section for a text that quotes these sentences anyway."""
        if not self.verbatim:
            return self
        return replace(self, points=[one for one in self.points if in_line(one.text) not in quoted])


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
    bytes_left: int
    count: CountTokens
    lines: list[str] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    tokens: int = 0

    def fits(self, text: str, ceiling: int) -> bool:
        if len(text) >= self.letters_left or _size(text) >= self.bytes_left:
            return False
        return self.tokens + self.count(text) <= min(ceiling, self.budget)

    def add(self, text: str, sources: Sequence[Source] = ()) -> None:
        self.lines.append(text)
        self.tokens += self.count(text)
        self.letters_left -= len(text) + 1
        self.bytes_left -= _size(text) + 1
        self.sources += sources


def compose(
    heading: str,
    sections: Sequence[Section],
    told: Sequence[Ended],
    budget: int,
    count: CountTokens,
) -> Briefing:
    """How the latest exchanges ended, newest first, in words that were said; then what holds."""
    head = _Page(budget, LONGEST_TEXT, _BYTES_PER_TOKEN * budget, count)
    heading = in_line(heading)
    if heading and head.fits(heading, budget):
        head.add(heading)
    budget -= head.tokens
    most = _LISTED if told else 1.0
    room = _Page(
        int(budget * most), int(head.letters_left * most), int(head.bytes_left * most), count
    )
    reserved = _listed(sections, room, shared=bool(told))
    quotes = _beside(head, reserved, budget)
    _quote(quotes, told)
    # What is quoted needs no mention, and what the quotes leave is for those that hold more.
    quoted = in_line(" ".join(quotes.lines))
    left = _beside(head, quotes, budget)
    listed = _listed([one.without(quoted) for one in sections], left, shared=False)
    pages = (head, quotes, listed)
    if not any(page.sources for page in pages):
        return Briefing()
    return Briefing(
        "\n".join(line for page in pages for line in page.lines),
        sum(page.tokens for page in pages),
        tuple(source for page in pages for source in page.sources),
    )


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


def of_a_member(memory: Memory) -> str:
    """Who of a circle said it, where it was not somebody here."""
    member = memory.provenance.member
    return f" ({shortened(member, _LONGEST_NAME)})" if member else ""


def _day(memory: Memory) -> str:
    return memory.at.text[:10]


def _beside(head: _Page, other: _Page, budget: int) -> _Page:
    """A page in what the head and another one leave."""
    return _Page(
        budget - other.tokens,
        head.letters_left - sum(len(line) + 1 for line in other.lines),
        head.bytes_left - sum(_size(line) + 1 for line in other.lines),
        head.count,
    )


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _listed(sections: Sequence[Section], page: _Page, *, shared: bool) -> _Page:
    """The sections one after the other; each within its share of the room, or in what is left."""
    whole, letters = page.budget, page.letters_left
    later = sum(one.share for one in sections if one.points)
    for section in sections:
        if not section.points:
            continue
        later -= section.share
        share = section.share if shared else max(section.share, 1.0 - later)
        _list(page, section, page.tokens + int(whole * share), int(letters * share))
    return page


def _list(page: _Page, section: Section, ceiling: int, letters: int) -> None:
    title = f"{section.title}:"
    listed = 0
    for point in section.points:
        told = f"“{point.text}”" if section.verbatim else f"{_day(point.memory)}: {point.text}"
        about = f" (refusing: {point.about})" if point.about else ""
        line = in_line(f"- {told}{of_a_member(point.memory)}{about}")
        whole = line if listed else f"{title}\n{line}"
        if len(whole) > letters or not page.fits(whole, ceiling):
            continue
        page.add(whole, [Source(point.memory.id, point.why)])
        letters -= len(whole) + 1
        listed += 1


def _quote(page: _Page, told: Sequence[Ended]) -> None:
    title = "How the latest work here ended, newest first:"
    shown: set[str] = set()
    sessions: Counter[str] = Counter()
    for one in told[:_QUOTED_FROM]:
        session = one.memory.provenance.session_id
        if session and sessions[session] == _EACH_SESSION:
            continue
        lead = "" if page.lines else f"{title}\n"
        for room in (_ROOM if page.lines else _ROOM_OF_THE_LAST, _LEAST_ROOM):
            known = set(shown)
            made = _told(one, known, room)
            if made is not None and page.fits(lead + made[0], page.budget):
                page.add(lead + made[0], made[1])
                sessions[session] += 1
                shown = known
                break


def _told(one: Ended, shown: set[str], room: int) -> tuple[str, list[Source]] | None:
    """How it ended and, behind it, what was asked; None where that says nothing new."""
    parts: list[str] = []
    sources: list[Source] = []
    if one.conclusion is not None and (text := _ending(one.conclusion.text, room, shown)):
        parts.append(f"{heading_of(one.conclusion)}\n{quotation(text)}")
        sources.append(Source(one.conclusion.id, "how it ended"))
    worth_asking = one.prompt is not None and read_prompt(one.prompt.text).worth_asking
    if one.conclusion is not None and len(one.conclusion.text) <= _CHORE and not worth_asking:
        return None  # "commit it": "Committed."
    tells = one.prompt is not None and (parts or worth_asking)
    if one.prompt is not None and tells and (text := _prompt(one.prompt.text, shown)):
        asked = (
            f"  asked: “{in_line(text)}”" if "\n" not in text else f"  asked:\n{quotation(text)}"
        )
        parts.append(asked if parts else f"{heading_of(one.prompt)}\n{quotation(text)}")
        sources.append(Source(one.prompt.id, "what was asked"))
    return ("\n".join(parts), sources) if parts else None


def _ending(text: str, room: int, shown: set[str]) -> str:
    whole = text.strip()
    if len(whole) > room or narrates(whole):
        return " … ".join(gist(whole, room, shown))
    return _once(unsaid(whole, shown), shown)


def _prompt(text: str, shown: set[str]) -> str:
    whole = text.strip()
    if len(whole) > _WHOLE_PROMPT:
        start = whole[:_START_OF_A_PROMPT].rstrip()
        whole = (beginning(whole, _OF_A_PLAN) if len(whole) > _PLAN else "") or start
        whole += " […]"
    return _once(unsaid(whole, shown), shown)


def _once(text: str, shown: set[str]) -> str:
    """The text, or nothing: a copy of what was shown, or a nod."""
    bare = "".join(letter for letter in text.lower() if letter.isalnum())
    nod = len(bare) < _FEWEST_LETTERS and not any(letter.isdigit() for letter in bare)
    mark = f"={bare}"  # beside the sentences that `unsaid` and `gist` keep there
    if mark in shown or (nod and bare.isascii()):
        return ""
    shown.add(mark)
    return text
