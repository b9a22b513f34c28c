"""The embedder that answers: an ONNX graph on onnxruntime, one text at a time."""

import mmap
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from iai_mcp.adapters.allocator import LARGE, give_back
from iai_mcp.adapters.embedding import location
from iai_mcp.adapters.embedding.location import ModelFiles
from iai_mcp.adapters.embedding.pieces import NAMES, Pieces
from iai_mcp.adapters.embedding.session import REFUSALS, map_words, open_session
from iai_mcp.adapters.embedding.tokens import Tokens
from iai_mcp.domain.errors import ModelDamaged
from iai_mcp.ports.embedder import Matrix

# Another processor rounds a little differently; damaged numbers give a cosine near zero.
_SAME = 0.98
_NO_LENGTH = 1e-12
# Work of this many tokens leaves megabytes behind in the allocator: give them back after it.
_MUCH = 1024
# Characters. The rest of a longer text is taken to be like its beginning: counting megabytes takes
# seconds, and all that is asked is whether they fit into a budget.
_COUNTED = 200_000
# The system maps sixteen pages of the words' file for each that is touched. After this many tokens
# they are let go of, or a large vocabulary would be held whole before long (65 MB).
_TOUCHED = 64


def load_configured() -> "OnnxEmbedder":
    """The embedder that the environment of this moment names.

    Raises:
        NotInstalled: there is none; the message says how to get it.
        InvalidInput: `IAI_MCP_EMBED_MODEL` names something that is no model.
        ModelDamaged: one is there and does not work; the message says what to do.
    """
    return OnnxEmbedder(location.find())


class OnnxEmbedder:
    """`Embedder` on onnxruntime. A vector depends on its text alone, never on its neighbours."""

    def __init__(self, place: ModelFiles) -> None:
        """
        Raises:
            ModelDamaged: the files are there, but do not work together.
        """
        self._place = place
        self._words = map_words(place)
        self._session = open_session(place, self._words)
        self._tokens = _tokens(place)
        self._model_id = place.model_id()
        self._touched = 0
        self._dimensions = self._try_out()
        self.release()

    @property
    def model_id(self) -> str:
        return self._model_id

    @property
    def dimensions(self) -> int:
        return self._dimensions

    def embed(self, texts: Sequence[str]) -> Matrix:
        vectors = np.empty((len(texts), self._dimensions), dtype=np.float32)
        tokens = 0
        for row, text in zip(vectors, texts, strict=True):
            ids = self._tokens.ids(self._place.manifest.prefix + text)
            row[:] = self._pooled(ids)
            tokens += len(ids)
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), _NO_LENGTH)
        if tokens >= _MUCH or sum(map(len, texts)) >= LARGE:
            self.release()
        self._touched += tokens
        if self._touched >= _TOUCHED:
            self._let_go_of_words()
        return vectors

    def count_tokens(self, text: str) -> int:
        counted = self._tokens.count(text[:_COUNTED])
        return counted if len(text) <= _COUNTED else counted * len(text) // _COUNTED

    def release(self) -> None:
        """Give back memory that is held only in case it is needed again."""
        self._let_go_of_words()
        give_back()

    def _let_go_of_words(self) -> None:
        self._touched = 0
        if self._words is not None:
            # Pages of the file: gone from this process, still in the system's cache.
            self._words.madvise(mmap.MADV_DONTNEED)

    def _pooled(self, ids: list[int]) -> NDArray[np.float32]:
        session = self._session
        feed = {name: _input(name, ids, kind) for name, kind in session.inputs.items()}
        (output,) = session.run([session.output], feed)
        value = np.asarray(output[0], dtype=np.float32)
        if session.pooling == "mean":
            value = value.mean(axis=0, dtype=np.float32)
        elif session.pooling == "cls":
            value = value[0]
        return value

    def _try_out(self) -> int:
        """Embed once, compare with the vector the model was built to give; its dimensions."""
        probe = self._place.manifest.probe
        try:
            vector = self._pooled(self._tokens.ids(probe.text if probe else "hello"))
        except REFUSALS as error:
            raise self._damaged("does not run") from error
        length = np.linalg.norm(vector)
        if vector.ndim != 1 or not 0 < length < np.inf:
            raise self._damaged("does not give one vector for a text")
        vector = np.asarray(vector / length, dtype=np.float32)
        if probe and not _cosine(vector, probe.vector) >= _SAME:
            raise self._damaged("does not give the vectors it was built for")
        return len(vector)

    def _damaged(self, what: str) -> ModelDamaged:
        return ModelDamaged(f"the model {self._place.graph} {what}; {self._place.remedy()}")


def _tokens(place: ModelFiles) -> Tokens | Pieces:
    unigram = NAMES in place.manifest.files
    return (Pieces if unigram else Tokens)(place.tokenizer, place.max_tokens)


def _input(name: str, ids: list[int], kind: type[np.generic]) -> NDArray[np.generic]:
    """One text, so nothing is masked and all of it is the first sentence."""
    if name == "input_ids":
        return np.array([ids], dtype=kind)
    if name == "attention_mask":
        return np.ones((1, len(ids)), dtype=kind)
    if name == "position_ids":
        return np.arange(len(ids)).astype(kind)[None]
    return np.zeros((1, len(ids)), dtype=kind)


def _cosine(vector: NDArray[np.float32], expected: tuple[float, ...]) -> float:
    if len(vector) != len(expected):
        return 0.0
    return float(vector @ np.array(expected, dtype=np.float32))
