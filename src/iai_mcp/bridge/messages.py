"""JSON-RPC lines as the bridge needs them: whose answer is this, and what to say by itself."""

from iai_mcp.protocol import compact_json, mcp
from iai_mcp.protocol.codes import INVALID_PARAMS, MCP_VERSION_META, UNKNOWN_METHOD

Message = dict[str, object]

# What a host must be told even while the daemon is away: it would remember an empty list.
LOCAL_METHODS = frozenset({"initialize", "tools/list", "ping"})

# How the daemon begins an answer; any other order of the keys is read the long way.
_OPENINGS = ('{"jsonrpc": "2.0", "id": ', '{"jsonrpc":"2.0","id":')
_FOLLOWED_BY = (', "result"', ', "error"', ',"result"', ',"error"')
_HEAD = 1024


class NotJsonError(ValueError):
    """The line is not JSON."""


def parse(line: bytes) -> object:
    """The JSON value on a line.

    Raises:
        NotJsonError: it is none; also when it is nested too deep or holds NaN.
    """
    try:
        return compact_json.loads(line.decode("utf-8"), strict=True)
    except ValueError:
        raise NotJsonError from None


def line_of(message: Message) -> bytes:
    """One message as a line of the wire."""
    return compact_json.dumps(message, strict=True).encode("utf-8", "surrogatepass") + b"\n"


def key_of(identity: object) -> str:
    """One spelling for each id, so that 1 and "1" stay two."""
    return compact_json.dumps(identity, strict=True)


def answered_key(line: bytes) -> str | None:
    """The key of the request that `line` answers; None for what the daemon asks or tells.

    Answers may be megabytes long, so only their beginning is read.
    """
    head = line[:_HEAD].decode("utf-8", "replace")
    for opening in _OPENINGS:
        if head.startswith(opening):
            try:
                identity, end = compact_json.scan(head, len(opening), strict=True)
            except ValueError:
                break
            if head.startswith(_FOLLOWED_BY, end):
                return key_of(identity)
    return _answered_key_of_any(line)


def _answered_key_of_any(line: bytes) -> str | None:
    try:
        message = parse(line)
    except NotJsonError:
        return None
    if not isinstance(message, dict) or "method" in message:
        return None
    return key_of(message.get("id"))


def error(identity: object, code: int, message: str) -> bytes:
    return line_of({"jsonrpc": "2.0", "id": identity, "error": {"code": code, "message": message}})


def params_of(message: Message) -> Message:
    params = message.get("params")
    return params if isinstance(params, dict) else {}


def has_envelope(message: Message) -> bool:
    """Whether the message belongs to the protocol without a handshake."""
    meta = params_of(message).get("_meta")
    return isinstance(meta, dict) and MCP_VERSION_META in meta


def with_context(message: Message, context: dict[str, str]) -> Message:
    """The same message, saying who is calling."""
    params = params_of(message)
    meta = params.get("_meta")
    known = meta if isinstance(meta, dict) else {}
    return {**message, "params": {**params, "_meta": {**known, mcp.CONTEXT_META: context}}}


def local_answer(message: Message) -> bytes | None:
    """What the bridge answers without the daemon; None if only the daemon can."""
    method, identity = message.get("method"), message.get("id")
    if method == "server/discover":
        return error(identity, UNKNOWN_METHOD, "unknown method 'server/discover'")
    if method not in LOCAL_METHODS:
        return None
    result: Message = {}
    if method == "initialize":
        requested = params_of(message).get("protocolVersion")
        if not isinstance(requested, str):
            return error(identity, INVALID_PARAMS, "missing required param: 'protocolVersion'")
        result = mcp.initialize_result(requested)
    if method == "tools/list":
        from iai_mcp.protocol.tools import DEFINITIONS

        result = {"tools": DEFINITIONS}
    if has_envelope(message):
        result |= mcp.envelope_of_result()
    return line_of({"jsonrpc": "2.0", "id": identity, "result": result})
