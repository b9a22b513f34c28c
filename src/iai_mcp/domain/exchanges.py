"""A person's prompt and all that was said until the next one: the unit of work in a coding session."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum


class TurnKind(IntEnum):
    """What a turn is to its exchange. Numbers, because columns hold them."""

    PROMPT = 0  # said by a person
    NARRATION = 1  # said on the way: "Let me look at the tests"
    CONCLUSION = 2  # the assistant's last text before the next prompt or the end
    PROPOSAL = 3  # a conclusion that asks or offers, and is answered shortly
    ANSWER = 4  # a short prompt that means the proposal before it: "yes", "Option C"
    PASTE = 5  # a prompt so long that it was pasted
    COPY = 6  # the same text stands in an earlier session


@dataclass(frozen=True, slots=True)
class RankedExchange:
    """An exchange and what speaks for it. `keys` and `kinds` are of its turns, in the order said."""

    keys: tuple[int, ...]
    kinds: tuple[TurnKind, ...]
    score: float  # on the scale of the exchanges, about 3 to 25: only differences mean something
    cosine: float  # of the cue with the passage nearest to it; 0 without a model
    words: float  # the share of the cue's rarity that it holds, stand-ins counted at their worth


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
        """The share of the cue's rarity that no exchange holds, nor anything that stands in for it."""
        total = sum(word.idf for word in self.words)
        unknown = sum(word.idf for word in self.words if not (word.held_by or word.stand_ins))
        return unknown / total if total else 0.0
