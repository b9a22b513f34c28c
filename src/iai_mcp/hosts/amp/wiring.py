"""How a launched Amp gets its memory: workspace settings in its run directory."""

from iai_mcp.domain.invocations import HostTraits, Invocation, LaunchWiring
from iai_mcp.hosts.run_files import json_file, stdio_server
from iai_mcp.hosts.wiring import SERVER

TRAITS = HostTraits()


def wire(launch: Invocation) -> LaunchWiring:
    settings = {"amp.mcpServers": {SERVER: stdio_server(launch.memory)}}
    known = launch.resume.host_session_id if launch.resume else None
    return LaunchWiring(
        args=("threads", "continue", *([known] if known else [])) if launch.resume else (),
        files=(json_file(".amp/settings.json", settings),),
        types_prompt=True,
    )
