"""The MCP session of one host: decides what happens to each line. Knows no file descriptor."""

from iai_mcp.protocol import compact_json, mcp
from iai_mcp.protocol.codes import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    MAX_LINE,
    MCP_VERSION_META,
    PARSE_ERROR,
    UNKNOWN_METHOD,
    UNREACHABLE,
)
from iai_mcp.protocol.frames import Oversize
from iai_mcp.protocol.mcp import AGENTS_METHOD, HANDSHAKE_VERSIONS, SERVER_NAME

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
        from iai_mcp.bridge.tool_list import mcp_tools
        from iai_mcp.protocol.tools import listed

        result = {"tools": listed(mcp_tools())}
    if has_envelope(message):
        result |= mcp.envelope_of_result()
    return line_of({"jsonrpc": "2.0", "id": identity, "result": result})


# A daemon that has just started still loads its MCP library; a stopped one answers never.
# Hosts wait longer than this for a handshake, but not for ever.
PATIENCE_SECONDS = 5.0

HINT = "start it with: iai-mcp up"
_LOST = f"the memory daemon stopped during this call, which may or may not be done; {HINT}"
_TOO_LONG = f"a line may have at most {MAX_LINE // (1024 * 1024)} MiB"
_REPLAY = f"{SERVER_NAME}/replay"
_REPLAY_KEY = key_of(_REPLAY)
# The first line of every connection, and none of it comes from the host: from here on the daemon takes
# nothing but MCP, however a later line is read. Its answer is dropped like that of a replay.
AGENT_CONNECTION = line_of({"jsonrpc": "2.0", "id": _REPLAY, "method": AGENTS_METHOD})


class Wires:
    """The two ends, as the conversation sees them."""

    def connected(self) -> bool:
        raise NotImplementedError

    def dial(self) -> str:
        """Connect to the daemon; a sentence about why not and what to do, or nothing."""
        raise NotImplementedError

    def hang_up(self) -> None:
        """Leave the daemon's connection."""
        raise NotImplementedError

    def to_daemon(self, line: bytes) -> None:
        raise NotImplementedError

    def to_host(self, line: bytes) -> None:
        raise NotImplementedError


class _Waiting:
    """A request that the host has sent and nobody has answered yet."""

    __slots__ = ("deadline", "message", "said_again")

    def __init__(self, message: Message, deadline: float | None) -> None:
        self.message = message
        self.deadline = deadline
        self.said_again = False


class BridgeSession:
    """One host's session, over as many daemons as it takes."""

    def __init__(self, wires: Wires, context: dict[str, str]) -> None:
        self._wires = wires
        self._context = context
        # For a host that calls without a handshake; its own replaces this one.
        client = {"name": f"{SERVER_NAME} bridge", "version": "1"}
        self._hello: Message = {
            "protocolVersion": HANDSHAKE_VERSIONS[-1],
            "capabilities": {},
            "clientInfo": client,
        }
        self._waiting: dict[str, _Waiting] = {}
        self._answered_late: set[str] = set()

    @property
    def in_flight(self) -> int:
        return len(self._waiting)

    def from_host(self, line: bytes | Oversize, now: float) -> None:
        """Take one line of the host's."""
        if isinstance(line, Oversize):
            self._wires.to_host(error(None, PARSE_ERROR, _TOO_LONG))
            return
        if not line.strip():
            return
        try:
            message = parse(line)
        except NotJsonError:
            self._wires.to_host(error(None, PARSE_ERROR, "the line is not JSON"))
            return
        if not isinstance(message, dict) or not _is_rpc(message):
            given = message.get("id") if isinstance(message, dict) else None
            known = given if _is_id(given) else None
            self._wires.to_host(error(known, INVALID_REQUEST, "not a JSON-RPC 2.0 message"))
        elif "method" not in message:
            self._pass_on(line)
        elif "id" in message:
            self._request(message, line, now)
        else:
            self._notification(message, line)

    def from_daemon(self, line: bytes | Oversize) -> None:
        """Take one line of the daemon's."""
        if isinstance(line, Oversize):
            # Whose answer it was can not be known any more: nobody may wait for it for ever.
            self._wires.hang_up()
            self.daemon_gone(f"the memory daemon's answer was too long: {_TOO_LONG}")
            return
        key = answered_key(line)
        if key == _REPLAY_KEY:
            return
        if key in self._answered_late:
            self._answered_late.discard(key)
            return
        if key is not None:
            self._waiting.pop(key, None)
        self._wires.to_host(line + b"\n")

    def daemon_gone(
        self, reason: str = _LOST, unheard: "list[bytes] | None" = None, now: float = 0.0
    ) -> None:
        """The connection ended: whoever waits is told, nobody is left in silence.

        Lines that went out only in part, or not at all, were `unheard`: their requests are not lost, but
        said once more to the daemon that has taken the place of the one that ended.
        """
        waiting, self._waiting = self._waiting, {}
        self._answered_late.clear()
        to_say = []
        for line in unheard or ():
            message = parse(line)
            key = key_of(message.get("id")) if isinstance(message, dict) else ""
            if isinstance(message, dict) and key in waiting and not waiting[key].said_again:
                del waiting[key]
                to_say.append((key, message, line))
        for lost in waiting.values():
            self._answer_alone(lost.message, reason)
        for key, message, line in to_say:
            self._request(message, line[:-1], now)
            if key in self._waiting:
                self._waiting[key].said_again = True

    def next_deadline(self) -> float | None:
        """When `expire` should be called next."""
        return min((w.deadline for w in self._waiting.values() if w.deadline), default=None)

    def expire(self, now: float) -> None:
        """Answer what a host can not do without, if the daemon takes too long."""
        late = [k for k, w in self._waiting.items() if w.deadline and w.deadline <= now]
        for key in late:
            self._answered_late.add(key)
            self._answer_alone(self._waiting.pop(key).message, "")

    def _request(self, message: Message, line: bytes, now: float) -> None:
        opens = message["method"] == "initialize"
        if opens and isinstance(params_of(message).get("protocolVersion"), str):
            self._hello = params_of(message)
        fresh = not self._wires.connected()
        if fresh and (problem := self._wires.dial()):
            self._answer_alone(message, problem)
            return
        enveloped = has_envelope(message)
        if fresh and not opens and not enveloped:
            self._replay()
        elif opens or fresh:
            line = line_of(with_context(message, self._context))[:-1]
        self._wait_for(message, now)
        self._wires.to_daemon(line + b"\n")

    def _wait_for(self, message: Message, now: float) -> None:
        key = key_of(message["id"])
        if message["method"] in LOCAL_METHODS:
            self._waiting[key] = _Waiting(message, now + PATIENCE_SECONDS)
        else:
            # Without its params, which may be megabytes: only the id is needed to say sorry.
            bare = {"id": message["id"], "method": message["method"]}
            self._waiting[key] = _Waiting(bare, None)

    def _replay(self) -> None:
        hello: Message = {
            "jsonrpc": "2.0",
            "id": _REPLAY,
            "method": "initialize",
            "params": self._hello,
        }
        self._wires.to_daemon(line_of(with_context(hello, self._context)))
        # Said even if the host has not said it yet: the daemon hears it twice at worst.
        initialized: Message = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        self._wires.to_daemon(line_of(initialized))

    def _notification(self, message: Message, line: bytes) -> None:
        if message["method"] == "notifications/cancelled":
            # It will not be answered: waiting for it would leave an entry behind for ever.
            cancelled = params_of(message).get("requestId")
            self._waiting.pop(key_of(cancelled), None)
        self._pass_on(line)

    def _pass_on(self, line: bytes) -> None:
        if self._wires.connected():
            self._wires.to_daemon(line + b"\n")

    def _answer_alone(self, message: Message, reason: str) -> None:
        alone = local_answer(message)
        self._wires.to_host(alone or error(message.get("id"), UNREACHABLE, reason))


def _is_id(value: object) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _is_rpc(message: Message) -> bool:
    if message.get("jsonrpc") != "2.0" or ("id" in message and not _is_id(message["id"])):
        return False
    if "method" in message:
        return isinstance(message["method"], str)
    return "id" in message and ("result" in message or "error" in message)
