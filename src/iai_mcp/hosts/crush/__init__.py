"""How a launched Crush gets its memory, and a data directory that no other agent shares."""

from iai_mcp.domain.agent_profiles import AgentProfile, ConventionFile
from iai_mcp.domain.invocations import HostTraits, Invocation, LaunchWiring
from iai_mcp.hosts.host import Host
from iai_mcp.hosts.launching import Launchable, json_file, stdio_server
from iai_mcp.hosts.wiring import SERVER

_DATA = ".crush"


def _wire(launch: Invocation) -> LaunchWiring:
    config = {"mcp": {SERVER: {"type": "stdio", **stdio_server(launch.memory)}}}
    return LaunchWiring(
        # Without -D Crush takes the nearest .crush upward: the project's, or a colleague's.
        args=("-D", launch.in_run_dir(_DATA), *_conversation(launch)),
        files=(json_file(".crush.json", config),),
        types_prompt=True,
        keeps=(_DATA,),
    )


def _conversation(launch: Invocation) -> tuple[str, ...]:
    if launch.resume is None:
        return ()
    if launch.resume.host_session_id:
        return ("-s", launch.resume.host_session_id)
    return ("-C",)


_PROFILE = AgentProfile(
    id="crush",
    name="Crush",
    command="crush",
    injection=ConventionFile("CRUSH.md"),
    detect="crush --version",
    host="crush",
    install="npm install -g @charmland/crush",
)

HOST = Host(
    "crush",
    "Crush",
    unwired="Crush is wired per project when an agent is launched",
    launch=lambda: Launchable(_PROFILE, HostTraits(), _wire),
)
