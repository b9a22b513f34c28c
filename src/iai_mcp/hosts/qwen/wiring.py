"""How a launched Qwen Code gets its memory: workspace settings in its run directory."""

from iai_mcp.domain.invocations import HostTraits, Invocation, LaunchWiring
from iai_mcp.hosts.qwen.config import CAPTURE, ID, STATUS
from iai_mcp.hosts.run_files import grouped_hooks, json_file, mcp_servers, one_of_a_list

TRAITS = HostTraits(session_start_hook=True, verified="0.15.10")


def wire(launch: Invocation) -> LaunchWiring:
    settings = {
        **mcp_servers(launch.memory),
        "hooks": grouped_hooks(launch.memory, ID, CAPTURE | STATUS, name="iai-mcp"),
        "general": {"enableAutoUpdate": False},
    }
    return LaunchWiring(
        args=(
            "--include-directories",
            one_of_a_list(launch.project),
            *_conversation(launch),
            *(() if launch.prompt is None else (f"--prompt-interactive={launch.prompt}",)),
        ),
        files=(json_file(".qwen/settings.json", settings),),
    )


def _conversation(launch: Invocation) -> tuple[str, ...]:
    if launch.resume is None:
        return ()
    if launch.resume.host_session_id:
        return ("--resume", launch.resume.host_session_id)
    return ("--continue",)
