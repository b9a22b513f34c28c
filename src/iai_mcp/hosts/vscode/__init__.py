"""VS Code: the server in the user's `mcp.json`."""

from iai_mcp.hosts.editing.wanted import JsonFile, WantedFile
from iai_mcp.hosts.host import Host, application_support
from iai_mcp.hosts.wiring import Wiring, server_entry


def _files(wiring: Wiring) -> tuple[WantedFile, ...]:
    path = application_support("Code", "User", "mcp.json")
    return (JsonFile(path, entries=(server_entry(wiring, "servers", type="stdio"),)),)


HOST = Host(
    "vscode",
    "VS Code",
    binaries=("code",),
    folders=lambda: (application_support("Code", "User"),),
    files=_files,
)
