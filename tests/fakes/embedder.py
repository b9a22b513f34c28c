"""An embedder without a model: a vector is the bag of the text's words, hashed."""

import hashlib
import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_WORD = re.compile(r"\w+")


class FakeEmbedder:
    """`Embedder` whose cosines grow with the words two texts share. The same on every machine."""

    def __init__(self, dimensions: int = 64, model_id: str = "fake-bag-of-words") -> None:
        self._dimensions = dimensions
        self._model_id = model_id

    @property
    def model_id(self) -> str:
        return self._model_id

    @property
    def dimensions(self) -> int:
        return self._dimensions

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.zeros((len(texts), self._dimensions), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in _words(text) or [""]:
                row += self._direction(word)
            row /= np.linalg.norm(row)
        return rows

    def count_tokens(self, text: str) -> int:
        return len(_words(text))

    def _direction(self, word: str) -> NDArray[np.float32]:
        """A fixed random direction: two words are nearly at right angles."""
        seed = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "big")
        return np.random.default_rng(seed).standard_normal(self._dimensions).astype(np.float32)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())
