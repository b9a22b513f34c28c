"""Copilot CLI."""

import os
import time

from iai_mcp import regular_files
from iai_mcp.hosts.host import HookEvent, Hooks, Host, Transcript, folder_from, lazy
from iai_mcp.protocol.compact_json import dumps

TYPE_CHECKING = False  # see compact_json
if TYPE_CHECKING:
    from iai_mcp.hosts.turns import Record

_LAG = 0.3  # seconds; 0.1 was seen
_TAIL_BYTES = 64 * 1024


def folder() -> str:
    return folder_from("COPILOT_HOME", ".copilot")


def _find_transcript(session: str) -> str | None:
    path = os.path.join(folder(), "session-state", session)
    return os.path.join(path, "events.jsonl") if os.path.isdir(path) else None


def _await_transcript(path: str, hook: str) -> None:
    """Give Copilot a moment to write what came before this hook.

    It writes its file in batches, a tenth of a second late. The line that tells of this very
    hook comes after all that was said.
    """
    mark = f'"hookType":"{hook}"'.encode()
    deadline = time.monotonic() + _LAG
    while time.monotonic() < deadline:
        lines = _written(path).rstrip(b"\n").rsplit(b"\n", 1)
        if mark in lines[-1] and b'"hook.start"' in lines[-1]:
            return
        time.sleep(0.01)


def _written(path: str) -> bytes:
    try:
        return regular_files.tail(path, _TAIL_BYTES)
    except (OSError, ValueError):
        return b""


def _history() -> tuple[str, ...]:
    sessions = os.path.join(folder(), "session-state")
    return (f"{sessions}/*/events.jsonl", f"{sessions}/*.jsonl")


def _is_line(record: "Record") -> bool:
    kind = record.get("type")
    return isinstance(kind, str) and "." in kind and "data" in record


HOOKS = Hooks(
    # Seconds.
    {
        "sessionStart": (HookEvent.START, 10),
        "userPromptSubmitted": (HookEvent.PROMPT, 5),
        "agentStop": (HookEvent.STOP, 10),
        "subagentStop": (HookEvent.SUBAGENT_STOP, 10),
        "preCompact": (HookEvent.COMPACT, 10),
        "sessionEnd": (HookEvent.END, 5),
    },
    others={"notification": HookEvent.ATTENTION},
    injected=lambda text, _name: dumps({"additionalContext": text}),
    find_transcript=_find_transcript,
    await_transcript=_await_transcript,
)

HOST = Host(
    "copilot",
    "Copilot CLI",
    binaries=("copilot",),
    folders=lambda: (folder(),),
    files=lazy(f"{__name__}.config", "files"),
    seen="1.0.102",
    launch=lazy(f"{__name__}.config", "launch"),
    hooks=HOOKS,
    transcript=Transcript(
        lazy(f"{__name__}.transcript", "walk"),
        appends=True,
        history=_history,
        is_line=_is_line,
    ),
)
