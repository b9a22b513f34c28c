"""Reads and writes the wire format of protocol buffers: field numbers, integers and byte strings.

ONNX graphs and SentencePiece models are stored in it. Both use a handful of fields, so the
library `protobuf` and the packages built on it are not needed.
"""

from collections.abc import Iterable, Iterator

_VARINT, _BITS_64, _BYTES, _BITS_32 = 0, 1, 2, 5
_SIGN_BIT, _ALL_BITS = 1 << 63, 1 << 64
_LONGEST_VARINT = 10  # bytes: 64 bits, seven in each

Chunk = bytes | memoryview
Field = tuple[int, int | memoryview]


def fields(message: Chunk) -> Iterator[Field]:
    """The fields of one message in order: integers as such, everything else as bytes.

    Raises:
        ValueError: the message is cut short, or is no protocol buffer.
    """
    view = memoryview(message)
    position = 0
    while position < len(view):
        tag, position = _read_varint(view, position)
        wire = tag & 7
        if wire == _VARINT:
            number, position = _read_varint(view, position)
            yield tag >> 3, number
            continue
        if wire == _BYTES:
            size, position = _read_varint(view, position)
        elif wire in (_BITS_64, _BITS_32):
            size = 8 if wire == _BITS_64 else 4
        else:
            raise ValueError(f"wire type {wire}")
        if position + size > len(view):
            raise ValueError("it is cut short")
        yield tag >> 3, view[position : position + size]
        position += size


def integers(value: int | memoryview) -> list[int]:
    """A repeated integer field: one number, or several packed into bytes.

    Raises:
        ValueError: the bytes are cut short.
    """
    if isinstance(value, int):
        return [signed(value)]
    numbers, position = [], 0
    while position < len(value):
        number, position = _read_varint(value, position)
        numbers.append(signed(number))
    return numbers


def signed(value: int) -> int:
    """An integer of 64 bits as it was before it was written: negative ones are stored as large ones."""
    return value - _ALL_BITS if value & _SIGN_BIT else value


def content(value: int | memoryview) -> memoryview:
    """The bytes of a field.

    Raises:
        ValueError: it holds an integer.
    """
    if isinstance(value, int):
        raise ValueError("a number stands where bytes belong")  # noqa: TRY004 - a damaged file, no mistake of the caller
    return value


def integer(value: int | memoryview) -> int:
    """The integer of a field.

    Raises:
        ValueError: it holds bytes.
    """
    if not isinstance(value, int):
        raise ValueError("bytes stand where a number belongs")  # noqa: TRY004 - a damaged file, no mistake of the caller
    return signed(value)


def text(value: int | memoryview) -> str:
    """The text of a field.

    Raises:
        ValueError: it is no text.
    """
    return bytes(content(value)).decode("utf-8")


def integer_field(number: int, value: int) -> list[Chunk]:
    return [_varint(number << 3 | _VARINT) + _varint(value % _ALL_BITS)]


def float_field(number: int, packed: bytes) -> list[Chunk]:
    """A field of 32 bits, given as its four bytes."""
    return [_varint(number << 3 | _BITS_32) + packed]


def bytes_field(number: int, chunks: Iterable[Chunk]) -> list[Chunk]:
    """A field of bytes, text or a nested message. Chunks are kept apart: large ones are never copied."""
    parts = list(chunks)
    size = sum(len(part) for part in parts)
    return [_varint(number << 3 | _BYTES) + _varint(size), *parts]


def text_field(number: int, value: str) -> list[Chunk]:
    return bytes_field(number, [value.encode("utf-8")])


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value >= 128:
        encoded.append(value & 127 | 128)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def _read_varint(view: memoryview, position: int) -> tuple[int, int]:
    value = 0
    for index, byte in enumerate(view[position : position + _LONGEST_VARINT]):
        value |= (byte & 127) << (7 * index)
        if byte < 128:
            return value % _ALL_BITS, position + index + 1
    raise ValueError("it is cut short")
