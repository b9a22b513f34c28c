"""Loads the embedding model and its vectors once, in the background. Until then, words alone find memories."""

import logging
import threading
from collections.abc import Callable, Sequence

from iai_mcp.domain.errors import IaiError
from iai_mcp.domain.injected_text import estimated_tokens
from iai_mcp.engine.vectors import Vectors
from iai_mcp.engine.word_meanings import WordMeanings
from iai_mcp.memory.recall import MeaningLeg
from iai_mcp.ports.embedder import Embedder
from iai_mcp.ports.memories import Memories
from iai_mcp.ports.vectors import VectorLog
from iai_mcp.ports.word_vectors import WordVectorLog

_log = logging.getLogger(__name__)

LOADING = "meaning: the model is still loading; answered by words"
_READING = "meaning: the vectors are still loading; answered by words"
# After a change of the model, or when one was installed late. A few are embedded in no time.
_BEHIND = "meaning: most memories have no vector of this model yet, and are found by their words"
_WORTH_A_WORD = 100


class LazyEmbedder:
    """Loads an embedder in a thread of its own and says, at any time, what can be had."""

    def __init__(self, load: Callable[[], Embedder], ready: Callable[[Embedder], None]) -> None:
        self._load = load
        self._ready = ready
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._done = threading.Event()
        self._embedder: Embedder | None = None
        self._problem = ""

    def start(self) -> None:
        """Begin loading; calling it again changes nothing."""
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="load-model", daemon=True)
                self._thread.start()

    @property
    def settled(self) -> bool:
        """Whether loading has ended, one way or the other."""
        return self._done.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait until loading has ended; whether it has."""
        self.start()
        return self._done.wait(seconds)

    def get(self) -> Embedder | str:
        """The embedder, or why there is none."""
        if self._embedder is not None:
            return self._embedder
        return self._problem or LOADING

    def _run(self) -> None:
        try:
            embedder = self._load()
            self._ready(embedder)
            self._embedder = embedder
        except IaiError as absent:
            self._problem = f"meaning: {absent.message}"
        except Exception:  # noqa: BLE001 - supervision: a model that can not load must not take recall down
            _log.exception("model_load_failed")
            self._problem = "meaning: the model could not be loaded; run: iai-mcp model install"
        finally:
            self._done.set()


class Model:
    """The model and the vectors that it made, as far as they are loaded."""

    def __init__(
        self,
        load: Callable[[], Embedder],
        kept: Callable[[Embedder], VectorLog],
        memories: Memories,
        words: Callable[[Embedder], WordVectorLog],
    ) -> None:
        self.embedder = LazyEmbedder(load, self._loaded)
        self.vectors: Vectors | None = None
        self.behind = False  # whether many memories have no vector of the model yet
        self.ready: Callable[[], None] = lambda: None  # called when there is one to work with
        self._kept = kept
        self._memories = memories
        self._words = words
        self._coming: Vectors | None = None

    def leg(self) -> MeaningLeg | str:
        """What recall asks, or why there is none."""
        embedder, vectors = self.embedder.get(), self.vectors
        if isinstance(embedder, str):
            return embedder
        if vectors is None:
            return _READING
        return MeaningLeg(embedder, vectors, _BEHIND if self.behind else "")

    def space(self) -> str:
        """What nearness is measured by."""
        embedder = self.embedder.get()
        return "words" if isinstance(embedder, str) else embedder.model_id

    def token_counter(self) -> Callable[[str], int]:
        embedder = self.embedder.get()
        return estimated_tokens if isinstance(embedder, str) else embedder.count_tokens

    def drop(self, keys: Sequence[int]) -> None:
        """Stop finding what was forgotten."""
        # Also in what is still being read: it may have come past them already.
        if self._coming is not None:
            self._coming.drop(keys)

    def arrived(self, behind: int) -> None:
        """Find what came with its vectors behind that key."""
        # Also where all is still being read: that may have come past them already.
        if self._coming is not None:
            self._coming.load_behind(behind)

    def _loaded(self, embedder: Embedder) -> None:
        kept = self._kept(embedder)
        words = WordMeanings(self._words(embedder), embedder.model_id, embedder.dimensions)
        self._coming = vectors = Vectors(kept, embedder.dimensions, words)
        count = self._memories.count()
        vectors.load(count)
        self.behind = count - len(vectors) > max(_WORTH_A_WORD, count / 2)
        self.vectors = vectors
        self.ready()
