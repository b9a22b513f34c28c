"""Reads a model's tensors from the files in which weights are published.

A `.safetensors` file is eight bytes of length, a JSON header and raw numbers. An ONNX graph that
others exported keeps the names of biases and tables, but gives the matrix of each product a number;
its name is in the product's own: `/encoder/layer.0/output/dense/MatMul`.
"""

import json
import struct
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from iai_mcp.domain.errors import ModelDamaged
from iai_mcp.model_builder.onnx_graph import read_graph

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


class OnnxWeights:
    """The tensors of one graph under the names that the published model gives them."""

    def __init__(self, path: Path) -> None:
        """
        Raises:
            ModelDamaged: the file is absent or no graph.
        """
        self._path = path
        graph = read_graph(path)
        self._tensors = graph.tensors
        # The matrix of a product stands the other way round: inputs first.
        self._turned = {
            f"{node.name.strip('/').removesuffix('/MatMul').replace('/', '.')}.weight": matrix
            for node in graph.nodes
            if node.operation == "MatMul"
            for matrix in node.inputs
            if matrix in self._tensors
        }

    def floats(self, name: str) -> NDArray[np.float32]:
        """The tensor `name` as float32.

        Raises:
            ModelDamaged: it is absent.
        """
        if name in self._tensors:
            return self._array(name)
        if name in self._turned:
            return self._array(self._turned[name]).T
        raise ModelDamaged(f"the weights in {self._path} lack the tensor '{name}'")

    def _array(self, name: str) -> NDArray[np.float32]:
        return np.asarray(self._tensors[name], dtype=np.float32)
