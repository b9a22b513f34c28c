"""Claude Desktop: the server in `claude_desktop_config.json`."""

from iai_mcp.hosts.editing.wanted import JsonFile, WantedFile
from iai_mcp.hosts.host import Host, application_support
from iai_mcp.hosts.wiring import Wiring, server_entry


def _files(wiring: Wiring) -> tuple[WantedFile, ...]:
    path = application_support("Claude", "claude_desktop_config.json")
    return (JsonFile(path, entries=(server_entry(wiring, "mcpServers"),)),)


HOST = Host(
    "claude-desktop",
    "Claude Desktop",
    binaries=("claude-desktop",),
    folders=lambda: (application_support("Claude"),),
    files=_files,
    note="Restart Claude Desktop to let it find the tools.",
)
