"""What a line says: parsed once, sorted by shape, answered in JSON-RPC's forms."""

import json

from iai_mcp.protocol import long_json
from iai_mcp.protocol.codes import (
    CONTROL_TYPES,
    FAILED,
    INVALID_REQUEST,
    MAX_LINE,
    MCP_VERSION_META,
    PARSE_ERROR,
)

Message = dict[str, object]


class InvalidJson(ValueError):
    """The line is not one JSON value."""


def parse(line: bytes) -> object:
    """The JSON value of a line.

    Raises:
        InvalidJson: it is not strict JSON in UTF-8, or nested beyond reason.
    """
    try:
        return long_json.load(line.decode("utf-8"), _scan)
    except (ValueError, RecursionError) as bad:
        raise InvalidJson("the line is not JSON") from bad


def encode(message: object) -> bytes:
    """A message as one line of UTF-8; lone surrogates, which UTF-8 can not carry, are escaped."""
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode("utf-8") + b"\n"
    except UnicodeEncodeError:
        return json.dumps(message, separators=(",", ":")).encode("ascii") + b"\n"


def encode_bounded(message: object) -> bytes:
    """The message's line; where it would be too long, one that says so."""
    line = encode(message)
    if len(line) <= MAX_LINE:
        return line
    request_id = message.get("id") if isinstance(message, dict) else None
    said = f"the answer is longer than {MAX_LINE} bytes: ask for less (limit, budget_tokens, k)"
    return encode(error(request_id, FAILED, said, "TOO_LARGE"))


def is_control(message: object) -> bool:
    return (
        isinstance(message, dict)
        and "jsonrpc" not in message
        and isinstance(message.get("type"), str)
        and message["type"] in CONTROL_TYPES
    )


def request_problem(message: object) -> str | None:
    """Why this is not a JSON-RPC 2.0 request; None when it is one."""
    if not isinstance(message, dict):
        return "request must be a JSON object"
    if message.get("jsonrpc") != "2.0":
        return "jsonrpc must be '2.0'"
    if message.get("id") is None:
        return "id required and non-null"
    if not _usable_id(message["id"]):
        return "id must be a string or a number"
    if not isinstance(message.get("method"), str):
        return "method must be a string"
    if "params" in message and not isinstance(message["params"], dict | list):
        return "params must be object or array"
    return None


def opens_mcp(message: object) -> bool:
    """Whether this message makes its connection an MCP session."""
    if not isinstance(message, dict) or request_problem(message) is not None:
        return False
    if message["method"] == "initialize":
        return True
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    return isinstance(meta, dict) and MCP_VERSION_META in meta


def result(request_id: object, value: object) -> Message:
    return {"jsonrpc": "2.0", "id": request_id, "result": value}


def error(request_id: object, code: int, message: str, reason: str | None = None) -> Message:
    body: Message = {"code": code, "message": message}
    if reason is not None:
        body["data"] = {"code": reason}
    return {"jsonrpc": "2.0", "id": request_id, "error": body}


def parse_failure(why: str = "the line is not JSON") -> Message:
    return error(None, PARSE_ERROR, why)


def invalid_request(message: object, problem: str) -> Message:
    """The refusal, with the request's id if it had one."""
    given = message.get("id") if isinstance(message, dict) else None
    return error(given if _usable_id(given) else None, INVALID_REQUEST, problem)


def _usable_id(value: object) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _finite(written: str) -> float:
    """A number that the answer can carry: one beyond a double would come back as Infinity, which is no JSON."""
    number = float(written)
    if number in (float("inf"), float("-inf")):
        raise ValueError(written)
    return number


def _refuse(constant: str) -> object:
    raise ValueError(constant)


# Strict, as the wire is: what stands there has to be JSON to the letter.
_scan = json.JSONDecoder(parse_constant=_refuse, parse_float=_finite).raw_decode
