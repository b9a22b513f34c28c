"""How a launched Kimi CLI gets its memory: a server file by flag."""

from iai_mcp.domain.agent_profiles import AgentProfile, ConventionFile
from iai_mcp.domain.invocations import HostTraits, Invocation, LaunchWiring
from iai_mcp.hosts.host import Host
from iai_mcp.hosts.launching import Launchable, json_file, mcp_servers

_SERVERS = "kimi-mcp.json"


def _wire(launch: Invocation) -> LaunchWiring:
    return LaunchWiring(
        args=(
            "--mcp-config-file",
            launch.in_run_dir(_SERVERS),
            "--add-dir",
            launch.place,
            *_conversation(launch),
        ),
        files=(json_file(_SERVERS, mcp_servers(launch.memory)),),
        types_prompt=True,
    )


def _conversation(launch: Invocation) -> tuple[str, ...]:
    if launch.resume is None:
        return ()
    if launch.resume.host_session_id:
        return ("-S", launch.resume.host_session_id)
    return ("-C",)


_PROFILE = AgentProfile(
    id="kimi",
    name="Kimi CLI",
    command="kimi",
    injection=ConventionFile("AGENTS.md"),
    detect="kimi -V",
    host="kimi",
    install="uv tool install kimi-cli",
)

HOST = Host(
    "kimi",
    "Kimi CLI",
    unwired="Kimi CLI takes MCP servers per start: --mcp-config-file",
    launch=lambda: Launchable(_PROFILE, HostTraits(), _wire),
)
