"""Tells a launched agent's session what the agent is doing, by its host's own word.

One line per change, appended to `$IAI_MCP_SESSION_DIR/status` in one write, so that lines of
hooks that run at the same time never mix.
"""

import os
import time

from iai_mcp.capture.host_input import Input
from iai_mcp.capture.moments import Moment
from iai_mcp.protocol.compact_json import dumps

# Notices that ask nothing of anybody.
_IDLE_NOTICES = ("idle_prompt",)
_MERE_NEWS = ("auth_success",)


def report(moment: Moment, given: Input) -> None:
    """Append the status that this moment means, if it means one."""
    status = status_of(moment, given)
    folder = os.environ.get("IAI_MCP_SESSION_DIR")
    if status is None or not folder:
        return
    line = dumps({"status": status, "ts": round(time.time(), 3), "source": "hook"}) + "\n"
    try:
        path = os.path.join(folder, "status")
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(descriptor, line.encode())
        finally:
            os.close(descriptor)
    except OSError:
        return  # the session's directory is gone, and so is whoever would read this


def status_of(moment: Moment, given: Input) -> str | None:
    """running, idle, waiting, or None where the moment says nothing about it."""
    if moment in (Moment.PROMPT, Moment.TOOL_USED):
        return "running"
    if moment in (Moment.START, Moment.STOP, Moment.END):
        return "idle"
    if moment is Moment.ATTENTION:
        notice = given.text("notification_type", "notificationType")
        if notice in _MERE_NEWS:
            return None
        return "idle" if notice in _IDLE_NOTICES else "waiting"
    return None
