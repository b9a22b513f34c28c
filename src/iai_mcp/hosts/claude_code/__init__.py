"""Claude Code, which many others took after."""

import os

from iai_mcp.hosts.host import HookEvent, Hooks, Host, Transcript, folder_from, lazy, runs_our_hooks

TYPE_CHECKING = False  # see compact_json
if TYPE_CHECKING:
    from iai_mcp.hosts.turns import Record


def folder() -> str:
    return folder_from("CLAUDE_CONFIG_DIR", ".claude")


def _history() -> tuple[str, ...]:
    projects = os.path.join(folder(), "projects")
    return (
        f"{projects}/*/*.jsonl",
        f"{projects}/*/*/subagents/**/*.jsonl",
        f"{projects}/*/memory/*.md",
    )


def _is_line(record: "Record") -> bool:
    message = record.get("message")
    spoken = record.get("type") in ("user", "assistant") and isinstance(message, dict)
    return spoken and "parts" not in message  # type: ignore[operator]  # it is a dictionary


def _fork() -> str:
    """SessionStart of `--fork-session` is told the parent's id and transcript; the fork's own id
    stands only in `…/session-env/<session>/sessionstart-hook-0.sh`, and its file comes with its answer.
    A session that is resumed without a fork has an id there that never comes."""
    parts = os.environ.get("CLAUDE_ENV_FILE", "").split("/")
    return parts[-2] if parts[-3:-2] == ["session-env"] else ""


HOOKS = Hooks(
    # Seconds. We need a fraction of one; SessionEnd's hooks share 1.5 s whatever stands here.
    {
        "SessionStart": (HookEvent.START, 10),
        "UserPromptSubmit": (HookEvent.PROMPT, 5),
        "Stop": (HookEvent.STOP, 10),
        "SubagentStop": (HookEvent.SUBAGENT_STOP, 10),
        "PreCompact": (HookEvent.COMPACT, 10),
        "SessionEnd": (HookEvent.END, 5),
        "PostToolUseFailure": (HookEvent.TOOL_FAILED, 5),
    },
    {
        "Notification": (HookEvent.ATTENTION, 5),
        "PermissionRequest": (HookEvent.ATTENTION, 5),
        "PostToolUse": (HookEvent.TOOL_USED, 5),
    },
    others={"PostCompact": HookEvent.COMPACT},
    matchers={"PostToolUseFailure": "Bash"},
    failed_call=lazy(f"{__name__}.tool_calls", "failed_call"),
    fork=_fork,
    # Cursor's command line runs Claude Code's hooks, too.
    borrowed_by={"cursor_version": "cursor"},
    are_installed=lambda: runs_our_hooks(os.path.join(folder(), "settings.json")),
)

HOST = Host(
    "claude-code",
    "Claude Code",
    binaries=("claude",),
    folders=lambda: (folder(),),
    files=lazy(f"{__name__}.config", "files"),
    seen="2.1.327",
    adds_server="claude mcp add --scope user iai-mcp -- ",
    launch=lazy(f"{__name__}.config", "launch"),
    package=lazy("iai_mcp.hosts.plugins", "claude_code"),
    has_plugin=lazy(f"{__name__}.config", "has_plugin"),
    drops_plugin="claude plugin uninstall iai-mcp@iai-mcp",
    hooks=HOOKS,
    transcript=Transcript(
        lazy(f"{__name__}.transcript", "walk"),
        appends=True,
        related=lazy(f"{__name__}.transcript", "related"),
        history=_history,
        is_line=_is_line,
        document_keys=("loglines",),
    ),
)
