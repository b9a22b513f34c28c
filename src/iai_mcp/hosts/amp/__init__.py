"""How a launched Amp gets its memory: workspace settings in its run directory."""

from iai_mcp.domain.agent_profiles import AgentProfile, ConventionFile
from iai_mcp.domain.invocations import HostTraits, Invocation, LaunchWiring
from iai_mcp.hosts.host import Host
from iai_mcp.hosts.launching import Launchable, json_file, stdio_server
from iai_mcp.hosts.wiring import SERVER


def _wire(launch: Invocation) -> LaunchWiring:
    settings = {"amp.mcpServers": {SERVER: stdio_server(launch.memory)}}
    known = launch.resume.host_session_id if launch.resume else None
    return LaunchWiring(
        args=("threads", "continue", *([known] if known else [])) if launch.resume else (),
        files=(json_file(".amp/settings.json", settings),),
        types_prompt=True,
    )


_PROFILE = AgentProfile(
    id="amp",
    name="Amp",
    command="amp",
    injection=ConventionFile("AGENTS.md"),
    detect="amp --version",
    host="amp",
    install="npm install -g @sourcegraph/amp",
)

HOST = Host(
    "amp",
    "Amp",
    unwired="Amp is wired per project when an agent is launched",
    launch=lambda: Launchable(_PROFILE, HostTraits(), _wire),
)
