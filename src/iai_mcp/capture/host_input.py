"""What a host writes to a hook's stdin, read with patience but not for ever, in one shape."""

import os
import select
import time

from iai_mcp.protocol.compact_json import loads

# A prompt can be a pasted log; beyond this it is no use to a hook.
_MOST_BYTES = 16 * 1024 * 1024
# Hosts write at once and close. One that keeps the pipe open must not hold us for longer.
_PATIENCE = 0.3
_LONGEST = 1.0


class Input:
    """The fields that hosts agree on, whatever each of them calls them."""

    __slots__ = ("fields",)

    def __init__(self, fields: dict[str, object]) -> None:
        self.fields = fields

    def text(self, *names: str) -> str | None:
        """The first of these fields that holds a text."""
        for name in names:
            value = self.fields.get(name)
            if isinstance(value, str) and value:
                return value
        return None

    @property
    def session_id(self) -> str | None:
        return self.text("session_id", "sessionId", "conversation_id")

    @property
    def cwd(self) -> str:
        """The session's directory. Cursor names workspaces instead; else it is where we run."""
        said = self.text("cwd")
        if said is not None:
            return said
        roots = self.fields.get("workspace_roots")
        if isinstance(roots, list) and roots and isinstance(roots[0], str):
            return roots[0]
        return os.environ.get("CLAUDE_PROJECT_DIR") or _here()

    @property
    def last_answer(self) -> str | None:
        return self.text("last_assistant_message", "prompt_response")

    @property
    def comes_from_cursor(self) -> bool:
        return "cursor_version" in self.fields


def read_input(descriptor: int = 0) -> Input:
    """What stands on stdin. Garbage, silence and a terminal give an input without fields."""
    try:
        found = loads(_drain(descriptor).decode("utf-8", "replace"))
    except (OSError, ValueError):
        found = None
    return Input(found if isinstance(found, dict) else {})


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


def _here() -> str:
    try:
        return os.getcwd()
    except OSError:  # the directory is gone
        return "/"
