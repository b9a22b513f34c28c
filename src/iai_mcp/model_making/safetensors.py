"""Reads tensors from a `.safetensors` file: eight bytes of length, a JSON header, raw numbers."""

import json
import struct
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from iai_mcp.domain.errors import ModelDamaged

_TYPES: dict[str, np.dtype[np.generic]] = {
    "F64": np.dtype("<f8"),
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    "I64": np.dtype("<i8"),
    "I32": np.dtype("<i4"),
    "I8": np.dtype("i1"),
    "U8": np.dtype("u1"),
}
# The published format's own limit; a longer header means that this is some other file.
_HEADER_LIMIT = 100_000_000


class _Place(NamedTuple):
    dtype: np.dtype[np.generic]
    shape: tuple[int, ...]
    begin: int
    end: int


class TensorFile:
    """The tensors of one file by name. Numbers are read when asked for, not before."""

    def __init__(self, path: Path) -> None:
        """
        Raises:
            ModelDamaged: the file is absent, cut short or not in this format.
        """
        self._path = path
        try:
            with path.open("rb") as file:
                (length,) = struct.unpack("<Q", file.read(8))
                self._places = _places(json.loads(file.read(min(length, _HEADER_LIMIT))))
            self._start = 8 + length
            self._bytes = np.memmap(path, dtype=np.uint8, mode="r")
        except (OSError, ValueError, KeyError, TypeError, struct.error) as error:
            raise ModelDamaged(f"the weights in {path} can not be read: {error}") from error

    def names(self) -> frozenset[str]:
        return frozenset(self._places)

    def floats(self, name: str) -> NDArray[np.float32]:
        """The tensor `name` as float32, in memory of its own.

        Raises:
            ModelDamaged: it is absent or reaches beyond the file.
        """
        place = self._places.get(name)
        if place is None:
            raise ModelDamaged(f"the weights in {self._path} lack the tensor '{name}'")
        raw = self._bytes[self._start + place.begin : self._start + place.end]
        if raw.size != int(np.prod(place.shape)) * place.dtype.itemsize:
            raise ModelDamaged(f"the tensor '{name}' in {self._path} is cut short")
        # A copy first: a tensor may begin at any byte, and a view has to be aligned.
        return np.array(raw).view(place.dtype).reshape(place.shape).astype(np.float32)


def _places(header: object) -> dict[str, _Place]:
    if not isinstance(header, dict):
        raise TypeError("its header is not an object")
    places = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        shape = tuple(int(size) for size in entry["shape"])
        places[name] = _Place(_TYPES[entry["dtype"]], shape, int(begin), int(end))
    return places
