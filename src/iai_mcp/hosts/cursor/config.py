"""Cursor, the editor and its command line: hooks in `hooks.json`, the server in `mcp.json`."""

import os

from iai_mcp.hosts.description import HostConfig, in_home, server_entry
from iai_mcp.hosts.editing.jsonc import Json
from iai_mcp.hosts.editing.wanted import Hooks, JsonFile, WantedFile
from iai_mcp.hosts.wiring import Wiring

ID = "cursor"

CAPTURE = ("sessionStart", "stop", "subagentStop", "preCompact", "sessionEnd")
STATUS = ("beforeSubmitPrompt",)


def _folder() -> str:
    return in_home(".cursor")


def _files(wiring: Wiring) -> tuple[WantedFile, ...]:
    items: dict[str, Json] = {event: {"command": wiring.hook_line(ID, event)} for event in CAPTURE}
    return (
        JsonFile(
            os.path.join(_folder(), "hooks.json"),
            hooks=Hooks(("hooks",), items),
            frame={"version": 1},
        ),
        JsonFile(
            os.path.join(_folder(), "mcp.json"), entries=(server_entry(wiring, "mcpServers"),)
        ),
    )


CONFIG = HostConfig(
    id=ID,
    title="Cursor",
    binaries=("cursor-agent", "cursor"),
    folders=lambda: (_folder(),),
    files=_files,
    hooks=True,
)
