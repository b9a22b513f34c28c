"""Codex."""

import os

from iai_mcp.hosts.host import (
    HookEvent,
    Hooks,
    Host,
    Transcript,
    folder_from,
    lazy,
    runs_our_hooks,
)

TYPE_CHECKING = False  # see compact_json
if TYPE_CHECKING:
    from iai_mcp.hosts.turns import Record


def folder() -> str:
    return folder_from("CODEX_HOME", ".codex")


def _history() -> tuple[str, ...]:
    sessions = tuple(
        f"{folder()}/{kept}/**/rollout-*.{ending}"
        for kept in ("sessions", "archived_sessions")
        for ending in ("jsonl", "jsonl.zst", "json")
    )
    notes = f"{folder()}/memories"
    return (*sessions, f"{notes}/MEMORY.md", f"{notes}/rollout_summaries/*.md")


def _is_line(record: "Record") -> bool:
    if "payload" in record or record.get("type") == "message" or "record_type" in record:
        return True
    is_header = "instructions" in record and "timestamp" in record
    return is_header and not isinstance(record.get("message"), dict)


HOOKS = Hooks(
    # Seconds; Codex cuts SessionEnd to 3 and says so on every start when more is asked for.
    {
        "SessionStart": (HookEvent.START, 10),
        "UserPromptSubmit": (HookEvent.PROMPT, 5),
        "Stop": (HookEvent.STOP, 10),
        "SubagentStop": (HookEvent.SUBAGENT_STOP, 10),
        "PreCompact": (HookEvent.COMPACT, 10),
        "SessionEnd": (HookEvent.END, 3),
        "PostToolUse": (HookEvent.TOOL_USED, 5),
    },
    {"PermissionRequest": (HookEvent.ATTENTION, 5)},
    others={"PostCompact": HookEvent.COMPACT},
    matchers={"PostToolUse": "Bash|shell|shell_command|exec_command|local_shell"},
    failed_call=lazy(f"{__name__}.tool_calls", "failed_call"),
    are_installed=lambda: runs_our_hooks(os.path.join(folder(), "hooks.json")),
)

HOST = Host(
    "codex",
    "Codex",
    binaries=("codex",),
    folders=lambda: (folder(),),
    files=lazy(f"{__name__}.config", "files"),
    seen="0.169.0",
    note="Codex runs new hooks only after you have trusted them: start codex and type /hooks once.",
    adds_server="codex mcp add iai-mcp -- ",
    launch=lazy(f"{__name__}.config", "launch"),
    package=lazy("iai_mcp.hosts.plugins", "codex"),
    has_plugin=lazy(f"{__name__}.config", "has_plugin"),
    drops_plugin="codex plugin remove iai-mcp@iai-mcp",
    hooks=HOOKS,
    transcript=Transcript(
        lazy(f"{__name__}.transcript", "walk"),
        appends=True,
        related=lazy(f"{__name__}.transcript", "related"),
        history=_history,
        magic=b"\x28\xb5\x2f\xfd",  # Zstandard's
        is_line=_is_line,
    ),
)
