"""Qwen Code: a child of Gemini CLI's, with Claude Code's names of events."""

from iai_mcp.hosts.host import HookEvent, Hooks, Host, Transcript, folder_from, in_home, lazy

TYPE_CHECKING = False  # see compact_json
if TYPE_CHECKING:
    from iai_mcp.hosts.turns import Record


def folder() -> str:
    return folder_from("QWEN_HOME", ".qwen")


def _is_line(record: "Record") -> bool:
    message = record.get("message")
    return isinstance(message, dict) and "parts" in message


HOOKS = Hooks(
    # Milliseconds.
    {
        "SessionStart": (HookEvent.START, 10_000),
        "UserPromptSubmit": (HookEvent.PROMPT, 5_000),
        "Stop": (HookEvent.STOP, 10_000),
        "SubagentStop": (HookEvent.SUBAGENT_STOP, 10_000),
        "PreCompact": (HookEvent.COMPACT, 10_000),
        "SessionEnd": (HookEvent.END, 5_000),
    },
    {
        "Notification": (HookEvent.ATTENTION, 5_000),
        "PermissionRequest": (HookEvent.ATTENTION, 5_000),
        "PostToolUse": (HookEvent.TOOL_USED, 5_000),
    },
    others={"PostCompact": HookEvent.COMPACT},
)

HOST = Host(
    "qwen",
    "Qwen Code",
    binaries=("qwen",),
    folders=lambda: (folder(),),
    files=lazy(f"{__name__}.config", "files"),
    seen="0.15.10",
    note="For one-shot prompts Qwen Code runs no session hooks: they start without memories.",
    adds_server="qwen mcp add --scope user iai-mcp ",
    launch=lazy(f"{__name__}.config", "launch"),
    hooks=HOOKS,
    transcript=Transcript(
        lazy(f"{__name__}.transcript", "walk"),
        appends=True,
        history=lambda: (in_home(".qwen", "projects", "*", "chats", "*.jsonl"),),
        is_line=_is_line,
    ),
)
