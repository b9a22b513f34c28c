"""The table of methods, as far as a page may call it: same names, same answers as on the socket.

The memory half is asked of the daemon. The agents' half is answered here, as commands do: sessions
are found by their files, and watching them neither needs the daemon nor keeps it awake.
"""

import asyncio
import json
from collections.abc import Callable
from typing import Any

from iai_mcp.api import table
from iai_mcp.client import connection
from iai_mcp.domain.errors import DaemonUnreachable, IaiError, InvalidInput, NotFound
from iai_mcp.protocol.messages import encode
from iai_mcp.protocol.params import Params

MayType = Callable[[str], bool]  # into the session of that id

_PATIENCE_SECONDS = 120.0
_STATUS = "status"
# The table refuses it to who is not in the person's own environment: the daemon. The page is.
_LAUNCH = "agents_launch"


class UnknownMethod(NotFound):
    """There is none of that name, or it is none for pages."""

    code = "UNKNOWN_METHOD"


class NoKeyboard(IaiError):
    """Whoever calls may look at that session, and not type into it."""

    code = "NO_KEYBOARD"


class Calls:
    """Answers one call after the other, or many at once."""

    def __init__(self) -> None:
        self._of_memory: frozenset[str] = frozenset()

    async def __call__(self, method: str, body: bytes, may_type: MayType) -> bytes:
        """The answer of `method` to the parameters that `body` holds, as JSON.

        Raises:
            IaiError: with a stable code and a sentence.
        """
        return await asyncio.to_thread(self._answer, method, read(body), may_type)

    def _answer(self, method: str, params: dict[str, object], may_type: MayType) -> bytes:
        if method == _STATUS:
            return encode(connection.control(_STATUS))
        of_agents = table.agent_methods().get(method)
        if of_agents is not None and of_agents.page:
            if of_agents.types and not may_type(str(params.get("session"))):
                raise NoKeyboard("take the keyboard of that session first")
            from iai_mcp.workspace import workspace_of

            named = params.get("project")
            workspace = workspace_of(named if isinstance(named, str) else None)
            if method == _LAUNCH and not params.get("print_only"):
                from iai_mcp.web import launching

                return encode(launching.launch(workspace, Params(params)))
            return encode(table.call(workspace, method, params))
        if method not in self._for_pages():
            raise UnknownMethod(f"a page can not call '{method[:60]}'")
        # Handed on unread: to read and write it anew would cost megabytes, and time.
        return connection.call_unread(method, params, _PATIENCE_SECONDS)

    def _for_pages(self) -> frozenset[str]:
        """Asked of the daemon once: to know its half of the table takes 20 MB."""
        if not self._of_memory:
            listed: Any = connection.call("methods").get("methods")
            self._of_memory = frozenset(one["name"] for one in listed if one["page"])
        return self._of_memory


def read(body: bytes) -> dict[str, object]:
    """The object that a body holds."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as bad:
        raise InvalidInput("the body must be one JSON object: the parameters") from bad
    if not isinstance(found, dict):
        raise InvalidInput("the body must be one JSON object: the parameters")
    return found


def status_of(failed: IaiError) -> int:
    """What HTTP calls it."""
    if isinstance(failed, InvalidInput):
        return 400
    if isinstance(failed, NoKeyboard):
        return 403
    if isinstance(failed, DaemonUnreachable):
        return 503
    return 404 if isinstance(failed, NotFound) else 422
