"""Codex: hooks in `hooks.json`, the server in `config.toml`."""

import os

from iai_mcp.hosts.description import HostConfig, folder_from, hook_groups, server_entry
from iai_mcp.hosts.editing.wanted import Hooks, JsonFile, TomlFile, WantedFile
from iai_mcp.hosts.wiring import Wiring

ID = "codex"

# Seconds; Codex cuts SessionEnd to 3 and says so on every start when more is asked for.
CAPTURE = {
    "SessionStart": 10,
    "UserPromptSubmit": 5,
    "Stop": 10,
    "SubagentStop": 10,
    "PreCompact": 10,
    "SessionEnd": 3,
}
STATUS = {"PermissionRequest": 5, "PostToolUse": 5}


def _folder() -> str:
    return folder_from("CODEX_HOME", ".codex")


def _files(wiring: Wiring) -> tuple[WantedFile, ...]:
    hooks = Hooks(("hooks",), hook_groups(wiring, ID, CAPTURE))
    return (
        JsonFile(os.path.join(_folder(), "hooks.json"), hooks=hooks),
        TomlFile(
            os.path.join(_folder(), "config.toml"), entries=(server_entry(wiring, "mcp_servers"),)
        ),
    )


CONFIG = HostConfig(
    id=ID,
    title="Codex",
    binaries=("codex",),
    folders=lambda: (_folder(),),
    files=_files,
    hooks=True,
    seen="0.166.0",
    note="Codex runs new hooks only after you have trusted them: start codex and type /hooks once.",
)
