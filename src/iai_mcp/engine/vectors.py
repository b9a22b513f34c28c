"""The vectors of one model: found by nearness in memory, kept in a log.

Of each memory the turn's own vector is held in memory, and those of its standing wishes' topics. A
turn has up to a dozen passages: held in memory they would weigh more than everything else. They
are read only for the few candidates that a recall looks at closely.
"""

import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from iai_mcp.engine.vector_index import Keys, VectorIndex, quantise
from iai_mcp.ports.embedder import Embedder, Matrix
from iai_mcp.ports.vectors import Coded, CodedParts, VectorLog

_TOPICS_EACH = 16  # topics are kept under key * this + their place
# Under a megabyte: for more than that memory is asked of the system, and emptied by it, at every page.
_PAGE, _PAGE_OF_TOPICS = 2_048, 2_000


@dataclass(frozen=True, slots=True)
class Passages:
    """The other vectors of one memory, in the order that `CodedParts` has."""

    key: int
    topics: int
    context: bool
    vectors: Matrix


class Vectors:
    """Every call is safe from any thread."""

    def __init__(self, log: VectorLog, dimensions: int) -> None:
        self._log = log
        self._dimensions = dimensions
        self._turns = VectorIndex(dimensions)
        self._topics = VectorIndex(dimensions)
        # Held while something comes in, from the log or on its way into it: what is forgotten
        # meanwhile is dropped after it, and stays away.
        self._arriving = threading.Lock()

    def load(self, expected: int = 0) -> None:
        """Read what is held in memory; about how many there are, if it is known."""
        self._turns.make_room(expected)
        self.load_behind(0)

    def load_behind(self, key: int) -> None:
        """Read those of memories behind that key: they came along with them."""
        for load in (self._load_turns, self._load_topics):
            after: int | None = key
            while after is not None:
                after = load(after)

    def put(
        self,
        keys: Sequence[int],
        vectors: Matrix,
        passages: Sequence[Passages] = (),
        unfinished: Collection[int] = (),
    ) -> None:
        """Keep the vectors of these memories; a memory that was forgotten is passed over.

        The `unfinished` stay on the backlog: their passages are to follow.
        """
        codes, scales = quantise(vectors)
        parts = [_coded(one) for one in passages if len(one.vectors)]
        turns = [Coded(key, float(scales[i]), codes[i].tobytes()) for i, key in enumerate(keys)]
        with self._arriving:
            kept = set(self._log.put(turns, parts, set(unfinished)))
            rows = [i for i, key in enumerate(keys) if key in kept]
            self._turns.add([keys[i] for i in rows], codes[rows], scales[rows])
            for one in parts:
                if one.topics and one.key in kept:
                    self._remember(one)

    def nearest(
        self,
        vector: Matrix,
        limit: int,
        within: Sequence[int] | Keys | None = None,
        *,
        alike: int | None = None,
    ) -> list[tuple[int, float]]:
        """Keys and cosines, closest first, among `within` if given; at most `alike` of equals."""
        return self._turns.nearest(vector, limit, within, alike=alike)

    def like(self, key: int, limit: int) -> list[tuple[int, float]]:
        """Keys and cosines of the memories nearest to one of them; none if it has no vector yet."""
        return self._turns.like(key, limit)

    def cosines(self, vector: Matrix, keys: Keys) -> Matrix:
        """The cosine of each of `keys` with a vector, or with each of several (a row each); NaN for one that
        has no vector."""
        return self._turns.cosines(vector, keys)

    def of(self, keys: Sequence[int]) -> Matrix:
        """The vector of each of these memories, as it is kept; zero for one that has none."""
        return self._turns.of(keys)

    def __contains__(self, key: int) -> bool:
        return key in self._turns

    def wishes_about(
        self, vector: Matrix, limit: int, within: Keys | None = None
    ) -> dict[int, float]:
        """Memories whose standing wishes are about the cue, with the best cosine of each."""
        slots = None
        if within is not None:
            slots = (within[:, None] * _TOPICS_EACH + np.arange(_TOPICS_EACH)).reshape(-1)
        best: dict[int, float] = {}
        for slot, cosine in self._topics.nearest(vector, limit, slots):
            best.setdefault(slot // _TOPICS_EACH, cosine)
        return best

    def passages(self, keys: Keys) -> dict[int, Matrix]:
        """The vectors of the passages of each of these memories that has any, in the order of its text."""
        found: dict[int, Matrix] = {}
        for one in self._log.parts(keys.tolist()):
            codes = np.frombuffer(one.codes, np.int8).reshape(-1, self._dimensions)
            scales = np.frombuffer(one.scales, np.float32)
            own = slice(one.topics, len(codes) - one.context)
            if own.stop > own.start:
                found[one.key] = codes[own].astype(np.float32) * scales[own, None]
        return found

    def best_passages(self, vectors: Matrix, keys: Keys) -> Matrix:
        """The cosine of each memory's best passage with each of the vectors (a row each); NaN where a
        memory has none."""
        best = np.full((len(vectors), len(keys)), np.nan, np.float32)
        found = self.passages(keys)
        if not found:
            return best
        cosines = np.concatenate(list(found.values())) @ np.asarray(vectors, np.float32).T
        sizes = [len(own) for own in found.values()]
        starts = np.cumsum([0, *sizes[:-1]])
        places = {key: place for place, key in enumerate(keys.tolist())}
        best[:, [places[key] for key in found]] = np.maximum.reduceat(cosines, starts, axis=0).T
        return best

    def drop(self, keys: Sequence[int]) -> None:
        """Stop finding these memories: nothing of them stays in memory."""
        with self._arriving:
            self._turns.drop(keys)
            self._topics.drop([slot for key in keys for slot in _slots(key)])

    def __len__(self) -> int:
        return len(self._turns)

    def _load_turns(self, after: int) -> int | None:
        """The next page; where the one behind it begins, or None at the end."""
        with self._arriving:
            page = self._log.page(after, _PAGE)
            if not len(page):
                return None
            self._turns.add(page.keys, page.codes, page.scales)
        return int(page.keys[-1])

    def _load_topics(self, after: int) -> int | None:
        with self._arriving:
            page = self._log.with_topics(after, _PAGE_OF_TOPICS)
            for one in page:
                self._remember(one)
        return page[-1].key if page else None

    def _remember(self, one: CodedParts) -> None:
        kept = min(one.topics, _TOPICS_EACH)
        self._topics.add(
            list(_slots(one.key))[:kept],
            np.frombuffer(one.codes, np.int8).reshape(-1, self._dimensions)[:kept],
            np.frombuffer(one.scales, np.float32)[:kept],
        )


@dataclass(frozen=True, slots=True)
class MeaningLeg:
    """The vectors and the model that made them."""

    embedder: Embedder
    vectors: Vectors
    behind: str = ""  # what to say while most memories have no vector of this model yet


def _coded(one: Passages) -> CodedParts:
    codes, scales = quantise(one.vectors)
    return CodedParts(one.key, one.topics, one.context, scales.tobytes(), codes.tobytes())


def _slots(key: int) -> range:
    return range(key * _TOPICS_EACH, (key + 1) * _TOPICS_EACH)
