"""Notes which conversation a launched agent is in, so that `agent resume` can take it up again.

Hosts give a conversation an id of their own, and a new one when a person starts over. The note
lies in the user data, under the key that the launch gave: nobody but this person writes there.
"""

import os

from iai_mcp import paths
from iai_mcp.capture.host_input import Input


def note(given: Input) -> None:
    """Write down the host's id of the conversation that starts now.

    Only what runs in the agent's own run directory counts: another program that the agent
    starts somewhere else inherits the same variables.
    """
    key = os.environ.get("IAI_MCP_LAUNCH", "")
    if not given.session_id or not key.isalnum() or not _in_run_directory(given):
        return
    path = paths.in_user_data("launches", f"{key}.conversation")
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            os.write(descriptor, given.session_id.encode("utf-8", "replace") + b"\n")
        finally:
            os.close(descriptor)
        os.replace(temporary, path)
    except OSError:
        return  # the user data is gone: nobody will resume anything


def _in_run_directory(given: Input) -> bool:
    agent = os.environ.get("IAI_MCP_AGENT_ID", "")
    project = os.environ.get("IAI_MCP_PROJECT", "")
    if not project or not agent:
        return False
    run = os.path.join(project, ".ideai", "run", agent)
    return os.path.realpath(given.cwd) == os.path.realpath(run)
