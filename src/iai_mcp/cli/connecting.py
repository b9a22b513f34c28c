"""The one line that adds the bridge to each agent program found on this machine."""

import shlex
import shutil
import sys


def bridge_command() -> list[str]:
    """How a host starts the bridge: an absolute path, so that no version manager is in between."""
    return [sys.executable, "-m", "iai_mcp.bridge"]


def lines() -> list[str]:
    """What to run, for each program that is here; the general form where none is."""
    from iai_mcp.hosts import every, registry

    if registry.detected() and not registry.missing():
        return []
    bridge = shlex.join(bridge_command())
    found = [
        f"  {host.title:<12} {host.adds_server}{bridge}"
        for host in every()
        if host.adds_server and shutil.which(host.binaries[0])
    ]
    if not found:
        return [
            "connect an agent program by adding this MCP server to it:",
            f"  iai-mcp      {bridge}",
        ]
    return [
        "connect your agents (capture hooks and memory tools, all at once):",
        "  iai-mcp hosts install",
        "or the memory tools alone:",
        *found,
    ]
