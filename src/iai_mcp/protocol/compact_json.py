"""JSON for processes that live for milliseconds: the interpreter's own C scanner and encoder.

`json` imports `re` and doubles the start-up time of a hook. Both of its engines are in `_json`,
which costs nothing; where an interpreter has none, or one of another shape, `json` serves.
"""

# A type checker believes this name; importing `typing` for it would cost more than all the rest.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_BLANK = " \t\n\r"


class _Rules:
    """What the C scanner asks of the decoder that owns it."""

    strict = False  # a raw control character in a string is a person's text all the same
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float


def _foreign(value: object) -> object:
    raise TypeError(f"{type(value).__name__} is not JSON")


def _engines() -> "tuple[Callable[[str, int], tuple[object, int]], Callable[[object], str]]":
    """(scan a value at an index, write a value)."""
    try:
        import _json

        scan = _json.make_scanner(_Rules())  # type: ignore[arg-type]  # duck-typed in C
        encode = _json.make_encoder(
            None, _foreign, _json.encode_basestring, None, ":", ",", False, False, True
        )
        if scan('{"a": [1]}', 0) == ({"a": [1]}, 10) and "".join(encode(["é"], 0)) == '["é"]':
            return scan, lambda value: "".join(encode(value, 0))
    except (ImportError, TypeError, AttributeError):
        return _slow_engines()
    return _slow_engines()


def _slow_engines() -> "tuple[Callable[[str, int], tuple[object, int]], Callable[[object], str]]":
    import json

    decoder = json.JSONDecoder(strict=False)
    encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
    return decoder.raw_decode, encoder.encode


_scan, _write = _engines()


def scan(text: str, at: int = 0) -> tuple[object, int]:
    """The JSON value that starts at `at` (blanks before it are passed) and where it ends.

    Raises:
        ValueError: there is none.
    """
    end = len(text)
    while at < end and text[at] in _BLANK:
        at += 1
    try:
        return _scan(text, at)
    except (StopIteration, SystemError, RecursionError) as broken:
        # The C scanner signals the end by StopIteration, and some interpreters fail to set
        # their own exception while `json` is not imported, which surfaces as SystemError.
        raise ValueError("not JSON") from broken


def loads(text: str) -> object:
    """The one JSON value that `text` holds.

    Raises:
        ValueError: it is not one JSON value.
    """
    value, at = scan(text)
    if text[at:].strip(_BLANK):
        raise ValueError("more than one JSON value")
    return value


def dumps(value: object) -> str:
    """`value` as one line of JSON, characters as themselves rather than as escapes."""
    return _write(value)
