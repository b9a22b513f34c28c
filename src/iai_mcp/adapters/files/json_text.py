"""JSON that people edit by hand: what is wrong is told with its line, and nothing is lost."""

import json
import re
from collections.abc import Mapping

from iai_mcp.domain.errors import IaiError, InvalidInput

_BETWEEN = re.compile(r"[\s,:]*")


def parse_object(data: bytes, path: str) -> dict[str, object]:
    """The object in `data`.

    Raises:
        InvalidInput: with the file and the line; the caller leaves the file alone.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise InvalidInput(
            f"{path}, line {line}: this is not UTF-8; save the file as UTF-8"
        ) from error
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise InvalidInput(
            f"{path}, line {error.lineno}, column {error.colno}: {_kindly(error.msg)}; "
            "correct it there (nothing was changed)"
        ) from error
    except RecursionError as error:
        raise InvalidInput(f"{path}, line 1: the file is nested too deeply to be read") from error
    except ValueError as error:  # a whole number of more digits than Python takes in
        raise InvalidInput(f"{path}: it holds a number that is too large; correct it") from error
    if not isinstance(value, dict):
        raise InvalidInput(f"{path}, line 1: expected an object in braces; correct it there")
    return value


def _kindly(message: str) -> str:
    """Merge markers and stray commas are what people really meet here."""
    return message[:1].lower() + message[1:]


def line_of(data: bytes, key: str, number: int) -> int:
    """The line where an element of the list under `key` begins, by its number (1: unknown).

    `data` was understood by `parse_object`, so it is walked, not searched: once, from its start.
    """
    text = data.decode("utf-8-sig")
    decode = json.JSONDecoder().raw_decode

    def next_value(position: int) -> int:
        gap = _BETWEEN.match(text, position)
        return gap.end() if gap else position

    try:
        position = next_value(text.index("{") + 1)
        name, position = decode(text, position)
        while name != key:
            _, position = decode(text, next_value(position))
            name, position = decode(text, next_value(position))
        position = next_value(position) + 1
        for _ in range(number):
            _, position = decode(text, next_value(position))
    except ValueError:  # the key stands there twice, with lists of different lengths
        return 1
    return text.count("\n", 0, next_value(position)) + 1


def dump(value: Mapping[str, object]) -> bytes:
    """Two spaces, text as it is, a line break at the end: made to be read and diffed."""
    return json.dumps(value, indent=2, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"


def at_line(error: IaiError, path: str, line: int) -> InvalidInput:
    """The same complaint about a value, with where it stands."""
    return InvalidInput(
        f"{path}, line {line}: {error.message}; correct it there (nothing was changed)"
    )


def text_field(entry: Mapping[str, object], key: str) -> str:
    value = entry.get(key)
    if not isinstance(value, str):
        raise InvalidInput(f"'{key}' has to be a text")
    return value


def optional_text(entry: Mapping[str, object], key: str) -> str | None:
    return None if entry.get(key) is None else text_field(entry, key)


def flag_field(entry: Mapping[str, object], key: str) -> bool:
    value = entry.get(key, False)
    if not isinstance(value, bool):
        raise InvalidInput(f"'{key}' has to be true or false")
    return value


def texts_field(entry: Mapping[str, object], key: str) -> tuple[str, ...]:
    value = entry.get(key, [])
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise InvalidInput(f"'{key}' has to be a list of texts")
    return tuple(value)


def whole_field(entry: Mapping[str, object], key: str) -> int:
    value = entry.get(key)
    if not isinstance(value, int) or isinstance(value, bool):
        raise InvalidInput(f"'{key}' has to be a whole number")
    return value


def objects_field(document: Mapping[str, object], key: str, path: str) -> list[object]:
    value = document.get(key, [])
    if not isinstance(value, list):
        raise InvalidInput(f"{path}, line 1: '{key}' has to be a list; correct it there")
    return value


def as_object(value: object) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise InvalidInput("expected an object in braces")
    return value
