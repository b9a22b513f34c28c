"""The calls about terminal sessions, by their wire names.

Attaching is not among them: nothing is sent unasked on this socket, and a session's own socket
is there for that.
"""

import base64
import binascii

from iai_mcp.domain.errors import InvalidInput
from iai_mcp.domain.terminals import LARGEST, TerminalSize
from iai_mcp.memory.params import Params
from iai_mcp.terminal import answers, registry
from iai_mcp.terminal.adapter import HolderPty
from iai_mcp.terminal.records import SessionRecord
from iai_mcp.workspace.params import optional_text
from iai_mcp.workspace.root import Workspace
from iai_mcp.workspace.views import Json

_UNTIL = ("idle", "waiting", "running", "exited")
_LONGEST_WAIT = 300  # seconds: a call that waits has a thread of the daemon for itself


def list_all(_workspace: Workspace, params: Params) -> Json:
    return answers.listing(_found(params))[0]


def send(_workspace: Workspace, params: Params) -> Json:
    text = params.text("text")
    return answers.send(_named(params), text, enter=params.flag("enter", default=True))


def broadcast(_workspace: Workspace, params: Params) -> Json:
    params.text("project")
    return {"sent": answers.broadcast(_found(params), params.text("text"))}


def logs(_workspace: Workspace, params: Params) -> Json:
    lines = params.integer("lines", 0, 1, 1_000_000) if params.has("lines") else None
    return answers.logs(_named(params), raw=params.flag("raw"), lines=lines)


def kill(_workspace: Workspace, params: Params) -> Json:
    return answers.kill(_named(params))


def wait(_workspace: Workspace, params: Params) -> Json:
    until = params.text("until", "idle")
    if until not in _UNTIL:
        raise InvalidInput(f"until must be one of {', '.join(_UNTIL)}")
    timeout = params.integer("timeout", _LONGEST_WAIT, 1, _LONGEST_WAIT)
    return answers.wait(_named(params), until, timeout)


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
    HolderPty().write(record.id, data)
    return {"session": record.id, "bytes": len(data)}


def resize(_workspace: Workspace, params: Params) -> Json:
    record = _named(params)
    params.need("rows")
    params.need("cols")
    rows, cols = (params.integer(name, 0, 1, LARGEST) for name in ("rows", "cols"))
    HolderPty().resize(record.id, TerminalSize(rows, cols))
    return {"session": record.id, "rows": rows, "cols": cols}


def prune(_workspace: Workspace, params: Params) -> Json:
    return answers.prune(optional_text(params, "project"), optional_text(params, "cwd"))


def _found(params: Params) -> list[SessionRecord]:
    return answers.found(optional_text(params, "project"), optional_text(params, "cwd"))


def _named(params: Params) -> SessionRecord:
    return registry.resolve(params.text("session"), _found(params))
