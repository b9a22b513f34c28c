"""Text that a session is given unasked, within a budget of tokens, and the memories it was made of."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

# Hosts move more than 10,000 characters out of the context; marks and a heading come on top.
LONGEST_TEXT = 9_000
# Whoever has no tokenizer of the host takes bytes for them: the budget holds in that measure, too.
_BYTES_PER_TOKEN = 4

CountTokens = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Source:
    """A memory that was used, and why."""

    id: str
    why: str


@dataclass(frozen=True, slots=True)
class InjectedText:
    """What to say; an empty text when there is nothing to say."""

    text: str = ""
    tokens: int = 0
    sources: tuple[Source, ...] = ()


@dataclass(frozen=True, slots=True)
class IndexLine:
    """One line, and the memories it was made of."""

    text: str
    sources: tuple[Source, ...] = ()


@dataclass(slots=True)
class IndexPage:
    """Lines as long as they fit."""

    budget: int
    count: CountTokens
    lines: list[str] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    tokens: int = 0
    _characters: int = 0
    _bytes: int = 0

    def add(self, line: IndexLine) -> bool:
        """Whether the line fitted."""
        tokens, characters = self.count(line.text), len(line.text) + 1
        size = len(line.text.encode("utf-8", "surrogatepass")) + 1
        fits = (
            self.tokens + tokens <= self.budget
            and self._characters + characters <= LONGEST_TEXT
            and self._bytes + size <= _BYTES_PER_TOKEN * self.budget
        )
        if fits:
            self.lines.append(line.text)
            self.sources += line.sources
            self.tokens += tokens
            self._characters += characters
            self._bytes += size
        return fits

    def made(self) -> InjectedText:
        return InjectedText("\n".join(self.lines), self.tokens, tuple(self.sources))


def section(
    heading: str, lines: Sequence[IndexLine], budget: int, count: CountTokens, most: int = 100
) -> IndexPage:
    """The lines under their heading that fit, at most so many; an empty page where none does.

    A line that is too long is passed over: a shorter one may fit.
    """
    page = IndexPage(budget, count)
    if not lines or not page.add(IndexLine(heading)):
        return page
    for line in lines:
        if len(page.lines) > most:
            break
        page.add(line)
    return page if len(page.lines) > 1 else IndexPage(budget, count)


def joined(pages: Sequence[IndexPage]) -> InjectedText:
    """Pages one below the other."""
    return InjectedText(
        "\n".join(line for page in pages for line in page.lines),
        sum(page.tokens for page in pages),
        tuple(source for page in pages for source in page.sources),
    )


def estimated_tokens(text: str) -> int:
    """Where no tokenizer is loaded: a token has about four letters, and rather fewer."""
    return len(text) // 3 + 1
