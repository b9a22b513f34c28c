"""How a launched Aider keeps to itself: its histories lie in its run directory.

Aider speaks no MCP and has no hooks; what was remembered is part of the file it reads.
"""

from iai_mcp.domain.agent_profiles import AgentProfile, Flag
from iai_mcp.domain.invocations import HostTraits, Invocation, LaunchWiring
from iai_mcp.hosts.host import Host
from iai_mcp.hosts.launching import Launchable

_CHAT = "aider.chat.history.md"
_TYPED = "aider.input.history"


def _wire(launch: Invocation) -> LaunchWiring:
    resume = () if launch.resume is None else ("--restore-chat-history",)
    return LaunchWiring(
        args=(
            # By default both lie at the git root, where agents would share them.
            "--chat-history-file",
            launch.in_run_dir(_CHAT),
            "--input-history-file",
            launch.in_run_dir(_TYPED),
            "--no-gitignore",
            "--no-check-update",
            *resume,
        ),
        types_prompt=True,
        keeps=(_CHAT, _TYPED),
    )


_PROFILE = AgentProfile(
    id="aider",
    name="Aider",
    command="aider",
    injection=Flag("--read"),
    detect="aider --version",
    host="aider",
    install="pip install aider-chat",
)

HOST = Host(
    "aider",
    "Aider",
    unwired="Aider has neither hooks nor MCP servers",
    launch=lambda: Launchable(_PROFILE, HostTraits(verified="0.86.2"), _wire),
)
