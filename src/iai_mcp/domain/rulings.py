"""What people rule: how things are to be done, and which ruling a later one replaces.

A ruling is one sentence of a person: "always use tabs", "we don't gitignore that folder", "no need
to deprecate it", "end all function names with '_x'". Rulings are compared only with rulings: what a
sentence is about is what remains of it without the words that every ruling is made of.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from iai_mcp.domain import ruling_words as said
from iai_mcp.domain.history_language import in_another_script
from iai_mcp.domain.nearness import terms
from iai_mcp.domain.passages import passages
from iai_mcp.domain.plain_values import LANGUAGE, known
from iai_mcp.domain.ruling_words import about, stem
from iai_mcp.domain.standing import standing_wish
from iai_mcp.domain.words import count

# A ruling is spoken: a prompt longer than this was pasted, and its "must" is a document's.
LONGEST_PROMPT = 1500
_LONGEST = 300
_A_PAGE = 3  # blank lines
_PARAGRAPH = re.compile(r"\n[ \t]*\n")
_PASTED_BELOW = re.compile(r":[ \t]*\n")
_QUOTED = (">", "+", "|", "```", "---", "$ ")
_NOD = re.compile(r"^(?:\w+(?: \w+)?[.!] )+(?=\w+ \w+)")  # "Great. Exactly!"
_FEWEST_WORDS = 2
_MOST_OF_ONE = 8
_NO_RULE = (said.ASKED, said.EXPLAINS, said.PICKS, said.SUPPOSES)

# Of the words of two orders, where no thing is in only one of them; more where both name none.
_SHARED, _SHARED_WITHOUT_A_THING = 0.5, 0.75


@dataclass(frozen=True, slots=True)
class Order:
    """What a ruling says of one value: "function names end" with "_x"."""

    subject: frozenset[str]
    value: str  # "" where it names none
    adds: bool  # one more beside others: a decorator, an import
    kind: str = ""  # of a few known values, what they are of: "language"
    plain: bool = False  # named without quotes
    where: frozenset[str] = frozenset()  # in or for what, of its subject

    @property
    def matter(self) -> frozenset[str]:
        """The things it is about: an order about one more or one less is about something else."""
        return self.subject & (said.THINGS | said.PLACES)


@dataclass(frozen=True, slots=True)
class Ruling:
    """One sentence of a person that says how things are to be done."""

    sentence: str
    standing: bool  # in words that mean it for good
    wish: bool  # in words that nobody uses for anything else: "always", "I prefer"
    passing: bool  # in words that may be meant for this once
    subject: frozenset[str]
    orders: tuple[Order, ...]
    used: frozenset[str]
    denied: frozenset[str]
    against: bool
    change: bool
    in_part: bool = False  # it holds but for something, or only for something

    @property
    def things(self) -> frozenset[str]:
        return self.subject & said.THINGS

    @property
    def weight(self) -> int:
        """How much there is to follow: a value, else something to do, else a wish."""
        return 2 if any(order.value for order in self.orders) else 1 if self.orders else 0

    @property
    def firm(self) -> bool:
        """Whether it is a rule of the work and no talk about it: it says what to do with what."""
        known = self.things or in_another_script(self.sentence)  # of which no things are known
        chosen = self.used and self.denied and self.things  # "use ruff, not flake8, for linting"
        return self.standing and bool(self.orders or (self.wish and known) or chosen)


def rulings(text: str) -> list[Ruling]:
    """The rulings of what a person said, in the order said; none in what was pasted."""
    found: list[Ruling] = []
    before = ""
    for sentence in _sentences(text):
        one = ruling(sentence, before)
        if one is not None:
            found.append(one)
        before = sentence
    return found[:_MOST_OF_ONE]


def rules(text: str) -> bool:
    """Whether there is any: told without looking at what they are about."""
    return any(_tone(sentence) is not None for sentence in _sentences(text))


def _sentences(text: str) -> Iterator[str]:
    if len(text) <= LONGEST_PROMPT:
        for passage in passages(spoken(text), limit=60):
            yield _NOD.sub("", passage)


def asks(text: str) -> bool:
    """Whether a prompt asks for something, and so tells nothing without its answer."""
    return said.ASKED.search(text.strip()) is not None


def spoken(text: str) -> str:
    """What a person typed of a prompt: not what was pasted behind a colon, quoted, or is a page."""
    if len(_PARAGRAPH.findall(text)) >= _A_PAGE:
        return ""
    typed = _PASTED_BELOW.split(text, maxsplit=1)[0]
    return "\n".join(line for line in typed.splitlines() if not line.lstrip().startswith(_QUOTED))


def ruling(sentence: str, before: str = "") -> Ruling | None:
    """The ruling that a sentence is, or None. `before` is what "them" and "it" may stand for."""
    tone = _tone(sentence)
    if tone is None:
        return None
    orders = tuple(_orders(sentence, before))
    return Ruling(
        sentence,
        tone.standing or (tone.as_we_do and any(order.value for order in orders)),
        tone.wish,
        tone.passing,
        about(sentence),
        orders,
        _named(said.USED, sentence),
        _named(said.DENIED, sentence) | _denied(sentence),
        bool(said.AGAINST.search(sentence)),
        bool(said.CHANGED.search(sentence) or said.CHANGED.search(before)),
        bool(said.IN_PART.search(sentence)),
    )


class _Tone(NamedTuple):
    """In which words a sentence rules."""

    wish: bool
    standing: bool
    passing: bool
    as_we_do: bool


def _tone(sentence: str) -> _Tone | None:
    if len(sentence) > _LONGEST or count(sentence) < _FEWEST_WORDS:
        return None
    if any(pattern.search(sentence) for pattern in _NO_RULE):
        return None
    wish = bool(said.FOR_GOOD.search(sentence) or standing_wish(sentence))
    as_we_do = bool(said.AS_WE_DO.search(sentence))
    passing = as_we_do or _has(said.PASSES_WITH, said.PASSING, sentence)
    standing = wish or _is_standing(sentence) or _settles(sentence)
    return _Tone(wish, standing, passing, as_we_do) if standing or passing else None


def replaced(old: Order, new: Order) -> bool:
    """Whether a later order puts another value in the place of an earlier one's."""
    if not old.value or not new.value or old.value == new.value or old.adds or new.adds:
        return False
    if old.kind != new.kind or (new.plain and new.where - old.subject):
        return False  # another place for values, or only a part of what the old one is about
    shared, either = old.subject & new.subject, old.subject | new.subject
    alike = _SHARED if old.matter else _SHARED_WITHOUT_A_THING
    return old.matter == new.matter and len(shared) > 1 and len(shared) >= alike * len(either)


def _orders(sentence: str, before: str) -> Iterator[Order]:
    """What a sentence rules clause by clause; what a clause leaves out stands in those before it."""
    topic, places = frozenset[str](), frozenset[str]()
    for clause in clauses(sentence):
        subject, found = about(clause), list(said.VALUE.finditer(clause))
        things, its = subject & said.THINGS, said.ITS.search(clause)
        if said.TOPIC.search(clause) and not found:
            topic = subject
            continue
        if not things or (topic & said.THINGS and its):
            subject = (subject - things) | topic
        if not subject & said.THINGS:
            subject |= about(before) & said.THINGS
        does = said.DOES.search(clause) or said.IS_TO.search(clause)
        if things and not does:
            subject |= places  # "start classes with 'A' and methods with 'b'"
        ordered = [match for match in found if not _is_denied(clause, match)]
        for match in ordered:
            kind, value = known(_bare(match))
            about_it = subject | {f"~{kind}"} if kind else subject
            plain = bool(kind) or _is_affix(match)
            adds = _is_added(clause, match) or bool(said.BESIDE.search(clause))
            yield Order(about_it, value, adds, kind, plain, said.where(clause))
        if not ordered and does and (things or (its and subject & said.THINGS)):
            yield Order(subject, "", adds=True)
        topic = (things - said.SAID_OF_THEM) or topic
        places = subject & said.PLACES


def _is_denied(clause: str, value: re.Match[str]) -> bool:
    """Whether the value is one that is not to be used: "not m_", "never end them with '_x'"."""
    before = clause[: value.start()]
    return bool(said.GIVEN_UP.search(before) or said.FORBIDS.search(before))


def _denied(sentence: str) -> frozenset[str]:
    return frozenset(
        known(_bare(match))[1]
        for clause in clauses(sentence)
        for match in said.VALUE.finditer(clause)
        if _is_denied(clause, match)
    )


def _is_affix(value: re.Match[str]) -> bool:
    return value[0].startswith("_") or value[0].endswith("_")


def _settles(sentence: str) -> bool:
    """Whether it says which of a few known values is to be used, and not for this once."""
    found = [
        (known(_bare(match))[0] or ("affix" if _is_affix(match) else ""), _is_denied(clause, match))
        for clause in clauses(sentence)
        for match in said.VALUE.finditer(clause)
    ]
    kinds = {kind for kind, denied in found if kind and not denied}
    if not kinds or said.THIS_ONCE.search(sentence):
        return False
    if any(denied and kind in kinds for kind, denied in found) or said.HAS_TO_BE.search(sentence):
        return True
    return kinds != {LANGUAGE} and bool(said.BIDS.match(sentence))


def _is_added(clause: str, value: re.Match[str]) -> bool:
    """Whether the value is one more of its kind: "the '@timer' decorator", "import 'os'"."""
    kind = re.match(r"\s+(\w+)", clause[value.end() :])
    return bool(said.ADDS.search(clause)) or bool(kind and stem(kind[1].lower()) in said.THINGS)


def clauses(sentence: str) -> list[str]:
    """The parts of a sentence that rule by themselves."""
    at, found = 0, []
    sentence = said.EXAMPLE.sub("", sentence)
    for part in said.CLAUSE.finditer(sentence):
        found.append(sentence[at : part.start()])
        at = part.end()
    return [*found, sentence[at:]]


def _is_standing(sentence: str) -> bool:
    if _has(said.STANDS_WITH, said.STANDING, sentence):
        return True
    if said.CHOOSES.match(sentence):
        return said.THIS_ONCE.search(sentence) is None
    patterns = (said.FOR_ALL, said.FRONTED, said.USED_ALL_OVER)
    return any(pattern.match(sentence) for pattern in patterns)


def _has(words: Sequence[str], pattern: re.Pattern[str], sentence: str) -> bool:
    lowered = sentence.lower()
    return any(word in lowered for word in words) and pattern.search(sentence) is not None


def _named(by: re.Pattern[str], sentence: str) -> frozenset[str]:
    found = (match[1].lower().rstrip(".,") for match in by.finditer(sentence))
    return frozenset(known(word)[1] for word in found if terms(word) or "_" in word)


def _bare(match: re.Match[str]) -> str:
    found: str = next(filter(None, match.groups()))
    return found.strip(".,;: ").lower()
