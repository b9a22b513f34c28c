"""Copilot CLI: hooks in `settings.json`, the server in `mcp-config.json`."""

import os

from iai_mcp.hosts.description import HostConfig, folder_from, server_entry
from iai_mcp.hosts.editing.jsonc import Json
from iai_mcp.hosts.editing.wanted import Hooks, JsonFile, WantedFile
from iai_mcp.hosts.wiring import Wiring

ID = "copilot"

# Seconds.
CAPTURE = {
    "sessionStart": 10,
    "userPromptSubmitted": 5,
    "agentStop": 10,
    "subagentStop": 10,
    "preCompact": 10,
    "sessionEnd": 5,
}
STATUS = {"notification": 5}


def _folder() -> str:
    return folder_from("COPILOT_HOME", ".copilot")


def _hook(wiring: Wiring, event: str, timeout: int) -> Json:
    return {"type": "command", "bash": wiring.hook_line(ID, event), "timeoutSec": timeout}


def _files(wiring: Wiring) -> tuple[WantedFile, ...]:
    items = {event: _hook(wiring, event, timeout) for event, timeout in CAPTURE.items()}
    server = server_entry(wiring, "mcpServers", type="local", tools=["*"])
    return (
        JsonFile(os.path.join(_folder(), "settings.json"), hooks=Hooks(("hooks",), items)),
        JsonFile(os.path.join(_folder(), "mcp-config.json"), entries=(server,)),
    )


CONFIG = HostConfig(
    id=ID,
    title="Copilot CLI",
    binaries=("copilot",),
    folders=lambda: (_folder(),),
    files=_files,
    hooks=True,
    seen="1.0.102",
)
