"""What a host writes to a hook's stdin, read with patience but not for ever, in one shape."""

import os
import select
import time

from iai_mcp.protocol.compact_json import loads

TYPE_CHECKING = False  # see compact_json
if TYPE_CHECKING:
    from iai_mcp.hosts.host import Hooks

# A prompt can be a pasted log; beyond this it is no use to a hook.
_MOST_BYTES = 16 * 1024 * 1024
# Hosts write at once and close. One that keeps the pipe open must not hold us for longer.
_PATIENCE = 0.3
_LONGEST = 1.0


class HookInput:
    """The fields that hosts agree on, whatever each of them calls them.

    Some write `session_id`, some `sessionId`; `hooks` knows what else this host calls it.
    """

    __slots__ = ("fields", "hooks")

    def __init__(self, fields: dict[str, object], hooks: "Hooks") -> None:
        self.fields = fields
        self.hooks = hooks

    def text(self, name: str) -> str | None:
        """The text of that field, if it has one."""
        other = self.fields.get(self.hooks.fields.get(name, ""))
        if isinstance(other, list) and other:
            other = other[0]  # Cursor names all directories of a workspace
        for value in (self.fields.get(name), self.fields.get(_camel(name)), other):
            if isinstance(value, str) and value:
                return value
        return None

    @property
    def session_id(self) -> str | None:
        return self.text("session_id")

    @property
    def cwd(self) -> str:
        """The session's directory, else where we run."""
        return self.text("cwd") or os.environ.get("CLAUDE_PROJECT_DIR") or _here()

    @property
    def last_answer(self) -> str | None:
        return self.text("last_assistant_message")

    def transcript_path(self, *, of_subagent: bool = False) -> str | None:
        """Where the transcript lies; None when it is not said, and not where it should be."""
        said = self.text("agent_transcript_path") if of_subagent else None
        said = said or self.text("transcript_path")
        if said is not None:
            return said
        session, look = self.session_id, self.hooks.find_transcript
        if look is None or session is None or "/" in session or session in (".", ".."):
            return None
        return look(session)


def read_input(hooks: "Hooks", descriptor: int = 0) -> HookInput:
    """What stands on stdin. Garbage, silence and a terminal give an input without fields."""
    try:
        found = loads(_drain(descriptor).decode("utf-8", "replace"))
    except (OSError, ValueError):
        found = None
    return HookInput(found if isinstance(found, dict) else {}, hooks)


def _drain(descriptor: int) -> bytes:
    if os.isatty(descriptor):
        return b""
    received = bytearray()
    deadline = time.monotonic() + _LONGEST
    while len(received) <= _MOST_BYTES:
        wait = min(_PATIENCE, deadline - time.monotonic()) if received else _LONGEST
        if wait <= 0 or not select.select([descriptor], [], [], wait)[0]:
            break
        part = os.read(descriptor, 1 << 16)
        if not part:
            break
        received += part
    return bytes(received)


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))


def _here() -> str:
    try:
        return os.getcwd()
    except OSError:  # the directory is gone
        return "/"
