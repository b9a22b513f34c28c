"""What the store's words mean, so that one can stand in for another: `obsolete` for `outdated`.

Only numbers and vectors are held in memory; the words themselves stay where they are kept.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from iai_mcp.domain.derived import Derived
from iai_mcp.domain.ranking.weights import bar_of, usual
from iai_mcp.engine.vector_index import VectorIndex, quantise
from iai_mcp.ports.embedder import Embedder, Matrix
from iai_mcp.ports.vectors import Coded
from iai_mcp.ports.word_vectors import WordVectorLog

_OFTEN = 3  # a word said less often is a name or a slip
_MOST = 16_384  # words: their vectors weigh seven megabytes
_NEAR, _NEIGHBOURS = 0.5, 24  # the least cosine of a pair that is kept, and how many of a new word
_LOOKED_AT = 8  # of them, for one word of a cue
_ASKED = 256  # words of cues whose vectors are kept: who asks once asks again in the same words
_PAGE = 5_000


class WordMeanings:
    """The words of one model's space. Every call is safe from any thread."""

    def __init__(self, log: WordVectorLog, model: str, dimensions: int) -> None:
        self._log = log
        self._model = model
        self._index = VectorIndex(dimensions)
        self._asked = Derived[Matrix](_ASKED)

    def load(self) -> None:
        after = 0
        while page := self._log.page(after, _PAGE):
            after = page[-1].key
            codes = np.frombuffer(b"".join([row.code for row in page]), np.int8)
            scales = np.array([row.scale for row in page], np.float32)
            self._index.add([row.key for row in page], codes.reshape(len(page), -1), scales)

    def learn(self, embedder: Embedder, memories: int) -> int:
        """Embed the new words of the next memories; how many memories there were at most."""
        found = self._log.unread(memories, _OFTEN)
        if found.read_to is None or len(self._index) >= _MOST:
            return 0
        if found.words:
            self._keep(found.words, embedder.embed(list(found.words.values())), found.read_to)
        else:
            self._log.put({}, found.read_to)
        return memories

    def meant(self, terms: Sequence[str], embedder: Embedder) -> dict[str, Matrix]:
        """What those of a cue's terms mean that are not kept, by their token; none while no word is."""

        def embedded(word: str) -> Matrix:
            made: Matrix = embedder.embed([word])[0]
            return made

        missing = self._log.missing(terms) if len(self._index) else {}
        return {token: self._asked.of(word, embedded) for token, word in missing.items()}

    def near(
        self, tokens: Sequence[str], given: Mapping[str, Matrix], least: float
    ) -> dict[str, list[tuple[str, float]]]:
        """The words nearest to each token, nearest first, with cosines as the default model has them.

        `given` are the vectors of tokens that the store does not hold.
        """
        if not len(self._index):
            return {}
        bar = bar_of(self._model, least)
        found: dict[str, list[tuple[str, float]]] = {}
        for token, other, cosine in self._log.pairs(tokens, bar):
            found.setdefault(token, []).append((other, cosine))
        for token, vector in given.items():
            close = [one for one in self._index.nearest(vector, _LOOKED_AT) if one[1] >= bar]
            words = self._log.spelled([number for number, _ in close])
            found[token] = [(words[number], cos) for number, cos in close if number in words]
        return {
            token: [(other, usual(self._model, cosine)) for other, cosine in each[:_LOOKED_AT]]
            for token, each in found.items()
        }

    def __len__(self) -> int:
        return len(self._index)

    def _keep(self, words: Mapping[str, str], vectors: Matrix, read_to: int) -> None:
        codes, scales = quantise(vectors)
        coded = {
            token: Coded(0, float(scales[place]), codes[place].tobytes())
            for place, token in enumerate(words)
        }
        kept = self._log.put(coded, read_to)
        places = [place for place, token in enumerate(words) if token in kept]
        numbers = [kept[token] for token in words if token in kept]
        self._index.add(numbers, codes[places], scales[places])
        self._log.pair(self._neighbours(numbers, vectors[places]))

    def _neighbours(self, numbers: Sequence[int], vectors: Matrix) -> list[tuple[int, int, float]]:
        return [
            (number, other, cosine)
            for number, vector in zip(numbers, vectors, strict=True)
            for other, cosine in self._index.nearest(vector, _NEIGHBOURS)
            if cosine >= _NEAR and other != number
        ]
