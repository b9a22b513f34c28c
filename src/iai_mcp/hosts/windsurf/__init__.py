"""Windsurf: the server in `mcp_config.json`."""

from iai_mcp.hosts.editing.wanted import JsonFile, WantedFile
from iai_mcp.hosts.host import Host, in_home
from iai_mcp.hosts.wiring import Wiring, server_entry


def _files(wiring: Wiring) -> tuple[WantedFile, ...]:
    path = in_home(".codeium", "windsurf", "mcp_config.json")
    return (JsonFile(path, entries=(server_entry(wiring, "mcpServers"),)),)


HOST = Host(
    "windsurf",
    "Windsurf",
    binaries=("windsurf",),
    folders=lambda: (in_home(".codeium", "windsurf"),),
    files=_files,
)
