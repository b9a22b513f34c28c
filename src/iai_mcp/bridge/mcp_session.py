"""What the bridge does with each line, whoever it came from. Knows no file descriptor.

The host must not notice that a daemon went away and another came: its handshake is remembered
and repeated, silently, at the start of every new connection.
"""

from iai_mcp.bridge import messages
from iai_mcp.bridge.messages import Message
from iai_mcp.protocol.codes import (
    INVALID_REQUEST,
    MAX_LINE,
    PARSE_ERROR,
    UNREACHABLE,
)
from iai_mcp.protocol.frames import Oversize
from iai_mcp.protocol.mcp import AGENTS_METHOD, HANDSHAKE_VERSIONS, SERVER_NAME

# A daemon that has just started still loads its MCP library; a stopped one answers never.
# Hosts wait longer than this for a handshake, but not for ever.
PATIENCE_SECONDS = 5.0

HINT = "start it with: iai-mcp up"
_LOST = f"the memory daemon stopped during this call, which may or may not be done; {HINT}"
_TOO_LONG = f"a line may have at most {MAX_LINE // (1024 * 1024)} MiB"
_REPLAY = f"{SERVER_NAME}/replay"
_REPLAY_KEY = messages.key_of(_REPLAY)
# The first line of every connection, and none of it comes from the host: from here on the daemon takes
# nothing but MCP, however a later line is read. Its answer is dropped like that of a replay.
AGENT_CONNECTION = messages.line_of({"jsonrpc": "2.0", "id": _REPLAY, "method": AGENTS_METHOD})


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


class Conversation:
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
            self._wires.to_host(messages.error(None, PARSE_ERROR, _TOO_LONG))
            return
        if not line.strip():
            return
        try:
            message = messages.parse(line)
        except messages.NotJsonError:
            self._wires.to_host(messages.error(None, PARSE_ERROR, "the line is not JSON"))
            return
        if not isinstance(message, dict) or not _is_rpc(message):
            given = message.get("id") if isinstance(message, dict) else None
            known = given if _is_id(given) else None
            self._wires.to_host(
                messages.error(known, INVALID_REQUEST, "not a JSON-RPC 2.0 message")
            )
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
        key = messages.answered_key(line)
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
            message = messages.parse(line)
            key = messages.key_of(message.get("id")) if isinstance(message, dict) else ""
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
        if opens and isinstance(messages.params_of(message).get("protocolVersion"), str):
            self._hello = messages.params_of(message)
        fresh = not self._wires.connected()
        if fresh and (problem := self._wires.dial()):
            self._answer_alone(message, problem)
            return
        enveloped = messages.has_envelope(message)
        if fresh and not opens and not enveloped:
            self._replay()
        elif opens or fresh:
            line = messages.line_of(messages.with_context(message, self._context))[:-1]
        self._wait_for(message, now)
        self._wires.to_daemon(line + b"\n")

    def _wait_for(self, message: Message, now: float) -> None:
        key = messages.key_of(message["id"])
        if message["method"] in messages.LOCAL_METHODS:
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
        self._wires.to_daemon(messages.line_of(messages.with_context(hello, self._context)))
        # Said even if the host has not said it yet: the daemon hears it twice at worst.
        initialized: Message = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        self._wires.to_daemon(messages.line_of(initialized))

    def _notification(self, message: Message, line: bytes) -> None:
        if message["method"] == "notifications/cancelled":
            # It will not be answered: waiting for it would leave an entry behind for ever.
            cancelled = messages.params_of(message).get("requestId")
            self._waiting.pop(messages.key_of(cancelled), None)
        self._pass_on(line)

    def _pass_on(self, line: bytes) -> None:
        if self._wires.connected():
            self._wires.to_daemon(line + b"\n")

    def _answer_alone(self, message: Message, reason: str) -> None:
        alone = messages.local_answer(message)
        self._wires.to_host(alone or messages.error(message.get("id"), UNREACHABLE, reason))


def _is_id(value: object) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _is_rpc(message: Message) -> bool:
    if message.get("jsonrpc") != "2.0" or ("id" in message and not _is_id(message["id"])):
        return False
    if "method" in message:
        return isinstance(message["method"], str)
    return "id" in message and ("result" in message or "error" in message)
