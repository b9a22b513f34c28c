"""JSON for processes that live for milliseconds: the interpreter's own C scanner and encoder.

`json` brings `re`, `enum`, `functools` and `collections` with it: it doubles the start-up time of
a hook and is a third of the bridge's. The C half that does all the work stands alone in `_json`;
where an interpreter has none, or wants other arguments, `json` serves.

What people's programs wrote is read leniently; what goes over the wire is JSON to the letter
(`strict`): no NaN, no raw control characters in strings.
"""

# A type checker believes this name; importing `typing` for it would cost more than all the rest.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Scan = Callable[[str, int], tuple[object, int]]
    Write = Callable[[object], str]

_BLANK = " \t\n\r"


class _Lenient:
    """What the C scanner asks of the decoder that owns it."""

    strict = False  # a raw control character in a string is a person's text all the same
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant: "Callable[[str], object]" = float


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


class _Strict(_Lenient):
    strict = True
    parse_constant = staticmethod(_no_constant)


def _foreign(value: object) -> object:
    raise TypeError(f"{type(value).__name__} is not JSON")


def _engines(strict: bool) -> "tuple[Scan, Write]":
    """(scan a value at an index, write a value)."""
    try:
        import _json

        rules = _Strict() if strict else _Lenient()
        scan = _json.make_scanner(rules)  # type: ignore[arg-type]  # duck-typed in C
        encode = _json.make_encoder(
            None, _foreign, _json.encode_basestring, None, ":", ",", False, False, not strict
        )
        if scan('{"a": [1]}', 0) == ({"a": [1]}, 10) and "".join(encode(["é"], 0)) == '["é"]':
            return scan, lambda value: "".join(encode(value, 0))
    except (ImportError, TypeError, AttributeError):
        return _slow_engines(strict)
    return _slow_engines(strict)


def _slow_engines(strict: bool) -> "tuple[Scan, Write]":
    import json

    constant = _no_constant if strict else None
    decoder = json.JSONDecoder(strict=strict, parse_constant=constant)
    encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=not strict, separators=(",", ":"))
    return decoder.raw_decode, encoder.encode


_ENGINES = {strict: _engines(strict) for strict in (False, True)}


def scan(text: str, at: int = 0, *, strict: bool = False) -> tuple[object, int]:
    """The JSON value that starts at `at` (blanks before it are passed) and where it ends.

    Raises:
        ValueError: there is none, or it is nested too deep.
    """
    end = len(text)
    while at < end and text[at] in _BLANK:
        at += 1
    try:
        return _ENGINES[strict][0](text, at)
    except (StopIteration, SystemError, RecursionError) as broken:
        # The C scanner signals the end by StopIteration, and some interpreters fail to set
        # their own exception while `json` is not imported, which surfaces as SystemError.
        raise ValueError("not JSON") from broken


def loads(text: str, *, strict: bool = False) -> object:
    """The one JSON value that `text` holds.

    Raises:
        ValueError: it is not one JSON value.
    """
    value, at = scan(text, strict=strict)
    if text[at:].strip(_BLANK):
        raise ValueError("more than one JSON value")
    return value


def harmless(text: str) -> str:
    """`text`, which is JSON on one line, without a character that a terminal obeys or hides.

    Those are written as escapes: it means the same.
    """
    if not text.isprintable():
        for letter in set(text):
            if not letter.isprintable():
                text = text.replace(letter, _escaped(ord(letter)))
    return text


def _escaped(code: int) -> str:
    if code > 0xFFFF:
        high, low = divmod(code - 0x10000, 0x400)
        return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
    return f"\\u{code:04x}"


def dumps(value: object, *, strict: bool = False) -> str:
    """`value` as one line of JSON, characters as themselves rather than as escapes."""
    return _ENGINES[strict][1](value)
