"""MCP tools: arguments checked against the very schema that hosts were shown, and results worded.

A name that the schema does not have is refused: behind the door it could mean something that is
for the owner's own programs, such as where a call comes from.

The tools that search answer with one text block and nothing else, unless the caller asks for JSON. Other
results are the object for programs and its JSON as text for models; clients of older protocol versions get
the text alone.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from iai_mcp.domain.errors import IaiError, InvalidInput, MissingParam
from iai_mcp.protocol.codes import MAX_LINE
from iai_mcp.protocol.tools import DEFINITIONS, TEXT_TOOLS, Schema

_SCHEMAS: dict[str, Schema] = {
    str(tool["name"]): schema
    for tool in DEFINITIONS
    if isinstance(schema := tool["inputSchema"], dict)
}

_KINDS: dict[str, tuple[str, type | tuple[type, ...]]] = {
    "string": ("a string", str),
    "integer": ("a whole number", int),
    "number": ("a number", (int, float)),
    "boolean": ("true or false", bool),
    "array": ("a list", list),
    "object": ("an object", dict),
}


def checked(tool: str, arguments: Mapping[str, object] | None) -> dict[str, object]:
    """The arguments, without those that were explicitly null.

    Raises:
        MissingParam: a required one is absent.
        InvalidInput: there is no such tool, or a value is not what the schema says.
    """
    schema = _SCHEMAS.get(tool)
    if schema is None:
        raise InvalidInput(f"unknown tool {tool!r}")
    given = {name: value for name, value in (arguments or {}).items() if value is not None}
    _require(schema, given)
    properties = schema["properties"]
    assert isinstance(properties, dict)  # noqa: S101 - every schema of ours is an object's
    for name in given:
        if name not in properties:
            known = f"it takes {', '.join(properties)}" if properties else "it takes none"
            raise InvalidInput(f"{tool} has no argument {name[:40]!r}: {known}")
    given = {name: _whole(value, properties[name]) for name, value in given.items()}
    for name, value in given.items():
        _check(name, value, properties[name])
    return given


def method_and_params(tool: str, arguments: dict[str, object]) -> tuple[str, dict[str, object]]:
    """The core's method behind a tool. Only the settings tool stands for two."""
    if tool in TEXT_TOOLS:
        return tool, {"format": "text", **arguments}
    if tool != "profile_get_set":
        return tool, arguments
    given = {name: value for name, value in arguments.items() if name != "operation"}
    operation = arguments.get("operation", "set" if "value" in given else "get")
    if operation not in ("get", "set"):
        raise InvalidInput("operation must be get or set")
    if operation == "get":
        return "profile_get", {name: given[name] for name in given if name != "value"}
    for name in ("knob", "value"):
        if name not in given:
            raise MissingParam(name)
    return "profile_set", given


def _require(schema: Schema, given: dict[str, object]) -> None:
    required = schema.get("required", ())
    for name in required if isinstance(required, list) else ():
        if name not in given:
            raise MissingParam(name)


def _check(name: str, value: object, schema: Schema) -> None:
    kind = schema.get("type")
    if isinstance(kind, str) and not _is_a(value, kind):
        raise InvalidInput(f"{name} must be {_KINDS[kind][0]}")
    if isinstance(value, str):
        _check_text(name, value)
    allowed = schema.get("enum")
    if isinstance(allowed, list) and value not in allowed:
        raise InvalidInput(f"{name} must be one of: {', '.join(map(str, allowed))}")
    most = schema.get("maximum")
    if isinstance(most, int) and isinstance(value, int) and value > most:
        raise InvalidInput(f"{name} must be at most {most}")
    items = schema.get("items")
    if isinstance(value, list) and isinstance(items, dict):
        for item in value:
            _check(f"{name}[]", item, items)


def _is_a(value: object, kind: str) -> bool:
    # JSON knows no difference between true and 1 that Python's isinstance would keep.
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, _KINDS[kind][1])


def _whole(value: object, schema: object) -> object:
    """5.0 is a whole number in JSON; the methods behind the tools want Python's."""
    wanted = isinstance(schema, dict) and schema.get("type") == "integer"
    return int(value) if wanted and isinstance(value, float) and value.is_integer() else value


def _check_text(name: str, value: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidInput(f"{name} holds half a surrogate pair: send whole characters") from None


# Room for the envelope around the two: ids, `_meta`, the server's name.
_ENVELOPE = 64 * 1024


class AnswerTooLongError(IaiError):
    """The answer does not fit a line of the protocol."""

    code = "TOO_LONG"


@dataclass(frozen=True, slots=True)
class Worded:
    """`text` and `structured` say the same; together they fit one line."""

    text: str
    structured: dict[str, object] | None


def answer(result: dict[str, object], *, text_only: bool = False, as_text: bool = False) -> Worded:
    """Word a result for the wire; `text_only` for clients that know no structured content, `as_text` for a
    result that is one text already.

    Raises:
        AnswerTooLongError: it does not fit a line.
    """
    if as_text and isinstance(said := result.get("text"), str):
        return Worded(said, None)
    text = json.dumps(result, ensure_ascii=False, separators=(",", ":"), default=str)
    room = MAX_LINE - _ENVELOPE
    # A line's writer may put a space after each comma and colon.
    bare = _bytes(text) + text.count(",") + text.count(":")
    quoted = _bytes(json.dumps(text, ensure_ascii=False))
    if (quoted if text_only else bare) > room:
        raise AnswerTooLongError(
            f"the answer is longer than the {MAX_LINE // (1024 * 1024)} MiB that one message may "
            "have: ask for less (a smaller limit or budget, or a narrower time)"
        )
    if text_only:
        return Worded(text, None)
    if bare + quoted > room:
        text = "The answer is in the structured content only: it is too long to send twice."
    return Worded(text, result)


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
