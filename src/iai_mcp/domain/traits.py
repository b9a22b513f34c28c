"""What ranking wants to know about a turn without reading it again."""

import json
from dataclasses import dataclass
from enum import IntEnum
from itertools import islice

from iai_mcp.domain.answer_kinds import READ_WORDS, Kinds, held_by
from iai_mcp.domain.exchanges import said_within, turning
from iai_mcp.domain.memories import SUMMARY
from iai_mcp.domain.passages import passages
from iai_mcp.domain.rulings import rules
from iai_mcp.domain.standing import Standing, StandingWish, may_state_a_wish, standing_wish
from iai_mcp.domain.words import indexed_pieces, words

# Raised when any of the fields below, or what goes into the word index, is made differently:
# stores then bring their rows up to date in the background.
TRAITS_VERSION = 7

_QUESTION_MARKS = ("?", "？", "؟")
# More wishes in one turn than this are a document, not a conversation.
_MOST_WISHES = 8
# A wish is spoken, not pasted: reading all of a ten-megabyte log for one would hold everybody up.
_READ_FOR_WISHES = 50_000  # characters


class Fact(IntEnum):
    """The yes-or-no facts of a turn. Stores keep them as a number: a value never changes its meaning."""

    ASKS = 1
    INSTRUCTION = 2
    PREFERENCE = 4
    SPOKEN = 8  # by a person, not by an assistant
    TIME = 16  # it says when
    NAME = 32  # it names something
    CHANGE = 64  # it says that something is otherwise than before
    TURNING = 128  # it proposes something, or is a short answer
    RULES = 256  # a person says how things are to be done
    WITHIN = 512  # a person says it while the work on their prompt goes on


WISH = Fact.INSTRUCTION | Fact.PREFERENCE  # one that goes on being wished

_STANDING = {Standing.INSTRUCTION: Fact.INSTRUCTION, Standing.PREFERENCE: Fact.PREFERENCE}


@dataclass(frozen=True, slots=True)
class Traits:
    """`index` is the text as the index takes it; `length` counts words as the index does."""

    index: str
    length: int
    asks: bool
    standing: Standing | None
    holds: Kinds
    spoken: bool  # by a person
    turning: bool  # see `domain.exchanges.turning`
    rules: bool  # how things are to be done
    within: bool = False  # see `domain.exchanges.said_within`

    @property
    def facts(self) -> int:
        """All of the yes-or-no in one number."""
        return (
            self.asks * Fact.ASKS
            + (_STANDING[self.standing] if self.standing else 0)
            + self.spoken * Fact.SPOKEN
            + self.holds.time * Fact.TIME
            + self.holds.name * Fact.NAME
            + self.holds.change * Fact.CHANGE
            + self.turning * Fact.TURNING
            + self.rules * Fact.RULES
            + self.within * Fact.WITHIN
        )


def traits_of(text: str, role: str, meta: str = "") -> Traits:
    """`meta` as stores keep it: JSON, or nothing."""
    wishes = standing_wishes(text, role)
    kinds = {wish.kind for wish in wishes}
    standing = Standing.INSTRUCTION if Standing.INSTRUCTION in kinds else None
    index: list[str] = []
    said: list[str] = []  # the first words
    length = 0
    for piece in indexed_pieces(text):
        index.append(piece)
        found = words(piece)
        length += len(found)
        if len(said) < READ_WORDS:
            said += found
    # Most long texts go into the index as they are: one copy less.
    as_it_is = text.isascii() and sum(map(len, index)) == len(text)
    return Traits(
        index=text if as_it_is else "".join(index),
        length=length,
        asks=text.rstrip().endswith(_QUESTION_MARKS),
        standing=standing or (Standing.PREFERENCE if kinds else None),
        holds=held_by(text, said),
        spoken=role not in ("assistant", SUMMARY),
        turning=turning(text, role),
        rules=role == "user" and rules(text),
        within=bool(meta) and said_within(role, json.loads(meta)),
    )


def standing_wishes(text: str, role: str) -> list[StandingWish]:
    """What the turn asks for once and for all; an assistant asks for nothing."""
    read = text[:_READ_FOR_WISHES]
    if role == "assistant" or not may_state_a_wish(read):
        return []
    found = (standing_wish(passage) for passage in passages(read))
    return list(islice((wish for wish in found if wish is not None), _MOST_WISHES))
