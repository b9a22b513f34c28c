"""How a launched Cursor CLI gets its memory: `.cursor/` in its run directory."""

from iai_mcp.domain.invocations import HostTraits, Invocation, LaunchWiring
from iai_mcp.hosts.cursor.config import CAPTURE, ID, STATUS
from iai_mcp.hosts.run_files import after_options, json_file, mcp_servers, wiring_of

TRAITS = HostTraits(session_start_hook=True, asks_trust=True)


def wire(launch: Invocation) -> LaunchWiring:
    wiring = wiring_of(launch.memory)
    hooks = {event: [{"command": wiring.hook_line(ID, event)}] for event in (*CAPTURE, *STATUS)}
    return LaunchWiring(
        args=(*_conversation(launch), *after_options(launch.prompt)),
        files=(
            json_file(".cursor/mcp.json", mcp_servers(launch.memory)),
            json_file(".cursor/hooks.json", {"version": 1, "hooks": hooks}),
        ),
    )


def _conversation(launch: Invocation) -> tuple[str, ...]:
    if launch.resume is None:
        return ()
    if launch.resume.host_session_id:
        return ("--resume", launch.resume.host_session_id)
    return ("resume",)
