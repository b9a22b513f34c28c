"""Cursor's tool calls: its CLI writes them without ids or results, its editor's bubbles have both."""

from iai_mcp.hosts import work
from iai_mcp.hosts.turns import Event, Record, object_in, text_at
from iai_mcp.hosts.work import Call, Result, Setting

_DONE = ("completed", "error")


def in_line(content: object) -> list[Event]:
    """What a line of the CLI's transcript says was done; how it went is not written there."""
    done: list[Event] = []
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") == "tool_use":
            call = Call("", block.get("name"), block.get("input"))
            if call.is_work:
                done += work.events_of(call, Result(), Setting("cursor"))
    for event in done:
        del event["id"]  # by their words and their place among them, as the turns around them
    return done


def in_bubble(bubble: Record, name: str | None, cwd: object, request: object) -> list[Event]:
    """What a bubble of the editor says was done."""
    data = bubble.get("toolFormerData")
    if not isinstance(data, dict) or data.get("status") not in _DONE:
        return []
    mark = text_at(data, "toolCallId") or name
    given = object_in(data.get("rawArgs")) or object_in(data.get("params"))
    moment = bubble.get("timestamp") or bubble.get("createdAt")
    call = Call(mark or "", data.get("name"), given, moment)
    if not mark or not call.is_work or data.get("userDecision") == "rejected":
        return []
    told = object_in(data.get("result"))
    code = told.get("exitCode", told.get("exit_code"))
    result = Result(
        text_at(told, "output") or "",
        exit=code if isinstance(code, int) and not isinstance(code, bool) else None,
        failed=data.get("status") == "error",
    )
    return work.events_of(call, result, Setting("cursor", cwd=cwd, turn=request))
