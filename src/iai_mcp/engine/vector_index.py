"""Nearest vectors in memory: int8 codes, exact up to a bound, binary codes before them above it."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iai_mcp.engine import binary_codes
from iai_mcp.engine.arrays import few_of_equal
from iai_mcp.engine.binary_codes import Bits
from iai_mcp.ports.embedder import Matrix

Codes = NDArray[np.int8]
Scales = NDArray[np.float32]
Keys = NDArray[np.int64]
Mask = NDArray[np.bool_]

# Up to here every vector is compared exactly; above it binary codes choose what is rescored.
EXACT_UP_TO = 4_096
# How many binary codes choose: one of fifty (2,000 of 100k hold .997 of the exact top ten), and
# not fewer than this.
_RESCORED, _RESCORED_OF = 600, 50
_RESCORED_LIKE = 512
# Rows turned into floats at once: 800 KB. All of 2,458 at once took three times as long at best, and
# twenty times in the median of a busy machine; from 256 to 1,024 it makes no difference.
_BLOCK = 512


def quantise(vectors: Matrix) -> tuple[Codes, Scales]:
    """Rows as int8 with one scale each; the cosine moves by less than a thousandth."""
    peaks = np.maximum(np.abs(vectors).max(axis=1), 1e-12)
    scales = (peaks / 127.0).astype(np.float32)
    return np.rint(vectors / scales[:, None]).astype(np.int8), scales


@dataclass(frozen=True, slots=True)
class _Snapshot:
    keys: Keys
    codes: Codes
    scales: Scales
    bits: Bits
    alive: Mask
    whole: bool  # whether all of them are alive


class VectorIndex:
    """Append-only rows with tombstones. Readers take a snapshot; they never wait for writers."""

    def __init__(self, dimensions: int) -> None:
        self._lock = threading.Lock()
        self._used = 0
        self._dropped = 0
        # None while keys ascend, as they do when they are read at a start: they are found by bisection,
        # and a million of them in a dictionary weigh a hundred megabytes. The latest are made first.
        self._row_of: dict[int, int] | None = None
        self._dimensions = dimensions
        self._allocate(1024)

    def __len__(self) -> int:
        return self._used - self._dropped

    def __contains__(self, key: int) -> bool:
        with self._lock:
            return self._row(key) is not None

    def make_room(self, count: int) -> None:
        """For so many: who knows how many will come spares copying what is there again and again."""
        with self._lock:
            if count > len(self._keys):
                self._grow(count)

    def add(self, keys: Sequence[int] | Keys, codes: Codes, scales: Scales) -> None:
        """Add rows; a key that is there already is replaced, where it stands."""
        if not len(keys):
            return
        added, bits = np.asarray(keys, dtype=np.int64), binary_codes.signs(codes)
        with self._lock:
            if self._ascends(added):
                self._append(added, codes, scales, bits)
                return
            rows = self._rows_before(added.tolist())
            known = np.array([row is not None for row in rows])
            self._write([row for row in rows if row is not None], known, codes, scales, bits)
            if not known.all():
                new = ~known
                self._append(added[new], codes[new], scales[new], bits[:, new])

    def drop(self, keys: Sequence[int]) -> None:
        """Forget rows: nothing of them stays in memory."""
        with self._lock:
            for key in keys:
                row = self._bury(key)
                if row is not None:
                    self._codes[row] = 0
                    self._bits[:, row] = 0

    def nearest(
        self,
        vector: Matrix,
        limit: int,
        within: Sequence[int] | Keys | None = None,
        *,
        alike: int | None = None,
    ) -> list[tuple[int, float]]:
        """Keys and cosines, closest first; ties in order of arrival, at most `alike` of each."""
        view = self._snapshot()
        among = _among(view, within)
        size = len(view.keys) if among is None else int(np.count_nonzero(among))
        query = np.ascontiguousarray(vector, dtype=np.float32).reshape(-1)
        if size > EXACT_UP_TO:
            rows = _by_bits(view, among, query, max(_RESCORED, size // _RESCORED_OF, 5 * limit))
        else:
            rows = np.arange(size) if among is None else np.flatnonzero(among)
        scores = _scores(view, rows, query)
        best = _top(scores, limit)
        if alike is not None and not few_of_equal(_rounded(scores[best]), alike).all():
            best = np.argsort(-_rounded(scores), kind="stable")
            best = best[few_of_equal(_rounded(scores[best]), alike)][:limit]
        return list(zip(view.keys[rows[best]].tolist(), scores[best].tolist(), strict=True))

    def like(self, key: int, limit: int) -> list[tuple[int, float]]:
        """Keys and cosines of the vectors nearest to that of `key`, itself left out.

        Binary codes choose what is compared at any size: sleep asks this once for every statement.
        """
        with self._lock:
            row = self._row(key)
        if row is None:
            return []
        view = self._snapshot()
        own = view.codes[row].astype(np.float32) * view.scales[row]
        rows = _by_bits(view, _among(view, None), own, _RESCORED_LIKE)
        rows = rows[view.keys[rows] != key]
        scores = _scores(view, rows, own)
        return [(int(view.keys[rows[i]]), float(scores[i])) for i in _top(scores, limit)]

    def cosines(self, vector: Matrix, keys: Keys) -> Matrix:
        """The cosine of each of `keys` with one vector, or with each of several (a row each); NaN for one
        that has no vector."""
        view = self._snapshot()
        rows = self._rows_of(view, keys)
        known = np.flatnonzero(rows >= 0)
        queries = np.atleast_2d(np.asarray(vector, np.float32))
        cosines = np.full((len(queries), len(keys)), np.nan, dtype=np.float32)
        cosines[:, known] = _all_scores(view, rows[known], queries)
        return cosines if np.ndim(vector) > 1 else cosines[0]

    def of(self, keys: Sequence[int]) -> Matrix:
        """The vectors of `keys`; zero for one that has none."""
        view = self._snapshot()
        rows = self._rows_of(view, np.asarray(keys, dtype=np.int64))
        vectors = np.zeros((len(keys), self._dimensions), dtype=np.float32)
        known = np.flatnonzero(rows >= 0)
        vectors[known] = view.codes[rows[known]] * view.scales[rows[known], None]
        return vectors

    def _rows_of(self, view: _Snapshot, keys: Keys) -> NDArray[np.int64]:
        """The row of each key; -1 for one that has none."""
        row_of = self._row_of
        if row_of is not None:
            rows = np.array([row_of.get(key, -1) for key in keys.tolist()], dtype=np.int64)
            return np.where(rows < len(view.keys), rows, -1)
        if not len(view.keys):
            return np.full(len(keys), -1, dtype=np.int64)
        places = np.minimum(np.searchsorted(view.keys, keys), len(view.keys) - 1)
        return np.where((view.keys[places] == keys) & view.alive[places], places, -1)

    def _snapshot(self) -> _Snapshot:
        with self._lock:
            n = self._used
            return _Snapshot(
                self._keys[:n],
                self._codes[:n],
                self._scales[:n],
                self._bits[:, :n],
                self._alive[:n],
                whole=not self._dropped,
            )

    def _ascends(self, added: Keys) -> bool:
        """Whether these keys come behind all others, in order."""
        last = self._keys[self._used - 1] if self._used else -1
        behind = self._row_of is None and added[0] > last
        return bool(behind and (added[1:] > added[:-1]).all())

    def _append(self, added: Keys, codes: Codes, scales: Scales, bits: Bits) -> None:
        start, end = self._used, self._used + len(added)
        if end > len(self._keys):
            # Half again, not double: the copy is rare and the spare room counts as resident memory.
            self._grow(max(end, len(self._keys) * 3 // 2))
        self._keys[start:end] = added
        self._codes[start:end] = codes
        self._scales[start:end] = scales
        self._bits[:, start:end] = bits
        self._alive[start:end] = True
        if self._row_of is not None:
            self._row_of.update(zip(added.tolist(), range(start, end), strict=True))
        self._used = end

    def _write(
        self,
        rows: list[int],
        places: Mask,
        codes: Codes,
        scales: Scales,
        bits: Bits,
    ) -> None:
        """Who reads meanwhile sees the old vector of a row, the new one, or for a moment some of each."""
        self._codes[rows] = codes[places]
        self._scales[rows] = scales[places]
        self._bits[:, rows] = bits[:, places]

    def _rows_before(self, keys: Sequence[int]) -> list[int | None]:
        """The row that each key has already. Where one is new and others came after it, a dictionary is
        made.
        """
        rows = [self._row(key) for key in keys]
        if self._row_of is None and None in rows:
            alive = np.flatnonzero(self._alive[: self._used])
            self._row_of = dict(zip(self._keys[alive].tolist(), alive.tolist(), strict=True))
        return rows

    def _row(self, key: int) -> int | None:
        if self._row_of is not None:
            return self._row_of.get(key)
        row = int(np.searchsorted(self._keys[: self._used], key))
        found = row < self._used and self._keys[row] == key and self._alive[row]
        return row if found else None

    def _bury(self, key: int) -> int | None:
        row = self._row(key)
        if self._row_of is not None:
            self._row_of.pop(key, None)
        if row is not None:
            self._alive[row] = False
            self._dropped += 1
        return row

    def _allocate(self, capacity: int) -> None:
        self._keys: Keys = np.zeros(capacity, dtype=np.int64)
        self._codes: Codes = np.zeros((capacity, self._dimensions), dtype=np.int8)
        self._scales: Scales = np.zeros(capacity, dtype=np.float32)
        self._bits: Bits = np.zeros(
            (binary_codes.words_of(self._dimensions), capacity), dtype=np.uint64
        )
        self._alive: Mask = np.zeros(capacity, dtype=np.bool_)

    def _columns(self) -> tuple[NDArray[Any], ...]:
        """Each with the rows first."""
        return self._keys, self._codes, self._scales, self._bits.T, self._alive

    def _grow(self, capacity: int) -> None:
        old = self._columns()
        self._allocate(capacity)
        for before, after in zip(old, self._columns(), strict=True):
            after[: self._used] = before[: self._used]


def _among(view: _Snapshot, within: Sequence[int] | Keys | None) -> Mask | None:
    """Which rows are looked at; None for all."""
    if within is None:
        return None if view.whole else view.alive
    found: Mask = np.isin(view.keys, np.asarray(within, dtype=np.int64))
    return found & view.alive


def _by_bits(view: _Snapshot, among: Mask | None, query: Matrix, keep: int) -> NDArray[np.int64]:
    """The rows whose binary codes are nearest: few enough to be compared exactly."""
    return binary_codes.nearest(view.bits, binary_codes.signs(query[None])[:, 0], keep, among)


def _scores(view: _Snapshot, rows: NDArray[np.int64], query: Matrix) -> Matrix:
    scores = np.empty(rows.size, dtype=np.float32)
    everything = rows.size == len(view.keys) and bool((rows[1:] > rows[:-1]).all())
    for start in range(0, rows.size, _BLOCK):
        end = min(start + _BLOCK, rows.size)
        part = slice(start, end) if everything else rows[start:end]
        scores[start:end] = (view.codes[part].astype(np.float32) @ query) * view.scales[part]
    return scores


def _all_scores(view: _Snapshot, rows: NDArray[np.int64], queries: Matrix) -> Matrix:
    """The same for several queries at once, a row each: rows are turned into floats once."""
    scores = np.empty((len(queries), rows.size), dtype=np.float32)
    for start in range(0, rows.size, _BLOCK):
        part = rows[start : start + _BLOCK]
        cosines = view.codes[part].astype(np.float32) @ queries.T
        scores[:, start : start + len(part)] = (cosines * view.scales[part, None]).T
    return scores


def _rounded(scores: Matrix) -> Matrix:
    """Equal vectors may differ in the last bits of their cosine."""
    rounded: Matrix = np.round(scores, 5)
    return rounded


def _top(scores: Matrix, limit: int) -> NDArray[np.int64]:
    if limit < scores.size:
        # A stable cut: everything above the limit-th score, ties filled in order of arrival.
        threshold = np.partition(scores, scores.size - limit)[scores.size - limit]
        chosen = np.flatnonzero(scores >= threshold)
    else:
        chosen = np.arange(scores.size)
    return chosen[np.argsort(-scores[chosen], kind="stable")][:limit]
