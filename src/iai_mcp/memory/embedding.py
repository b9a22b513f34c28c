"""Give vectors to memories that lack them, in pages, off the write path.

Every memory gets one vector first, that of a person's whole short turn or of the first passage of another, so that all
are found by meaning soon; then the rest of their passages follow, and the other's own vector becomes the mean of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np

from iai_mcp.domain.derived import Derived
from iai_mcp.domain.passages import passages
from iai_mcp.domain.traits import standing_wishes
from iai_mcp.engine.vectors import Passages, Vectors
from iai_mcp.ports.embedder import Matrix
from iai_mcp.ports.memories import Memories, Unembedded

_SEVERAL = 2
_PASSAGES_OF_A_PERSON = 12
# An assistant's turns are long and many: fewer, longer passages find nearly as much.
_PASSAGES_OF_AN_ASSISTANT = 8
# Characters of a passage that the model is given. What a long one is about stands at its beginning: with
# 240 as much was found as with all of it, with 200 a little less. A person's turn that is no longer is embedded
# whole: the mean of its sentences is near to more cues than it is about.
_SEEN = 240
# Characters from the beginning of a turn after which a passage counts half of what the first does. What is
# the mean of many is near to many cues, and an answer's beginning says what it is about.
_HALF = 300
# A short turn means little without the one it answers.
_SHORT_TURN = 600  # characters
_CONTEXT = 300
# Passages whose vectors are kept for when they come again, as the last one of a turn does with the answer
# to it: three megabytes.
_PASSAGES_KEPT = 2_048


class Encoder(Protocol):
    """Texts to vectors, as an `Embedder` does."""

    def embed(self, texts: Sequence[str]) -> Matrix: ...


class Left(NamedTuple):
    """How many memories have no vector yet, and how many lack only their passages."""

    first: int
    passages: int


class EmbedBacklog:
    """One page at a time, so that whoever runs it can stop between pages.

    What is left to do stands in the store: a page that fails, or a process that is killed, loses
    nothing but that page. One caller at a time.
    """

    def __init__(self, memories: Memories, encoder: Encoder, vectors: Vectors) -> None:
        self._memories = memories
        self._encoder = encoder
        self._vectors = vectors
        self._lacking: list[int] = []  # no vector yet; the next one last
        self._unfinished: list[int] = []  # one vector, no passages yet; the next one last
        self._looked_to = 0
        self._passages = Derived[Matrix](_PASSAGES_KEPT)

    def __call__(self, page: int = 32) -> int:
        """Give `page` memories a first vector, or else their passages; how many there were."""
        self.look()
        if self._lacking:
            return self._first_vectors(self._lacking[-page:])
        return self._whole(self._unfinished[-page:])

    @property
    def lacking(self) -> int:
        """How many have no vector yet, as far as it has looked."""
        return len(self._lacking)

    @property
    def left(self) -> Left:
        return Left(self.lacking, max(0, self._memories.pending_count() - self.lacking))

    def look(self) -> None:
        """What came in since goes first. When nothing is left, all is looked through again."""
        if not self._lacking and not self._unfinished:
            self._looked_to = 0
        found = self._memories.pending(self._looked_to)
        for key in reversed(found):
            (self._unfinished if key in self._vectors else self._lacking).append(key)
        self._looked_to = max(found, default=self._looked_to)

    def _first_vectors(self, keys: Sequence[int]) -> int:
        plans = [_plan(memory) for memory in self._memories.unembedded(keys[::-1])]
        if plans:
            made = self._made([plan.first for plan in plans])
            rows = np.stack([made[plan.first] for plan in plans])
            more = [plan.key for plan in plans if plan.has_more]
            self._vectors.put([plan.key for plan in plans], rows, unfinished=more)
        del self._lacking[-len(keys) :]
        return len(keys)

    def _whole(self, keys: Sequence[int]) -> int:
        plans = [self._in_context(memory) for memory in self._memories.unembedded(keys[::-1])]
        if plans:
            made = self._made([text for plan in plans for text in plan.further])
            firsts = self._vectors.of([plan.key for plan in plans])
            done = [plan.joined(first, made) for plan, first in zip(plans, firsts, strict=True)]
            turns = np.stack([turn for turn, _ in done])
            self._vectors.put([plan.key for plan in plans], turns, [parts for _, parts in done])
        if keys:
            del self._unfinished[-len(keys) :]
        return len(keys)

    def _in_context(self, memory: Unembedded) -> "_Plan":
        plan = _plan(memory)
        before = self._memories.said_before(memory.key) if plan.short else None
        if before is None:
            return plan
        said = _plan(before)
        if said.whole is not None and before.key in self._vectors and not before.came:
            self._passages.keep(said.first, self._vectors.of([before.key])[0])
        return replace(plan, before=said.last)

    def _made(self, texts: Sequence[str]) -> dict[str, Matrix]:
        """The vector of each text; one that was embedded lately is not embedded again."""
        known = {text: self._passages.known(text) for text in texts}
        new = [text for text, vector in known.items() if vector is None]
        made = {text: vector for text, vector in known.items() if vector is not None}
        for text, row in zip(new, self._encoder.embed(new) if new else (), strict=True):
            made[text] = vector = row.copy()  # else all of them would be kept with one
            self._passages.keep(text, vector)
        return made


@dataclass(frozen=True, slots=True)
class _Plan:
    """What to embed for one memory: its passages, the topics of its wishes, and what it answers."""

    key: int
    length: int
    whole: str | None  # the turn, where that is what it is found by first; None for a long one
    pieces: Sequence[str]  # none of a turn that is one passage
    topics: Sequence[str]
    short: bool
    came: bool  # perhaps with a vector of others, which nobody here has made
    before: str = (
        ""  # the last passage of the turn before; "" where there is none, or none is needed
    )

    @property
    def first(self) -> str:
        """What it is found by first."""
        return self.pieces[0] if self.whole is None else self.whole

    @property
    def last(self) -> str:
        """What the next turn answers."""
        return self.pieces[-1] if self.whole is None else self.whole

    @property
    def has_more(self) -> bool:
        """Whether anything is to follow its first vector."""
        return bool(self.pieces) or bool(self.topics) or self.short

    @property
    def further(self) -> list[str]:
        """What is embedded beside what it is found by first, and that too where it is not known."""
        first = [self.first] if self.came else []
        pieces = [piece for piece in self.pieces if piece != self.first]
        return [*self.topics, *first, *pieces, *([self.before] if self.before else ())]

    def joined(self, first: Matrix, made: Mapping[str, Matrix]) -> tuple[Matrix, Passages]:
        """The turn's own vector and all others."""
        turn = made[self.first] if self.came else first
        own = [turn if piece == self.first else made[piece] for piece in self.pieces]
        if self.whole is None:
            turn = _unit(_weights(self.pieces) @ np.stack(own))
        others = [*(made[topic] for topic in self.topics), *own]
        if self.before:
            last = made[self.before]
            others.append(_unit(self.length * turn + min(_CONTEXT, len(self.before)) * last))
        rows = np.stack(others) if others else np.empty((0, len(turn)), np.float32)
        return turn, Passages(self.key, len(self.topics), bool(self.before), rows)


def _plan(memory: Unembedded) -> _Plan:
    topics: list[str] = []
    for wish in standing_wishes(memory.text, memory.role) if memory.wishes else ():
        topics += dict.fromkeys([wish.topic or wish.sentence, wish.sentence])
    person = memory.role != "assistant"
    limit = _PASSAGES_OF_A_PERSON if person else _PASSAGES_OF_AN_ASSISTANT
    whole, pieces = None, passages(memory.text, limit)
    if len(pieces) < _SEVERAL:
        whole, pieces = memory.text, []
    elif person and len(memory.text) <= _SEEN:
        whole = memory.text  # its sentences are found by themselves too
    short = person and len(memory.text) <= _SHORT_TURN
    pieces = [piece[:_SEEN] for piece in pieces]
    return _Plan(memory.key, len(memory.text), whole, pieces, topics, short, memory.came)


def _weights(pieces: Sequence[str]) -> Matrix:
    """What each passage counts in the turn's own vector: a long one more, but not as many times more as
    it is longer; a late one less.
    """
    lengths = np.array([len(piece) for piece in pieces], np.float32)
    begins = np.cumsum(lengths) - lengths
    return (np.sqrt(lengths) / (1 + begins / _HALF)).astype(np.float32)


def _unit(vector: Matrix) -> Matrix:
    length = np.linalg.norm(vector)
    unit: Matrix = (vector / length if length > 0 else vector).astype(np.float32)
    return unit
