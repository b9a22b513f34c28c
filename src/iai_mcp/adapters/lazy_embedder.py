"""The embedder, loaded once in the background; until then the lexical leg answers alone."""

import logging
import threading
from collections.abc import Callable

from iai_mcp.domain.errors import IaiError
from iai_mcp.ports.embedder import Embedder

_log = logging.getLogger(__name__)

LOADING = "meaning: the model is still loading; answered by words"


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
