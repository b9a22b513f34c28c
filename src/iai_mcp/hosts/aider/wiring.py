"""How a launched Aider keeps to itself: its histories lie in its run directory.

Aider speaks no MCP and has no hooks; what was remembered is part of the file it reads.
"""

from iai_mcp.domain.invocations import HostTraits, Invocation, LaunchWiring

TRAITS = HostTraits(verified="0.86.2")

_CHAT = "aider.chat.history.md"
_TYPED = "aider.input.history"


def wire(launch: Invocation) -> LaunchWiring:
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
