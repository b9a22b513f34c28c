"""How any other program gets its memory: `.mcp.json`, the name most of them look for."""

from iai_mcp.domain.agent_profiles import AgentProfile, EnvVariable
from iai_mcp.domain.invocations import HostTraits, Invocation, LaunchWiring
from iai_mcp.hosts.host import Host
from iai_mcp.hosts.launching import Launchable, json_file, mcp_servers


def _wire(launch: Invocation) -> LaunchWiring:
    return LaunchWiring(
        files=(json_file(".mcp.json", mcp_servers(launch.memory)),), types_prompt=True
    )


_PROFILE = AgentProfile(
    id="shell",
    name="Shell",
    command="bash",
    injection=EnvVariable("IAI_MCP_CONTEXT_FILE"),
    detect="bash --version",
    host="shell",
)

HOST = Host(
    "shell",
    "Shell",
    launch=lambda: Launchable(_PROFILE, HostTraits(), _wire),
)
