"""How a launched Claude Code gets its memory: settings and servers of its own, by flags.

The person's `~/.claude` stays untouched: `--settings` and `--mcp-config` add to it.
"""

from iai_mcp.domain.invocations import HostTraits, Invocation, LaunchWiring
from iai_mcp.hosts.claude_code.config import CAPTURE, STATUS, hooks
from iai_mcp.hosts.run_files import after_options, in_arrays, json_file, mcp_servers, wiring_of
from iai_mcp.hosts.wiring import SERVER

TRAITS = HostTraits(session_start_hook=True, asks_trust=True, verified="2.1.197")

# Reading our own memory is what the person asked for by launching; nothing that writes is here.
READ_ONLY_TOOLS = ("memory_recall", "memory_timeline")

_SETTINGS = "claude-settings.json"
_SERVERS = "claude-mcp.json"


def wire(launch: Invocation) -> LaunchWiring:
    ours = in_arrays(hooks(wiring_of(launch.memory), CAPTURE | STATUS))
    allowed = [f"mcp__{SERVER}__{tool}" for tool in READ_ONLY_TOOLS]
    return LaunchWiring(
        args=(
            "--settings",
            launch.in_run_dir(_SETTINGS),
            "--mcp-config",
            launch.in_run_dir(_SERVERS),
            "--add-dir",
            launch.project,
            *_conversation(launch),
            *after_options(launch.prompt),
        ),
        env={"DISABLE_AUTOUPDATER": "1"},
        files=(
            json_file(_SETTINGS, {"hooks": ours, "permissions": {"allow": allowed}}),
            json_file(_SERVERS, mcp_servers(launch.memory)),
        ),
    )


def _conversation(launch: Invocation) -> tuple[str, ...]:
    if launch.resume is None:
        return ("--session-id", launch.session_id)
    if launch.resume.host_session_id:
        return ("--resume", launch.resume.host_session_id)
    # The run directory is this agent's alone, so the latest conversation there is its own.
    return ("--continue",)


def file_flag(flag: str) -> str:
    """The variant of a flag that takes a file, so that no text is in the process list."""
    return f"{flag}-file" if flag in ("--append-system-prompt", "--system-prompt") else flag
