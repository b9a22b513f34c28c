"""Gemini CLI."""

import os

from iai_mcp.hosts.host import (
    HookEvent,
    Hooks,
    Host,
    Transcript,
    folder_from,
    in_home,
    lazy,
    runs_our_hooks,
)

TYPE_CHECKING = False  # see compact_json
if TYPE_CHECKING:
    from iai_mcp.hosts.turns import Record


def folder() -> str:
    return os.path.join(folder_from("GEMINI_CLI_HOME"), ".gemini")


def _history() -> tuple[str, ...]:
    chats = in_home(".gemini", "tmp", "*", "chats")
    return (f"{chats}/session-*.jsonl", f"{chats}/session-*.json")


def _is_line(record: "Record") -> bool:
    return "$set" in record or ("sessionId" in record and "projectHash" in record)


HOOKS = Hooks(
    # Milliseconds.
    {
        "SessionStart": (HookEvent.START, 10_000),
        "BeforeAgent": (HookEvent.PROMPT, 5_000),
        "AfterAgent": (HookEvent.STOP, 10_000),
        "SessionEnd": (HookEvent.END, 5_000),
        "AfterTool": (HookEvent.TOOL_USED, 5_000),
    },
    {"Notification": (HookEvent.ATTENTION, 5_000)},
    # Gemini fires it before every request, and the transcript loses nothing when it compresses.
    others={"PreCompress": HookEvent.COMPACT},
    fields={"last_assistant_message": "prompt_response"},
    matchers={"AfterTool": "run_shell_command"},
    failed_call=lazy(f"{__name__}.tool_calls", "failed_call"),
    are_installed=lambda: runs_our_hooks(os.path.join(folder(), "settings.json")),
)

HOST = Host(
    "gemini",
    "Gemini CLI",
    binaries=("gemini",),
    folders=lambda: (folder(),),
    files=lazy(f"{__name__}.config", "files"),
    seen="0.61.0",
    adds_server="gemini mcp add --scope user iai-mcp ",
    launch=lazy(f"{__name__}.config", "launch"),
    package=lazy("iai_mcp.hosts.plugins", "gemini"),
    has_plugin=lambda: os.path.isdir(os.path.join(folder(), "extensions", "iai-mcp")),
    drops_plugin="gemini extensions uninstall iai-mcp",
    hooks=HOOKS,
    transcript=Transcript(
        lazy(f"{__name__}.transcript", "walk"),
        history=_history,
        is_line=_is_line,
        document_keys=("projectHash",),
    ),
)
