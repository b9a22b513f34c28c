"""What recall and capture need from a sentence embedder."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]


class Embedder(Protocol):
    """Turns text into vectors of one space. Safe to call from several threads at once."""

    @property
    def model_id(self) -> str:
        """Names the vector space: vectors of two different ids are never compared."""
        ...

    @property
    def dimensions(self) -> int:
        """How many numbers one vector has."""
        ...

    def embed(self, texts: Sequence[str]) -> Matrix:
        """One row of length one per text, in the order given: `(len(texts), dimensions)`.

        Text beyond the model's limit is not seen. A blank text has a vector too.
        """
        ...

    def count_tokens(self, text: str) -> int:
        """How many tokens `text` has for this model, uncut and without the model's own marks.

        Of a very long text it may be an estimate.
        """
        ...
