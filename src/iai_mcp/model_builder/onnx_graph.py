"""Reads and writes ONNX graphs: operations, and tensors as numpy arrays.

The field numbers are those of `onnx.proto`. Only what our models and the published ones use is
covered; `tests/unit` compares both directions with the `onnx` package.
"""

import mmap
import struct
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from iai_mcp.domain.errors import ModelDamaged
from iai_mcp.model_builder.protobuf import (
    Chunk,
    bytes_field,
    content,
    fields,
    float_field,
    integer,
    integer_field,
    integers,
    text,
    text_field,
)

FLOAT, INT64 = 1, 7
RUNTIME_OPS = "com.microsoft"  # the domain of onnxruntime's own operations

_IR_VERSION = 10
_OPSET = 20  # the first with Gelu

_TYPES: dict[int, np.dtype[np.generic]] = {
    FLOAT: np.dtype("<f4"),
    2: np.dtype("u1"),
    3: np.dtype("i1"),
    4: np.dtype("<u2"),
    5: np.dtype("<i2"),
    6: np.dtype("<i4"),
    INT64: np.dtype("<i8"),
    9: np.dtype("?"),
    10: np.dtype("<f2"),
    11: np.dtype("<f8"),
}
_NUMBERS = {dtype: number for number, dtype in _TYPES.items()}
# Where a tensor keeps its values that is not written as raw bytes.
_FLOAT_DATA, _INT32_DATA, _INT64_DATA, _RAW_DATA, _DOUBLE_DATA = 4, 5, 7, 9, 10
_EXTERNAL = 1
_FLOAT_ATTRIBUTE, _INTEGER_ATTRIBUTE, _BYTES_ATTRIBUTE = 1, 2, 3

Attribute = int | float | bytes
Array = NDArray[np.generic]


@dataclass(frozen=True, slots=True)
class OnnxNode:
    """One operation. Values are known by their names."""

    operation: str
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    domain: str = ""
    attributes: Mapping[str, Attribute] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Value:
    """An input or output of the graph. A dimension with a name may have any size."""

    name: str
    element_type: int
    shape: tuple[int | str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Location:
    """The part of another file that holds the values of a tensor."""

    file: str
    offset: int
    length: int


@dataclass(slots=True)
class Graph:
    nodes: list[OnnxNode]
    tensors: dict[str, Array]
    inputs: list[Value] = field(default_factory=list)
    outputs: list[Value] = field(default_factory=list)

    def serialize(self, external: Mapping[str, Location] | None = None) -> bytes:
        """The graph as a model file. The values of the tensors in `external` stay out of it."""
        places = external or {}
        graph = _flat(
            *(bytes_field(1, _node(node)) for node in self.nodes),
            text_field(2, "encoder"),
            *(
                bytes_field(5, _tensor(name, array, places.get(name)))
                for name, array in self.tensors.items()
            ),
            *(bytes_field(11, _value(value)) for value in self.inputs),
            *(bytes_field(12, _value(value)) for value in self.outputs),
        )
        model = _flat(
            integer_field(1, _IR_VERSION),
            bytes_field(7, graph),
            bytes_field(8, _flat(text_field(1, ""), integer_field(2, _OPSET))),
            bytes_field(8, _flat(text_field(1, RUNTIME_OPS), integer_field(2, 1))),
        )
        return b"".join(model)

    def write(self, path: Path, file_of: Callable[[str, Array], str | None]) -> None:
        """Write the model to `path`, and each tensor that `file_of` names a file for into that file."""
        external: dict[str, Location] = {}
        sizes: dict[str, int] = {}
        for name, array in self.tensors.items():
            file = file_of(name, array)
            if file is None:
                continue
            offset = sizes.get(file, 0)
            with (path.parent / file).open("ab") as target:
                target.write(_raw(array))
            external[name] = Location(file, offset, array.nbytes)
            sizes[file] = offset + array.nbytes
        path.write_bytes(self.serialize(external))


def read_graph(path: Path) -> Graph:
    """The operations and tensors of a model file. Values are read when they are used.

    Raises:
        ModelDamaged: the file is absent or no graph.
    """
    try:
        with path.open("rb") as file:
            model = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        return _read_graph(_graph_of(model))
    except (OSError, ValueError, struct.error) as error:
        raise ModelDamaged(f"the weights in {path} can not be read: {error}") from error


def _flat(*parts: list[Chunk]) -> list[Chunk]:
    return [chunk for part in parts for chunk in part]


def _raw(array: Array) -> memoryview:
    """The values as bytes, first index first, in the order of little-endian machines."""
    little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    return little.reshape(-1).view(np.uint8).data


def _tensor(name: str, array: Array, place: Location | None) -> list[Chunk]:
    number = _NUMBERS[array.dtype.newbyteorder("<")]
    dimensions = [integer_field(1, size) for size in array.shape]
    head = _flat(*dimensions, integer_field(2, number), text_field(8, name))
    if place is None:
        return head + bytes_field(_RAW_DATA, [_raw(array)])
    entries = {"location": place.file, "offset": str(place.offset), "length": str(place.length)}
    pairs = (_flat(text_field(1, key), text_field(2, value)) for key, value in entries.items())
    return _flat(head, *(bytes_field(13, pair) for pair in pairs), integer_field(14, _EXTERNAL))


def _node(node: OnnxNode) -> list[Chunk]:
    return _flat(
        *(text_field(1, name) for name in node.inputs),
        *(text_field(2, name) for name in node.outputs),
        text_field(3, node.name),
        text_field(4, node.operation),
        *(bytes_field(5, _attribute(*item)) for item in node.attributes.items()),
        text_field(7, node.domain),
    )


def _attribute(name: str, value: Attribute) -> list[Chunk]:
    if isinstance(value, int):
        typed = integer_field(3, value) + integer_field(20, _INTEGER_ATTRIBUTE)
    elif isinstance(value, float):
        typed = float_field(2, struct.pack("<f", value)) + integer_field(20, _FLOAT_ATTRIBUTE)
    else:
        typed = bytes_field(4, [value]) + integer_field(20, _BYTES_ATTRIBUTE)
    return text_field(1, name) + typed


def _value(value: Value) -> list[Chunk]:
    kind = integer_field(1, value.element_type)
    if value.shape is not None:
        sizes = (
            integer_field(1, size) if isinstance(size, int) else text_field(2, size)
            for size in value.shape
        )
        kind += bytes_field(2, _flat(*(bytes_field(1, size) for size in sizes)))
    return text_field(1, value.name) + bytes_field(2, bytes_field(1, kind))


def _graph_of(model: memoryview) -> memoryview:
    for number, value in fields(model):
        if number == 7:
            return content(value)
    raise ValueError("it has no graph")


def _read_graph(message: memoryview) -> Graph:
    graph = Graph([], {})
    for number, value in fields(message):
        if number == 1:
            graph.nodes.append(_read_node(content(value)))
        elif number == 5:
            name, array = _read_tensor(content(value))
            if array is not None:
                graph.tensors[name] = array
    return graph


def _read_node(message: memoryview) -> OnnxNode:
    inputs: list[str] = []
    outputs: list[str] = []
    texts = {3: "", 4: "", 7: ""}
    attributes: dict[str, Attribute] = {}
    for number, value in fields(message):
        if number == 1:
            inputs.append(text(value))
        elif number == 2:
            outputs.append(text(value))
        elif number in texts:
            texts[number] = text(value)
        elif number == 5:
            attributes |= _read_attribute(content(value))
    return OnnxNode(texts[4], texts[3], tuple(inputs), tuple(outputs), texts[7], attributes)


def _read_attribute(message: memoryview) -> dict[str, Attribute]:
    """The attribute, or nothing if it is of a kind that no caller needs."""
    name = ""
    attribute: Attribute | None = None
    for number, value in fields(message):
        if number == 1:
            name = text(value)
        elif number == 2:
            attribute = float(struct.unpack("<f", content(value))[0])
        elif number == 3:
            attribute = integer(value)
        elif number == 4:
            attribute = bytes(content(value))
    return {} if attribute is None else {name: attribute}


def _read_tensor(message: memoryview) -> tuple[str, Array | None]:
    """Name and values; None if they are of a type that no caller needs, such as texts."""
    shape: list[int] = []
    kind, name, external = FLOAT, "", False
    data: list[tuple[int, int | memoryview]] = []
    for number, value in fields(message):
        if number == 1:
            shape += integers(value)
        elif number == 2:
            kind = integer(value)
        elif number == 8:
            name = text(value)
        elif number == 14:
            external = integer(value) == _EXTERNAL
        elif number in (_FLOAT_DATA, _INT32_DATA, _INT64_DATA, _RAW_DATA, _DOUBLE_DATA):
            data.append((number, value))
    if external:
        raise ValueError(f"the tensor '{name}' lies in another file")
    if kind not in _TYPES:
        return name, None
    return name, _read_values(data, _TYPES[kind]).reshape(shape)


def _read_values(
    data: Iterable[tuple[int, int | memoryview]], dtype: np.dtype[np.generic]
) -> Array:
    """The values of a tensor, from whichever field holds them."""
    parts: list[Array] = []
    for number, value in data:
        if number in (_INT32_DATA, _INT64_DATA):
            parts.append(_from_integers(integers(value), dtype))
        elif number == _RAW_DATA:
            parts.append(np.frombuffer(content(value), dtype))
        else:
            stored = "<f4" if number == _FLOAT_DATA else "<f8"
            parts.append(np.frombuffer(content(value), stored).astype(dtype))
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else np.empty(0, dtype)


def _from_integers(numbers: list[int], dtype: np.dtype[np.generic]) -> Array:
    if dtype == np.dtype("<f2"):  # stored as the integer that has the same 16 bits
        return np.array(numbers, np.int64).astype(np.uint16).view(dtype)
    return np.array(numbers, np.int64).astype(dtype)
