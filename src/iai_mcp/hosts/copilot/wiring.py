"""How a launched Copilot CLI gets its memory: a server file by flag."""

from iai_mcp.domain.invocations import HostTraits, Invocation, LaunchWiring
from iai_mcp.hosts.run_files import json_file, mcp_servers

TRAITS = HostTraits(asks_trust=True, verified="1.0.102")

_SERVERS = "copilot-mcp.json"


def wire(launch: Invocation) -> LaunchWiring:
    return LaunchWiring(
        args=(
            "--additional-mcp-config",
            f"@{launch.in_run_dir(_SERVERS)}",
            "--add-dir",
            launch.project,
            *_conversation(launch),
            *(() if launch.prompt is None else (f"--interactive={launch.prompt}",)),
        ),
        env={"COPILOT_AUTO_UPDATE": "false"},
        files=(json_file(_SERVERS, mcp_servers(launch.memory, type="local", tools=["*"])),),
    )


def _conversation(launch: Invocation) -> tuple[str, ...]:
    if launch.resume is None:
        return (f"--session-id={launch.session_id}",)
    # `--continue` would take the latest session of any directory, a colleague's too.
    known = launch.resume.host_session_id or launch.resume.assigned_id
    return (f"--resume={known}",) if known else ("--resume",)
