"""`iai-mcp mcp`: what an MCP host starts. Speaks MCP on stdin and stdout for the daemon.

It starts in milliseconds, holds no memory of its own, and never starts a daemon.
"""

import os
import sys

from iai_mcp import paths
from iai_mcp.bridge.pump import Pump

# What a launched agent's processes carry, and under which name the daemon is told.
_FROM_ENVIRONMENT = (
    ("IAI_MCP_PROJECT", "project"),
    ("IAI_MCP_SESSION_ID", "session_id"),
    ("IAI_MCP_AGENT_ID", "agent_id"),
    ("IAI_MCP_AGENT_NAME", "agent_name"),
)


def main() -> int:
    """Serve one host until it closes our stdin. Always 0: a host's log is no place for drama."""
    try:
        Pump(_context()).run()
    except KeyboardInterrupt:
        return 0
    return 0


def _context() -> dict[str, str]:
    context = {name: os.environ.get(variable, "") for variable, name in _FROM_ENVIRONMENT}
    try:
        context["cwd"] = paths.seen_from_home(os.getcwd())
    except OSError:
        # The directory was removed under us; the rest is still true.
        context["cwd"] = ""
    context["project"] = paths.seen_from_home(context["project"])
    return {name: value for name, value in context.items() if value}


if __name__ == "__main__":
    sys.exit(main())
