"""How a launched Kimi CLI gets its memory: a server file by flag."""

from iai_mcp.domain.invocations import HostTraits, Invocation, LaunchWiring
from iai_mcp.hosts.run_files import json_file, mcp_servers

TRAITS = HostTraits()

_SERVERS = "kimi-mcp.json"


def wire(launch: Invocation) -> LaunchWiring:
    return LaunchWiring(
        args=(
            "--mcp-config-file",
            launch.in_run_dir(_SERVERS),
            "--add-dir",
            launch.project,
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
