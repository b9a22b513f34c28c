"""A cgroup of its own for every session, where a systemd user manager is there to give one.

Then one session that is killed for want of memory does not take the others along.
"""

import os
import shutil
from collections.abc import Sequence


def wrap(command: Sequence[str]) -> list[str] | None:
    """`command` as a transient scope; None where there is no user manager, or it is not wanted."""
    if os.environ.get("IAI_MCP_SESSION_SCOPE") == "0":
        return None
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if not runtime or not os.path.exists(os.path.join(runtime, "systemd", "private")):
        return None
    systemd_run = shutil.which("systemd-run")
    if systemd_run is None:
        return None
    return [systemd_run, "--user", "--scope", "--quiet", "--collect", "--", *command]
