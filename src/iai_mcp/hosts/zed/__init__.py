"""Zed: the server in `settings.json`, which is JSON with comments."""

from iai_mcp.hosts.editing.wanted import JsonFile, WantedFile
from iai_mcp.hosts.host import Host, xdg_config
from iai_mcp.hosts.wiring import Wiring, server_entry


def _files(wiring: Wiring) -> tuple[WantedFile, ...]:
    path = xdg_config("zed", "settings.json")
    return (JsonFile(path, entries=(server_entry(wiring, "context_servers", source="custom"),)),)


HOST = Host(
    "zed",
    "Zed",
    binaries=("zed", "zeditor"),
    folders=lambda: (xdg_config("zed"),),
    files=_files,
)
