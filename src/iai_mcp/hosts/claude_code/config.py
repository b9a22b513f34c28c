"""Claude Code: hooks in `settings.json`, the server in `.claude.json`."""

import os

from iai_mcp.hosts.description import HostConfig, folder_from, in_home, server_entry
from iai_mcp.hosts.editing.jsonc import Json
from iai_mcp.hosts.editing.wanted import Hooks, JsonFile, WantedFile
from iai_mcp.hosts.wiring import Wiring

ID = "claude-code"

# Seconds. We need a fraction of one; SessionEnd's hooks share 1.5 s whatever stands here.
CAPTURE = {
    "SessionStart": 10,
    "UserPromptSubmit": 5,
    "Stop": 10,
    "SubagentStop": 10,
    "PreCompact": 10,
    "SessionEnd": 5,
}
# Only for agents that we launch: they tell the session's list what the agent is doing.
STATUS = {"Notification": 5, "PermissionRequest": 5, "PostToolUse": 5}


def hooks(wiring: Wiring, timeouts: dict[str, int]) -> dict[str, Json]:
    """The hooks, each started without a shell (`args` present means: no shell)."""
    items: dict[str, Json] = {}
    for event, timeout in timeouts.items():
        words = wiring.hook_words(ID, event)
        hook: Json = {
            "type": "command",
            "command": words[0],
            "args": list(words[1:]),
            "timeout": timeout,
        }
        items[event] = {"hooks": [hook]}
    return items


def _folder() -> str:
    return folder_from("CLAUDE_CONFIG_DIR", ".claude")


def global_file() -> str:
    """`.claude.json` lies beside the folder, or in it when the folder was moved."""
    if os.environ.get("CLAUDE_CONFIG_DIR"):
        return os.path.join(_folder(), ".claude.json")
    return in_home(".claude.json")


def _files(wiring: Wiring) -> tuple[WantedFile, ...]:
    settings = os.path.join(_folder(), "settings.json")
    return (
        JsonFile(settings, hooks=Hooks(("hooks",), hooks(wiring, CAPTURE))),
        JsonFile(global_file(), entries=(server_entry(wiring, "mcpServers", type="stdio"),)),
    )


CONFIG = HostConfig(
    id=ID,
    title="Claude Code",
    binaries=("claude",),
    folders=lambda: (_folder(),),
    files=_files,
    hooks=True,
    seen="2.1.197",
)
