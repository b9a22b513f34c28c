"""How the latest sessions went: what was asked, and how it ended, in words that were really said.

A conclusion is long: its beginning says what came of it and its end what follows from it, so these
are quoted first and the rest only where there is room. What was shown once is not shown again.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from iai_mcp.domain.exchanges import TurnKind, kinds, said_within, turning
from iai_mcp.domain.memories import Memory
from iai_mcp.domain.narration import on_the_way
from iai_mcp.domain.relevance import read_prompt
from iai_mcp.domain.ruling_words import stem
from iai_mcp.domain.words import count, words

_LOOKED_AT = 20_000  # characters of a conclusion
_NOD = 200  # characters in which somebody repeats what was asked: "Noted, they end with '_x'."
_SHORTEST = 10
_FEWEST_WORDS = 4  # beside names and code: fewer are a list of files
_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_NO_PROSE = re.compile(r"```|---|\||[{}()\[\]]|\$ |//|at |File ")
_HEADING = re.compile(r"#+\s")
_HEADING_THAT_TELLS = 5  # words
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`*\"'(])|(?<=[。！？])")
_LISTED = re.compile(r"[-*•+] |\d+[.)]|\*\*\d")
_NUMBER = re.compile(r"(?:[-*•]|\d+[.)]|\*\*\d+[.)])")
# Said only to lead up to what is said next.
_LEADS_UP = re.compile(
    r"(?:excellent|you['’]re (?:absolutely )?right[.!]?$|(?:good|great) \w+[.!]$"
    r"|here(?:['’]s| is| are)\b.*:$|summary(?: of (?:the )?changes)?:?$|yes[.,!]?$|all (?:done|set)[.!]?$)",
    re.IGNORECASE,
)
_OFFER = re.compile(
    r"(?:would you like|do you want|want me to|shall i|should i|let me know|happy to"
    r"|if you(?:['’]d| would)? (?:like|want|think|prefer))",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"\b(?:todo|to-do|next steps?|remains (?:to|open|unclear)|still (?:to do|open|missing|needs?|have to|need to|fail\w*)"
    r"|remaining (?:work|tasks?|todos?|steps?|issues?|items?|problems?|questions?|failures?)"
    r"|(?:is|are|was|were|has|have|['’]s|n['’]t) (?:\w+ ){0,2}yet|not (?:done|run|tested|implemented|verified)|left (?:to do|for)"
    r"|not yet (?:done|run|tested|implemented|verified|supported|fixed)|follow[- ]?up|open questions?"
    r"|unresolved|blocked (?:on|by)|possible improvement|future (?:consideration|work)|known (?:issue|limitation)"
    r"|would you like me to|want me to|shall i|should i|do you want me to|tomorrow|later we"
    r"|pick (?:it|this) up|nächste schritte|noch offen|prochaines étapes|próximos pasos|осталось"
    r"|следующ\w+ шаг)\b|下一步|次のステップ",
    re.IGNORECASE,
)
# What was done, and what holds only in some case, is not open.
_NOT_OPEN = re.compile(
    r"#|\W*(?:\d+[.)] )?\W*(?:added|changed|fixed|removed|renamed|replaced|updated|created|moved|extracted)\b"
    r"|.*\b(?:if|when|e\.g\.|intentionally)\b.*\b(?:yet|remain\w*)\b",
    re.IGNORECASE,
)
# What most conclusions say.
_ROUTINE = re.compile(
    r"\W*(?:all |both |the )?(?:\w+ )?(?:tests?|lint\w*|build|format\w*|checks?|code)\b.{0,40}?"
    r"(?:pass\w*|clean|succe\w+|✓|✅|ok|linted|ready to commit).{0,24}$",
    re.IGNORECASE,
)
# What a place in a conclusion is worth, from its beginning and from its end; in between, a little.
_FROM_THE_START = (2.0, 1.2, 0.7)
_FROM_THE_END = (1.5, 1.1, 0.7)
_IN_BETWEEN = 0.3
_BETWEEN = " … "
_QUESTION_MARKS = ("?", "？", "؟")
_A_SENTENCE = 30  # letters: "all tests pass" is said again and again
_ONLY_NAMES = 1.0
_LEADS_ON = 0.8


@dataclass(frozen=True, slots=True)
class Ended:
    """What was asked and how it ended; one of both may be missing."""

    conclusion: Memory | None
    prompt: Memory | None
    last_of_session: bool = False

    @property
    def memory(self) -> Memory:
        found = self.conclusion or self.prompt
        if found is None:
            raise ValueError("an exchange of nothing")
        return found

    def without(self, told_otherwise: Collection[int]) -> "Ended | None":
        """The same without a prompt that is told elsewhere or not at all; None if only a nod is left."""
        if self.prompt is None or self.prompt.key not in told_otherwise:
            return self
        if self.conclusion is None or len(self.conclusion.text) <= _NOD:
            return None
        return replace(self, prompt=None)


def endings(memories: Iterable[Memory]) -> list[Ended]:
    """The exchanges among the memories, the one that ended last first; narration is left out."""
    by_session: dict[str, list[Memory]] = {}
    found: list[Ended] = []
    for memory in sorted(memories, key=lambda m: (m.at.micros, m.key)):
        session = memory.provenance.session_id
        if session:
            by_session.setdefault(session, []).append(memory)
        else:
            found.append(Ended(None, memory))
    for turns in by_session.values():
        found += _endings(turns)
    return sorted(found, key=lambda one: (-one.memory.at.micros, -one.memory.key))


def _endings(turns: Sequence[Memory]) -> Iterator[Ended]:
    told = _kinds(turns)
    prompt: Memory | None = None
    offer = ""
    under_way = False
    for place, (turn, kind) in enumerate(zip(turns, told, strict=True)):
        last = place == len(turns) - 1
        if turn.role == "user":
            if not _goes_on(turn, kind, under_way):
                if prompt is not None:
                    yield Ended(None, prompt)
                prompt = turn
            elif prompt is None and offer:
                prompt = replace(turn, text=f"{offer}{_BETWEEN}{turn.text}")
            under_way, offer = False, ""
            if last and prompt is not None:
                yield Ended(None, prompt, last_of_session=True)
        elif kind in (TurnKind.CONCLUSION, TurnKind.PROPOSAL):
            answered = kind is TurnKind.PROPOSAL
            said, offer = _without_offer(turn.text) if answered else (turn.text, "")
            under_way = not last and prompt is not None and interrupted(turn.text)
            if said and not under_way:
                yield Ended(replace(turn, text=said), prompt, last)
                prompt = None


def _goes_on(turn: Memory, kind: TurnKind, under_way: bool) -> bool:
    """Whether a person is still about what they asked for: who answers or refuses something, and who
    breaks in with "too slow" or "go on"."""
    breaks_in = under_way and not read_prompt(turn.text).worth_asking
    return breaks_in or kind is TurnKind.ANSWER or not begins(turn)


def _kinds(turns: Sequence[Memory]) -> list[TurnKind]:
    return kinds(
        [turn.role == "user" for turn in turns],
        [count(turn.text) for turn in turns],
        [turning(turn.text, turn.role) for turn in turns],
        [said_within(turn.role, turn.meta) for turn in turns],
    )


def _without_offer(text: str) -> tuple[str, str]:
    """What an answered proposal says, and what it offers or asks at its end."""
    start = len(text)
    for piece in reversed(pieces(text)):
        place = text.rfind(piece, 0, start)
        if place < 0 or not (_OFFER.match(piece) or piece.endswith(_QUESTION_MARKS)):
            break
        start = place
    return text[:start].rstrip(), " ".join(text[start:].split())


def begins(memory: Memory) -> bool:
    """Whether an exchange begins with it."""
    return memory.role == "user" and not said_within(memory.role, memory.meta)


def exchange_of(memory: Memory, before: Sequence[Memory], after: Sequence[Memory]) -> Ended:
    """What was asked around a turn of a session, and what came of it; an answer to a question of the host
    is what came of it, with the question."""
    question = memory.meta.get("answers")
    answers = memory.role == "user" and isinstance(question, str)
    asked = memory if memory.role == "user" and not answers else None
    if asked is None:
        asked = next((turn for turn in reversed(before) if begins(turn)), None)
    if answers:
        return Ended(replace(memory, text=f"{question}{_BETWEEN}{memory.text}"), asked)
    following = [] if memory.role == "user" else [memory]
    for turn in after:
        if begins(turn):
            break
        if turn.role != "user":
            following.append(turn)
    return Ended(following[-1] if following else None, asked)


def pieces(text: str) -> list[str]:
    """The sentences and lines of a text that tell something, each as it stands there; no code."""
    found: list[str] = []
    for raw in _CODE.sub("\n", text[:_LOOKED_AT]).splitlines():
        line = raw.strip()
        if not line or _NO_PROSE.match(line):
            continue
        if _HEADING.match(line):
            if count(line) >= _HEADING_THAT_TELLS:
                found.append(line)
            continue
        for sentence in _SENTENCE_END.split(line):
            if found and _NUMBER.fullmatch(found[-1]):
                found[-1] = f"{found[-1]} {sentence}"  # "1." is no sentence of its own
            else:
                found.append(sentence)
    return [piece for piece in found if len(piece) >= _SHORTEST and not _in_passing(piece)]


def narrates(text: str) -> bool:
    """Whether some of it was only said on the way."""
    lines = [*_SENTENCE_END.split(text), *text.splitlines()]
    return any(_in_passing(line.strip()) for line in lines)


def interrupted(text: str) -> bool:
    """Whether the last that was said was still on the way: "Let me run the tests:"."""
    last = next((line for line in reversed(text.splitlines()) if line.strip()), "")
    return _in_passing(_SENTENCE_END.split(last.strip())[-1])


def _in_passing(said: str) -> bool:
    return on_the_way(said) or _LEADS_UP.match(said) is not None


def gist(text: str, room: int, shown: set[str]) -> list[str]:
    """As much of a conclusion as `room` characters hold, in its order; `shown` grows by it."""
    told = pieces(text)
    told = [piece for piece in told if not _OFFER.match(piece)] or told
    worth = {
        place: _worth(piece, place, len(told))
        for place, piece in enumerate(told)
        if _bare(piece) not in shown
    }
    kept = _filled(told, worth, room)
    shown.update(map(_bare, kept))
    return kept


def unsaid(text: str, shown: set[str]) -> str:
    """A text as it is, or what is left of it without sentences that were shown; `shown` grows by it."""
    told = [piece for part in text.split(_BETWEEN) for piece in pieces(part)] or [text]
    again = [piece for piece in told if _was_shown(_bare(piece), shown)]
    shown.update(map(_bare, told))
    return _BETWEEN.join(piece for piece in told if piece not in again) if again else text


def _was_shown(bare: str, shown: Collection[str]) -> bool:
    """The same sentence, or one with a few words more or less: "as said: …"."""
    return len(bare) >= _A_SENTENCE and any(
        (bare in one or one in bare) and _A_SENTENCE <= len(one) < 2 * len(bare) < 4 * len(one)
        for one in shown
    )


def beginning(text: str, room: int) -> str:
    """What a plan is about: its title and its first sentences; "" of what has no title."""
    whole = _CODE.sub("\n", text[:_LOOKED_AT])
    titles = [line.strip(" #*") for line in whole.splitlines() if _HEADING.match(line)]
    kept = titles[:1]
    for one in pieces(whole) if titles else ():
        if one.endswith(":") or _HEADING.match(one):
            continue
        if sum(map(len, kept)) + len(one) > room or _LISTED.match(one):
            break
        kept.append(one)
    return _BETWEEN.join(kept) if len(kept) > 1 else ""


def about_that(text: str, terms: Collection[str], room: int) -> str:
    """A text whole, or the pieces of it that hold most of the terms, with marks between."""
    if len(text) <= room:
        return text
    told = pieces(text) or [text]
    stems = {stem(term) for term in terms}
    worth = {
        place: len(stems.intersection(map(stem, words(piece))))
        + _worth(piece, place, len(told)) / 4
        for place, piece in enumerate(told)
    }
    return _BETWEEN.join(_filled(told, worth, room))


def _filled(told: Sequence[str], worth: Mapping[int, float], room: int) -> list[str]:
    """The pieces that are worth most, in their order, as far as the room goes."""
    kept: list[int] = []
    for place in sorted(worth, key=lambda one: -worth[one]):
        if len(told[place]) <= room:
            kept.append(place)
            room -= len(told[place]) + 3
    if not kept and worth:
        best = max(worth, key=lambda one: worth[one])
        return [told[best][:room].rstrip()]
    return [told[place] for place in sorted(kept)]


def left_open(found: Sequence[Ended], limit: int) -> Iterator[tuple[str, Memory]]:
    """What the latest conclusions say remains to be done, or ask and nobody answered."""
    for one in found[:limit]:
        if one.conclusion is None:
            asked = one.prompt is not None and one.prompt.text.rstrip().endswith(_QUESTION_MARKS)
            if one.last_of_session and asked and one.prompt is not None:
                yield one.prompt.text, one.prompt
            continue
        for piece in reversed(pieces(one.conclusion.text)):
            asks = _OFFER.match(piece) or piece.endswith("?")
            # An offer before the last exchange was taken up or passed over.
            is_open = _OPEN.search(piece) and not _NOT_OPEN.match(piece)
            if is_open and (one.last_of_session or not asks):
                yield piece, one.conclusion
                break


def _worth(piece: str, place: int, count: int) -> float:
    start = _FROM_THE_START[place] if place < len(_FROM_THE_START) else _IN_BETWEEN
    back = count - 1 - place
    end = _FROM_THE_END[back] if back < len(_FROM_THE_END) else _IN_BETWEEN
    worth = max(start, end)
    spoken = [word for word in re.sub(r"`[^`]*`", "", piece).split() if word.isalpha()]
    if len(spoken) < _FEWEST_WORDS and piece.isascii():
        worth -= _ONLY_NAMES
    if piece.endswith((":", "?")) or _ROUTINE.match(piece):
        worth -= _LEADS_ON
    return worth


def _bare(piece: str) -> str:
    return "".join(letter for letter in piece.lower() if letter.isalpha())
