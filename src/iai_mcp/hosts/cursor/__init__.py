"""Cursor, the editor and its command line."""

import os

from iai_mcp.hosts.host import (
    HookEvent,
    Hooks,
    Host,
    Transcript,
    in_home,
    lazy,
    runs_our_hooks,
    xdg_config,
)
from iai_mcp.protocol.compact_json import dumps

TYPE_CHECKING = False  # see compact_json
if TYPE_CHECKING:
    from iai_mcp.hosts.turns import Record


def folder() -> str:
    return in_home(".cursor")


def hooks_file() -> str:
    return os.path.join(folder(), "hooks.json")


def _find_transcript(session: str) -> str | None:
    """`~/.cursor/projects/<slug>/agent-transcripts/`: flat from the command line, else nested."""
    projects = os.path.join(folder(), "projects")
    try:
        slugs = os.listdir(projects)
    except OSError:
        return None
    for slug in slugs:
        kept = os.path.join(projects, slug, "agent-transcripts")
        for name in (f"{session}.jsonl", os.path.join(session, f"{session}.jsonl")):
            path = os.path.join(kept, name)
            if os.path.exists(path):
                return path
    return None


def _history() -> tuple[str, ...]:
    editor = ("Cursor", "User", "globalStorage", "state.vscdb")
    return (
        os.path.join(folder(), "projects/*/agent-transcripts/**/*.jsonl"),
        xdg_config(*editor),
        in_home("Library", "Application Support", *editor),
    )


def _is_line(record: "Record") -> bool:
    if record.get("type") in ("user", "assistant"):
        return False  # Claude Code's
    message = record.get("message")
    return "role" in record and isinstance(message, dict) and "parts" not in message


HOOKS = Hooks(
    # It has no timeouts.
    {
        "sessionStart": (HookEvent.START, 0),
        "stop": (HookEvent.STOP, 0),
        "subagentStop": (HookEvent.SUBAGENT_STOP, 0),
        "preCompact": (HookEvent.COMPACT, 0),
        "sessionEnd": (HookEvent.END, 0),
    },
    {"beforeSubmitPrompt": (HookEvent.PROMPT, 0)},
    fields={"session_id": "conversation_id", "cwd": "workspace_roots"},
    injected=lambda text, _name: dumps({"additional_context": text}),
    find_transcript=_find_transcript,
    are_installed=lambda: runs_our_hooks(hooks_file()),
)

HOST = Host(
    "cursor",
    "Cursor",
    binaries=("cursor-agent", "cursor"),
    folders=lambda: (folder(),),
    files=lazy(f"{__name__}.config", "files"),
    launch=lazy(f"{__name__}.config", "launch"),
    hooks=HOOKS,
    transcript=Transcript(
        lazy(f"{__name__}.transcript", "walk"),
        appends=True,
        history=_history,
        is_line=_is_line,
        document_keys=("composer_data", "fullConversationHeadersOnly"),
    ),
)
