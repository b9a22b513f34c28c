"""One device of a benchmark: methods come in as JSON lines, answers go out."""

import hashlib
import json
import os
import sys
import time
from collections.abc import Callable

import numpy as np

from iai_mcp.adapters.sqlite.vectors import SqliteVectors
from iai_mcp.core import dispatch
from iai_mcp.domain.errors import IaiError
from iai_mcp.engine.vectors import Passages, Vectors
from iai_mcp.store import MemoryStore

_DIMENSIONS = 384
_EMBEDDED_AT_ONCE = 500


def main() -> None:
    _set_clock(float(os.environ.get("BENCH_CLOCK_AHEAD", "0")))
    store = MemoryStore()
    for line in sys.stdin:
        method, params = json.loads(line)
        try:
            done = _OWN[method](store) if method in _OWN else dispatch(store, method, params)
        except IaiError as refused:
            done = {"error": refused.message}
        sys.stdout.write(json.dumps(done) + "\n")
        sys.stdout.flush()
    store.close()


def _set_clock(ahead: float) -> None:
    """A machine whose clock is off, as everything in this process sees it."""
    true, true_ns = time.time, time.time_ns
    time.time = lambda: true() + ahead
    time.time_ns = lambda: true_ns() + int(ahead * 1e9)


def _state(store: MemoryStore) -> dict[str, object]:
    """How many memories there are, and a digest of all that circles compare."""
    digest = hashlib.blake2b()
    sql = "SELECT everywhere, text, pinned FROM memories WHERE derived = 0 ORDER BY everywhere"
    count = 0
    with store.database.reading() as db:
        for row in db.execute(sql):
            digest.update(repr(row).encode())
            count += 1
    return {"count": count, "digest": digest.hexdigest()}


def _effort(store: MemoryStore) -> dict[str, object]:
    """Seconds of processor time so far: what a busy machine does not change; what lacks a vector."""
    return {"seconds": time.process_time(), "pending": store.memories.pending_count()}


def _embed(store: MemoryStore) -> dict[str, object]:
    """As a model would: each turn, one passage of it, and the turn in its context."""
    vectors = Vectors(SqliteVectors(store.database, "bench", _DIMENSIONS), _DIMENSIONS)
    chance = np.random.default_rng(1)
    pending = list(store.memories.pending())
    for start in range(0, len(pending), _EMBEDDED_AT_ONCE):
        keys = pending[start : start + _EMBEDDED_AT_ONCE]
        made = chance.standard_normal((len(keys), 3, _DIMENSIONS)).astype(np.float32)
        made /= np.linalg.norm(made, axis=2, keepdims=True)
        parts = [Passages(key, 0, False, made[at, 1:]) for at, key in enumerate(keys)]
        vectors.put(keys, made[:, 0], parts)
    return {"embedded": len(pending)}


_OWN: dict[str, Callable[[MemoryStore], dict[str, object]]] = {
    "state": _state,
    "effort": _effort,
    "embed": _embed,
}


if __name__ == "__main__":
    main()
