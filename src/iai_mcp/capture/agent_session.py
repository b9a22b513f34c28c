"""What hooks do only for agents that we launched: tell what the agent is doing, and in which conversation."""

import os
import time

from iai_mcp import paths
from iai_mcp.hosts.host import HookEvent
from iai_mcp.protocol import peers
from iai_mcp.protocol.compact_json import dumps, loads

TYPE_CHECKING = False  # see compact_json
if TYPE_CHECKING:
    from iai_mcp.capture.hook import HookInput

# Notices that ask nothing of anybody.
_IDLE_NOTICES = ("idle_prompt",)
_MERE_NEWS = ("auth_success",)
# A conversation that begins this way holds nothing yet.
_EMPTY = ("startup", "clear")
_SAID = 8  # the frame of `terminal/frames.py`
_LONGEST_LINE = 200
_PATIENCE = 0.2  # seconds for a holder to take a line


def report_status(event: HookEvent, given: "HookInput") -> None:
    """Append the status that this event means, if it means one, to the session's `status` file.

    One line in one write, so that lines of hooks that run at the same time never mix.
    """
    status = _status_of(event, given)
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


def _status_of(event: HookEvent, given: "HookInput") -> str | None:
    """running, idle, waiting, started, or None where the event says nothing about it."""
    if event in (HookEvent.PROMPT, HookEvent.TOOL_USED, HookEvent.TOOL_FAILED):
        return "running"
    if event is HookEvent.START:
        return "started"
    if event in (HookEvent.STOP, HookEvent.END):
        return "idle"
    if event is HookEvent.ATTENTION:
        notice = given.text("notification_type")
        if notice in _MERE_NEWS:
            return None
        return "idle" if notice in _IDLE_NOTICES else "waiting"
    return None


def tell_last_words(given: "HookInput") -> None:
    """Tell the session's holder the last line of what the agent said: over its socket, not by a file.

    For lists. The terminal's own last line is a hint of the program's.
    """
    folder = os.environ.get("IAI_MCP_SESSION_DIR", "")
    lines = [line.strip() for line in (given.last_answer or "").splitlines() if line.strip()]
    if not lines or not _in_run_directory(given):
        return
    import _socket  # see `peers`

    words = lines[-1][:_LONGEST_LINE].encode("utf-8", "replace")
    try:
        with open(os.path.join(folder, "meta.json"), encoding="utf-8") as file:
            meta = loads(file.read())
        path = meta.get("socket") if isinstance(meta, dict) else None
        holder = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        holder.settimeout(_PATIENCE)
        peers.connect(holder, str(path))
        holder.sendall(bytes((_SAID,)) + len(words).to_bytes(4, "big") + words)
        holder.close()
    except (OSError, ValueError):
        return  # the holder has gone, or takes nothing: the list shows what it showed before


def note_conversation(event: HookEvent, given: "HookInput") -> None:
    """Write down in which conversation of its host the agent's session is, for `agent resume`.

    Hosts give a conversation an id of their own, and a new one when a person starts over; they keep
    none in which nothing was said. So there is a line for each that `begun`, and for each in which
    something was `said`: session, conversation, which of the two.

    The notes lie in the user data, under the key that the launch gave: nobody but this person writes
    there. Only what runs in the agent's own run directory counts: another program that the agent
    starts somewhere else inherits the same variables.
    """
    key = os.environ.get("IAI_MCP_LAUNCH", "")
    names = (os.environ.get("IAI_MCP_SESSION_ID", ""), given.session_id or "")
    in_words = all(len(name.split()) == 1 for name in names)
    if not in_words or not key.isalnum() or not _in_run_directory(given):
        return
    empty = (
        event is HookEvent.START
        and given.text("source") in _EMPTY
        and given.hooks.has(HookEvent.PROMPT)
    )
    line = f"{' '.join(names)} {'begun' if empty else 'said'}\n".encode("utf-8", "replace")
    path = paths.in_user_data("launches", f"{key}.conversation")
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            end = os.fstat(descriptor).st_size
            # Every prompt says the same.
            if os.pread(descriptor, len(line), max(0, end - len(line))) != line:
                os.write(descriptor, line)
        finally:
            os.close(descriptor)
    except OSError:
        return  # the user data is gone: nobody will resume anything


def _in_run_directory(given: "HookInput") -> bool:
    agent = os.environ.get("IAI_MCP_AGENT_ID", "")
    project = os.environ.get("IAI_MCP_PROJECT", "")
    if not project or not agent:
        return False
    run = os.path.join(project, ".ideai", "run", agent)
    return os.path.realpath(given.cwd) == os.path.realpath(run)
