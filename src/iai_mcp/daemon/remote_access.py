"""What callers on other machines may do: those that connect to the second socket.

ssh forwards other machines to that socket and to no other. Whoever has an account there may be the
caller, so every one is a visitor, and none can be in a directory of this machine.
"""

from collections.abc import Mapping

from iai_mcp import __version__
from iai_mcp.domain.errors import InvalidInput
from iai_mcp.domain.projects.identity import is_elsewhere, is_path

Json = dict[str, object]

_FOR_HOOKS = frozenset(
    {"capture_events", "session_start_payload", "prompt_injection", "after_failure"}
)


def admitted(method: str, params: object) -> Json:
    """The params of a call as it is made for a visitor from another machine.

    Raises:
        InvalidInput: nobody over there may make it.
    """
    if method not in _FOR_HOOKS:
        raise InvalidInput(f"{method} is not for another machine: call it on the memory's own")
    given = _from_there(params if isinstance(params, dict) else {})
    events = given.get("events")
    if isinstance(events, list):
        given["events"] = [_from_there(one) if isinstance(one, dict) else one for one in events]
    return given


def of_session(method: str, params: Mapping[str, object]) -> Json:
    """The params of a call of an MCP session over there. Who asks may name a project of this machine,
    as any visitor may; who captures may not put anything into one."""
    if method == "memory_capture":
        return _from_there(params)
    return {**params, "cwd": _from_there({"cwd": params.get("cwd")}).get("cwd", "")}


def control(message: Mapping[str, object]) -> Json:
    """The control plane is the owner's: over there they learn that somebody answers."""
    if message.get("type") == "status":
        return {"ok": True, "version": __version__}
    return {"ok": False, "reason": "refused", "error": "this is not for another machine"}


def _from_there(fields: Mapping[str, object]) -> Json:
    """Without a place that would be one on this machine: who is somewhere is on a machine that is named,
    and a project may also be a name."""
    return {name: value for name, value in fields.items() if not _is_here(name, value)}


def _is_here(name: str, place: object) -> bool:
    if name not in ("cwd", "project") or not isinstance(place, str) or is_elsewhere(place):
        return False
    return name == "cwd" or is_path(place)
