"""Methods about terminal sessions.

Attaching is not among them: nothing is sent unasked on this socket, and a session's own socket
is there for that.
"""

import base64
import binascii

from iai_mcp.api import session_views as views
from iai_mcp.api.table import Json, Method
from iai_mcp.domain.agents.terminal import LARGEST, TerminalSize
from iai_mcp.domain.errors import InvalidInput
from iai_mcp.protocol.params import Params
from iai_mcp.remote import all_sessions
from iai_mcp.remote.all_sessions import AllSessions
from iai_mcp.terminal.records import SessionRecord
from iai_mcp.workspace import Workspace

_UNTIL = ("idle", "waiting", "running", "exited")
_LONGEST_WAIT = 300  # seconds: a call that waits has a thread of the daemon for itself


def list_all(_workspace: Workspace, params: Params) -> Json:
    everything = _everywhere(params)
    return views.listing_view(everything.listed(), everything.problems)


def send(_workspace: Workspace, params: Params) -> Json:
    text, record = params.text("text"), _named(params)
    done = all_sessions.send(record, text, enter=params.flag("enter", default=True))
    return views.delivery_view(record, done)


def broadcast(_workspace: Workspace, params: Params) -> Json:
    params.text("project")
    records = _everywhere(params).found()
    return views.broadcast_view(all_sessions.broadcast(records, params.text("text")))


def logs(_workspace: Workspace, params: Params) -> Json:
    lines = params.integer("lines", 0, 1, 1_000_000) if params.has("lines") else None
    record = _named(params)
    text = all_sessions.logs(record, plain=not params.flag("raw"), lines=lines)
    return views.logs_view(record, text)


def kill(_workspace: Workspace, params: Params) -> Json:
    record = _named(params)
    return views.killed_view(record, all_sessions.kill(record))


def wait(_workspace: Workspace, params: Params) -> Json:
    until = params.text("until", "idle")
    if until not in _UNTIL:
        raise InvalidInput(f"until must be one of {', '.join(_UNTIL)}")
    timeout = params.integer("timeout", _LONGEST_WAIT, 1, _LONGEST_WAIT)
    return views.reached_view(all_sessions.wait(_named(params), until, timeout))


def write(_workspace: Workspace, params: Params) -> Json:
    """Type bytes as they are: `data` in base64, or `text`."""
    record = _named(params)
    if params.has("data"):
        try:
            data = base64.b64decode(params.text("data"), validate=True)
        except binascii.Error as bad:
            raise InvalidInput("data must be base64") from bad
    else:
        data = params.text("text").encode()
    all_sessions.pty(record).write(record.id, data)
    return {"session": record.id, "bytes": len(data)}


def resize(_workspace: Workspace, params: Params) -> Json:
    record = _named(params)
    params.need("rows")
    params.need("cols")
    rows, cols = (params.integer(name, 0, 1, LARGEST) for name in ("rows", "cols"))
    all_sessions.pty(record).resize(record.id, TerminalSize(rows, cols))
    return {"session": record.id, "rows": rows, "cols": cols}


def prune(_workspace: Workspace, params: Params) -> Json:
    project, cwd = params.optional_text("project"), params.optional_text("cwd")
    return views.pruned_view(all_sessions.prune(project, cwd))


def _everywhere(params: Params) -> AllSessions:
    return AllSessions(params.optional_text("project"), params.optional_text("cwd"))


def _named(params: Params) -> SessionRecord:
    return _everywhere(params).named(params.text("session"))


METHODS: tuple[Method[Workspace], ...] = (
    Method("sessions_list", list_all, page=True),
    Method("sessions_send", send, page=True, types=True),
    Method("sessions_broadcast", broadcast),
    Method("sessions_logs", logs, page=True),
    Method("sessions_kill", kill, page=True),
    Method("sessions_wait", wait),
    Method("sessions_write", write),
    Method("sessions_resize", resize),
    Method("sessions_prune", prune),
)
