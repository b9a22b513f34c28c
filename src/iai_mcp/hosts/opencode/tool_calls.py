"""OpenCode's tool calls: parts of the assistant's message that hold what was asked and what came."""

from iai_mcp.hosts import work
from iai_mcp.hosts.patches import Change
from iai_mcp.hosts.turns import Event, Record, text_at
from iai_mcp.hosts.work import Call, Result, Setting


def events_of(part: Record, setting: Setting) -> list[Event]:
    """What was done by one part; nothing while it still runs."""
    state, name = part.get("state"), text_at(part, "callID") or text_at(part, "id")
    if not isinstance(state, dict) or name is None:
        return []
    if state.get("status") not in ("completed", "error"):
        return []
    moment = state.get("time")
    begun, ended = (
        (moment.get("start"), moment.get("end")) if isinstance(moment, dict) else (None, None)
    )
    call = Call(name, part.get("tool"), state.get("input"), begun)
    meta = state.get("metadata")
    more = meta if isinstance(meta, dict) else {}
    if call.is_question:
        return work.exchange(call, _answers(call, more), setting, ended)
    if not call.is_work:
        return []
    return work.events_of(call, _result(state, more, begun, ended), setting)


def _result(state: Record, more: Record, begun: object, ended: object) -> Result:
    failed = state.get("status") == "error"
    error = text_at(state, "error") or ""
    if failed and "rejected permission" in error:
        return Result(not_run=True)
    code = more.get("exit")
    seconds = None
    if isinstance(begun, int | float) and isinstance(ended, int | float):
        seconds = (ended - begun) / 1000
    return Result(
        text_at(more, "output") or text_at(state, "output") or error,
        exit=code if isinstance(code, int) and not isinstance(code, bool) else None,
        failed=failed,
        changes=_changes(more),
        seconds=seconds,
    )


def _changes(more: Record) -> list[Change] | None:
    file = more.get("filediff")
    diff = text_at(more, "diff")
    path = text_at(file, "file") or text_at(more, "filepath")
    if path is None or diff is None:
        return None
    lines = (
        line for line in diff.split("\n") if not line.startswith(("Index:", "===", "@@", "\\"))
    )
    created = more.get("exists") is False
    return [Change.of_hunk(path, "created" if created else "changed", lines)]


def _answers(call: Call, more: Record) -> list[tuple[str, str]]:
    asked, given = call.input.get("questions"), more.get("answers")
    if not isinstance(asked, list) or not isinstance(given, list):
        return []
    found: list[tuple[str, str]] = []
    for question, answer in zip(asked, given, strict=False):
        words = answer if isinstance(answer, list) else [answer]
        said = ", ".join(word for word in words if isinstance(word, str))
        if said:
            found.append((text_at(question, "question") or "", said))
    return found
