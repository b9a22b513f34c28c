"""A person's prompt and all that was said until the next one: the unit of work in a coding session."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from iai_mcp.domain.words import count, is_cjk

# An exchange of more turns than a question and its answer is work, not talk: what is said on the way
# is narration, and only the last of it answers.
TALK = 2

_NARRATION = 40  # words: whoever says more on the way has found something
_PASTE = 500  # words that nobody types
_ANSWER = 12  # words: whoever says more says it himself
_NOTED = ("answers", "rejected")  # in the meta of what is said within an exchange
_READ_OF_THE_END = 800  # characters: what is proposed is proposed at the end
_OFFERS = re.compile(
    r"[?？؟][\s*_`)\"']*(?:\n|$)"
    r"|\b(?:option|approach|variant|alternative)s? (?:[A-D]|\d)\b"
    r"|\b(?:shall i|should i|would you like|do you want|which (?:one|do you|would you)|let me know"
    r"|if you(?:'d| would) (?:like|prefer)|what do you think|say the word)\b"
    r"|方案\s?[A-D一二三四1-4甲乙丙]|要不要|是否需要|需要我",
    re.IGNORECASE,
)
_ACCEPTS = re.compile(
    r"(?:yes|yep|yeah|yup|y|ok|okay|sure|no|nope|neither|both|all|agreed|correct|right|exactly|go"
    r"|go ahead|do (?:it|that|both|so)|please(?: do)?|sounds good|looks good|perfect|great|good"
    r"|i(?:['’]d)? (?:like|prefer|choose|pick|take|want) (?:the )?(?:first|second|third|last|option|approach|variant|number)"
    r"|let'?s|lets|fine|proceed|continue|skip|(?:the )?(?:first|second|third|last)"
    r"|(?:option|approach|variant|number)?\s*#?(?:[a-d](?!-\w)|\d{1,2}(?!\.\d|\s?[\u4e00-\u9fff]))"
    r"|ja|gern|genau|mach|nein|oui|non|d'accord|s[ií]|vale|claro|да|нет|хорошо|давай|نعم|لا)\b"
    r"|好|可以|是的|行|不(?:[用要行]|$)|对|嗯|同意|就这么|方案|继续|没问题|はい|お願い|いいえ|うん",
    re.IGNORECASE,
)


class TurnKind(IntEnum):
    """What a turn is to its exchange."""

    PROMPT = 0  # said by a person
    NARRATION = 1  # said on the way: "Let me look at the tests"
    CONCLUSION = 2  # the assistant's last text before the next prompt or the end
    PROPOSAL = 3  # a conclusion that asks or offers, and is answered shortly
    ANSWER = 4  # what is said to the question or proposal before it: "yes", "Option C"
    PASTE = 5  # a prompt so long that it was pasted
    FINDING = 6  # said on the way, but at length


@dataclass(frozen=True, slots=True)
class ExchangeTurns:
    """The turns of an exchange in the order said, and what each is to it."""

    keys: tuple[int, ...]
    kinds: tuple[TurnKind, ...]


_ANSWERING = (TurnKind.CONCLUSION, TurnKind.PROPOSAL, TurnKind.FINDING)


@dataclass(frozen=True, slots=True)
class RankedExchange:
    """An exchange and what speaks for it. `keys` and `kinds` are of its turns, in the order said."""

    keys: tuple[int, ...]
    kinds: tuple[TurnKind, ...]
    score: float  # on the scale of the exchanges, about 3 to 25: only differences mean something
    cosine: float  # of the cue with the passage nearest to it; 0 without a model
    words: float  # the share of the cue's rarity that it holds, stand-ins counted at their worth
    best: int = 0  # the key of the turn that speaks best for it
    shown: float = 0.0  # the score on the scale of turns, which answers tell
    parts: Mapping[str, float] = field(default_factory=dict)  # that sum up to `shown`

    @property
    def speaker(self) -> int:
        """The key of the turn that stands for it: a prompt or narration does so only where nothing
        was concluded."""
        answering = [
            key for key, kind in zip(self.keys, self.kinds, strict=True) if kind in _ANSWERING
        ]
        return self.best if self.best in answering or not answering else answering[-1]


@dataclass(frozen=True, slots=True)
class StandIn:
    """A word of the store that means about the same as a word of the cue."""

    token: str  # as the index spells it
    worth: float  # between 0 and 1: a share of the word it stands in for


@dataclass(frozen=True, slots=True)
class CueWord:
    """A telling word of the cue."""

    token: str  # as the index spells it: folded and stemmed
    idf: float
    held_by: int  # exchanges that hold the word itself
    stand_ins: tuple[StandIn, ...] = ()


@dataclass(frozen=True, slots=True)
class CueWords:
    """What is known of the cue's words in the store that was asked."""

    words: Sequence[CueWord] = ()

    @property
    def unseen(self) -> float:
        """The share of the cue's rarity that no exchange holds, nor anything that stands in for it.

        Of pairs of characters half stand across two words: only what is unknown beyond that counts.
        """
        total = unknown = 0.0
        for of_pairs in (False, True):
            own = [word for word in self.words if is_cjk(word.token) is of_pairs]
            rarity = sum(word.idf for word in own)
            unheard = sum(word.idf for word in own if not (word.held_by or word.stand_ins))
            total += rarity
            unknown += max(0.0, 2 * unheard - rarity) if of_pairs else unheard
        return unknown / total if total else 0.0


def turning(text: str, role: str) -> bool:
    """Whether an assistant's text ends by proposing something, or a person's is a short answer.

    One fact for both: a proposal is one because the other follows it.
    """
    if role == "assistant":
        return _OFFERS.search(text[-_READ_OF_THE_END:]) is not None
    said = text[:200].strip()
    return len(text) <= 200 and count(said) <= _ANSWER and bool(_ACCEPTS.match(said))


def said_within(role: str, meta: Mapping[str, object]) -> bool:
    """Whether a person said it while the work on their prompt went on: to a question of the host, or in
    refusing a call. The exchange goes on, and what it comes to answers the prompt and this."""
    return role == "user" and any(name in meta for name in _NOTED)


def noted(meta: Mapping[str, object]) -> str:
    """The words that stand in what was noted of a turn: the question it answers, the call it refuses."""
    return "\n".join(said for name in _NOTED if isinstance(said := meta.get(name), str))


def is_answer_to(question: str, role: str, meta: Mapping[str, object]) -> bool:
    """Whether a person answered just this question of the host."""
    asked = meta.get("answers")
    return role == "user" and isinstance(asked, str) and question.strip().startswith(asked.strip())


def kinds(
    by_person: Sequence[bool],
    words: Sequence[int],
    turns: Sequence[bool],
    within: Sequence[bool] = (),
) -> list[TurnKind]:
    """What each of a session's turns is, from who said it, its length, `turning` and `said_within`."""
    told: list[TurnKind] = []
    within = within or [False] * len(by_person)
    last = len(by_person) - 1
    for at, person in enumerate(by_person):
        if person:
            asked = at > 0 and not by_person[at - 1] and turns[at - 1]
            answers = asked and (turns[at] or within[at])
            long = TurnKind.PASTE if words[at] >= _PASTE else TurnKind.PROMPT
            told.append(TurnKind.ANSWER if answers else long)
        elif at < last and (not by_person[at + 1] or within[at + 1]):
            told.append(TurnKind.NARRATION if words[at] < _NARRATION else TurnKind.FINDING)
        else:
            answered = turns[at] and at < last and turns[at + 1]
            told.append(TurnKind.PROPOSAL if answered else TurnKind.CONCLUSION)
    return told
