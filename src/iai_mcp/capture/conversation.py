"""Notes which conversation a launched agent is in, so that `agent resume` can take it up again.

Hosts give a conversation an id of their own, and a new one when a person starts over. The note
lies beside the agent's run directory, where the launch looks for it.
"""

import os

from iai_mcp.capture.host_input import Input


def note(given: Input) -> None:
    """Write down the host's id of the conversation that starts now.

    Only what runs in the agent's own run directory counts: another program that the agent
    starts somewhere else inherits the same variables.
    """
    path = _path(given)
    if path is None or not given.session_id:
        return
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            os.write(descriptor, given.session_id.encode("utf-8", "replace") + b"\n")
        finally:
            os.close(descriptor)
        os.replace(temporary, path)
    except OSError:
        return  # the agent was deleted meanwhile: nobody will resume it


def _path(given: Input) -> str | None:
    agent = os.environ.get("IAI_MCP_AGENT_ID", "")
    project = os.environ.get("IAI_MCP_PROJECT", "")
    if not project or not agent or "/" in agent or agent.startswith("."):
        return None
    runs = os.path.join(project, ".ideai", "run")
    if os.path.realpath(given.cwd) != os.path.realpath(os.path.join(runs, agent)):
        return None
    return os.path.join(runs, ".launches", f"{agent}.conversation")
