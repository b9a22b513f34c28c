"""How any other program gets its memory: `.mcp.json`, the name most of them look for."""

from iai_mcp.domain.invocations import HostTraits, Invocation, LaunchWiring
from iai_mcp.hosts.run_files import json_file, mcp_servers

TRAITS = HostTraits()


def wire(launch: Invocation) -> LaunchWiring:
    return LaunchWiring(
        files=(json_file(".mcp.json", mcp_servers(launch.memory)),), types_prompt=True
    )
