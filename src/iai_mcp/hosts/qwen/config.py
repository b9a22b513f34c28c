"""Qwen Code: Gemini CLI's settings file with Claude Code's names of events."""

import os

from iai_mcp.hosts.description import HostConfig, folder_from, hook_groups, server_entry
from iai_mcp.hosts.editing.wanted import Hooks, JsonFile, WantedFile
from iai_mcp.hosts.wiring import Wiring

ID = "qwen"

# Milliseconds.
CAPTURE = {
    "SessionStart": 10_000,
    "UserPromptSubmit": 5_000,
    "Stop": 10_000,
    "SubagentStop": 10_000,
    "PreCompact": 10_000,
    "SessionEnd": 5_000,
}
STATUS = {"Notification": 5_000, "PermissionRequest": 5_000, "PostToolUse": 5_000}


def _folder() -> str:
    return folder_from("QWEN_HOME", ".qwen")


def _files(wiring: Wiring) -> tuple[WantedFile, ...]:
    hooks = Hooks(("hooks",), hook_groups(wiring, ID, CAPTURE, name="iai-mcp"))
    path = os.path.join(_folder(), "settings.json")
    return (JsonFile(path, entries=(server_entry(wiring, "mcpServers"),), hooks=hooks),)


CONFIG = HostConfig(
    id=ID,
    title="Qwen Code",
    binaries=("qwen",),
    folders=lambda: (_folder(),),
    files=_files,
    hooks=True,
    seen="0.15.10",
    note="For one-shot prompts Qwen Code runs no session hooks: they start without memories.",
)
