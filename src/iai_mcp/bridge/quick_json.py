"""JSON by the interpreter's own C scanner and encoder, without importing `json`.

`json` brings `re`, `enum`, `functools` and `collections` with it: a third of the bridge's start
and a megabyte, for every sub-agent of every host. The C half that does all the work stands alone
in `_json`. Where an interpreter has none, or wants other arguments, `json` does it.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class _Rules:
    """What the C scanner asks of a decoder."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int

    @staticmethod
    def parse_constant(name: str) -> object:
        raise ValueError(f"{name} is not JSON")


def _refuse(value: object) -> object:
    raise TypeError(f"{type(value).__name__} is not JSON")


_scan: "Callable[[str, int], tuple[object, int]]"
_encode: "Callable[[object, int], Iterable[str]]"
try:
    from _json import encode_basestring, make_encoder, make_scanner

    _scan = make_scanner(_Rules)  # type: ignore[arg-type] # typeshed names the scanner, not its rules
    _encode = make_encoder(None, _refuse, encode_basestring, None, ":", ",", False, False, False)
except (ImportError, TypeError):
    import json

    _scan = json.JSONDecoder(parse_constant=_Rules.parse_constant).raw_decode
    _written = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))

    def _encode(value: object, _level: int) -> "Iterable[str]":
        return _written.iterencode(value)


_BLANK = " \t\r\n"


def loads(text: str) -> object:
    """The one value in `text`.

    Raises:
        ValueError: there is none, or more than one, or it is NaN.
        RecursionError: it is nested too deep.
    """
    start = len(text) - len(text.lstrip(_BLANK))
    value, end = value_at(text, start)
    if text[end:].strip(_BLANK):
        raise ValueError("more than one value")
    return value


def value_at(text: str, start: int) -> tuple[object, int]:
    """The value that begins at `start`, and where it ends."""
    try:
        found: tuple[object, int] = _scan(text, start)
    except (StopIteration, SystemError):
        # SystemError: up to 3.12 the scanner looks for its error class in a `json.decoder` that
        # somebody else has imported, and without it fails with no error at all.
        raise ValueError("no value") from None
    return found


def dumps(value: object) -> str:
    """`value` without spaces, text as it is."""
    return "".join(_encode(value, 0))
