"""Claude Desktop: the server in `claude_desktop_config.json`."""

from iai_mcp.hosts.description import HostConfig, application_support, server_entry
from iai_mcp.hosts.editing.wanted import JsonFile, WantedFile
from iai_mcp.hosts.wiring import Wiring


def _files(wiring: Wiring) -> tuple[WantedFile, ...]:
    path = application_support("Claude", "claude_desktop_config.json")
    return (JsonFile(path, entries=(server_entry(wiring, "mcpServers"),)),)


CONFIG = HostConfig(
    id="claude-desktop",
    title="Claude Desktop",
    binaries=("claude-desktop",),
    folders=lambda: (application_support("Claude"),),
    files=_files,
    hooks=False,
    note="Restart Claude Desktop to let it find the tools.",
)
