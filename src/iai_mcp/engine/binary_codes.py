"""The signs of vectors, one bit each: which of a million might be near is found in milliseconds."""

import numpy as np
from numpy.typing import NDArray

from iai_mcp.ports.embedder import Matrix

Bits = NDArray[np.uint64]  # 64 signs to a word, word by word: that is how they are compared
Rows = NDArray[np.int64]
Mask = NDArray[np.bool_]

# Rows compared at once: what they need in between stays in the processor's cache. For all rows at
# once it would be asked of the system, and emptied by it, at every search.
_BLOCK = 1 << 15
_SUMMED = 3  # words whose differing bits are counted in one byte: 192 at most


def words_of(dimensions: int) -> int:
    return -(-dimensions // 64)


def signs(vectors: NDArray[np.int8] | Matrix) -> Bits:
    packed = np.packbits(vectors > 0, axis=1)
    padded = np.zeros((len(packed), words_of(vectors.shape[1]) * 8), dtype=np.uint8)
    padded[:, : packed.shape[1]] = packed
    return np.ascontiguousarray(padded.view(np.uint64).T)


def nearest(bits: Bits, cue: Bits, keep: int, among: Mask | None) -> Rows:
    """The rows with the fewest signs that differ from the cue's, and those equal to the last of them,
    as many again at most; ascending. `among` says which rows count, None all.
    """
    distance = _distances(bits, cue)
    far = 64 * len(cue) + 1  # farther than any vector is
    if among is not None:
        np.copyto(distance, far, where=~among)
    # There are only a few hundred distances: counting them is faster than partitioning.
    counted = _counted(distance, far)
    last = int(np.searchsorted(np.cumsum(counted), keep))
    if last >= far:
        return np.flatnonzero(distance < far)
    if counted[last] <= keep:
        return np.flatnonzero(distance <= last)
    as_near = np.flatnonzero(distance == last)[:keep]
    return np.sort(np.concatenate([np.flatnonzero(distance < last), as_near]))


def _distances(bits: Bits, cue: Bits) -> NDArray[np.uint16]:
    size = bits.shape[1]
    distance = np.zeros(size, dtype=np.uint16)
    room = min(_BLOCK, size)
    differing = np.empty(room, np.uint64)
    count, total = np.empty((2, room), np.uint8)
    for start in range(0, size, _BLOCK):
        part = slice(start, min(start + _BLOCK, size))
        own = slice(0, part.stop - start)
        for first in range(0, len(cue), _SUMMED):
            total[own] = 0
            for place in range(first, min(first + _SUMMED, len(cue))):
                np.bitwise_xor(bits[place, part], cue[place], out=differing[own])
                np.bitwise_count(differing[own], out=count[own])
                total[own] += count[own]
            distance[part] += total[own]
    return distance


def _counted(distance: NDArray[np.uint16], most: int) -> Rows:
    """How many rows there are of each distance."""
    counted = np.zeros(most + 1, np.int64)
    for start in range(0, len(distance), _BLOCK):
        counted += np.bincount(distance[start : start + _BLOCK], minlength=most + 1)
    return counted
