"""Gemini CLI: hooks and server in one `settings.json`."""

import os

from iai_mcp.hosts.description import HostConfig, folder_from, hook_groups, server_entry
from iai_mcp.hosts.editing.wanted import Hooks, JsonFile, WantedFile
from iai_mcp.hosts.wiring import Wiring

ID = "gemini"

# Milliseconds. PreCompress is left out: Gemini fires it before every request, and the
# transcript loses nothing when it compresses.
CAPTURE = {"SessionStart": 10_000, "BeforeAgent": 5_000, "AfterAgent": 10_000, "SessionEnd": 5_000}
STATUS = {"Notification": 5_000, "AfterTool": 5_000}


def _folder() -> str:
    return os.path.join(folder_from("GEMINI_CLI_HOME"), ".gemini")


def _files(wiring: Wiring) -> tuple[WantedFile, ...]:
    hooks = Hooks(("hooks",), hook_groups(wiring, ID, CAPTURE, name="iai-mcp"))
    path = os.path.join(_folder(), "settings.json")
    return (JsonFile(path, entries=(server_entry(wiring, "mcpServers"),), hooks=hooks),)


CONFIG = HostConfig(
    id=ID,
    title="Gemini CLI",
    binaries=("gemini",),
    folders=lambda: (_folder(),),
    files=_files,
    hooks=True,
    seen="0.61.0",
)
