"""Windsurf: the server in `mcp_config.json`."""

from iai_mcp.hosts.description import HostConfig, in_home, server_entry
from iai_mcp.hosts.editing.wanted import JsonFile, WantedFile
from iai_mcp.hosts.wiring import Wiring


def _files(wiring: Wiring) -> tuple[WantedFile, ...]:
    path = in_home(".codeium", "windsurf", "mcp_config.json")
    return (JsonFile(path, entries=(server_entry(wiring, "mcpServers"),)),)


CONFIG = HostConfig(
    id="windsurf",
    title="Windsurf",
    binaries=("windsurf",),
    folders=lambda: (in_home(".codeium", "windsurf"),),
    files=_files,
    hooks=False,
)
