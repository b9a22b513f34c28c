"""Remove memories for good: their words, vectors and index entries.

It shows what would go and asks. What was forgotten stays away, even when it is captured again. The
backups that sleep made are rewritten without it; files that you made yourself are not reached.

  iai-mcp forget 2                              the second hit of the last recall in this terminal
  iai-mcp forget --query "staging password"     that phrase; 'cat' does not take 'category'
  iai-mcp forget --project . --before 2026-01-01 --yes
"""

import argparse
import os

from iai_mcp import paths
from iai_mcp.cli import last_recall, memory_access, output, times
from iai_mcp.client import connection
from iai_mcp.domain.errors import InvalidInput
from iai_mcp.domain.shown_text import memories, memories_and_work, shortened, shown_line
from iai_mcp.project import from_argument

_AS_LONG_AS_IT_TAKES = 3600.0
_SHOWN = 10
_WIDTH = 160
_PROJECTS = 5
_HELD = "{} that an agent or retention forgot can not be restored any more"
_ONLY_LEAVING = "Nothing will go for good: it only leaves that session"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ids", nargs="*", help="numbers of hits of the last recall, or ids")
    parser.add_argument(
        "--query", help="memories with this word or phrase: whole words, in any case"
    )
    parser.add_argument(
        "--session-id", help="everything of this session; what others repeat stays with those"
    )
    parser.add_argument("--project", help="everything of this project: a path or a name")
    times.add(parser, "--after", "not before this time")
    times.add(parser, "--before", "before this time")
    parser.add_argument("--dry-run", action="store_true", help="only show what would go")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--json", action="store_true", help="one JSON object for programs")


def run(arguments: argparse.Namespace) -> int:
    params = _params(arguments)
    dry: dict[str, object] = {**params, "dry_run": True, "show": _SHOWN}
    matches = memory_access.call("memory_forget", dry, _AS_LONG_AS_IT_TAKES, looks=True)
    count = int(str(matches["matches"]))
    going = _counted(matches, count)
    if arguments.dry_run:
        lines = [*_shown(matches, count), f"{going} would go{_where(matches)}"]
        output.emit(matches, "\n".join([*lines, *_staying(matches)]), as_json=arguments.json)
        return 0
    if not count and not _staying(matches) and not matches.get("held"):
        told = "\n".join(["nothing matches", *_waiting()])
        output.emit({"forgotten": 0, "ids": []}, told, as_json=arguments.json)
        return 0
    if not output.told_to(arguments, f"{going} would go for good"):
        output.say("\n".join([*_shown(matches, count), *_staying(matches)]))
        what = f"{going} will go for good{_where(matches)}" if count else _other(matches)
        if not output.agrees(f"{what}. Forget?"):
            raise InvalidInput("nothing was forgotten")
    result = memory_access.call("memory_forget", params, _AS_LONG_AS_IT_TAKES)
    number = int(str(result["forgotten"]))
    gone = _counted(result, number) if number else "nothing for good"
    lines = [f"forgot {gone}", *_copies(result.get("copies"))]
    if isinstance(dropped := result.get("held_dropped"), int):
        lines.append(_HELD.format(memories(dropped)))
    lines += [*_staying(result), *_waiting()]
    output.emit(result, "\n".join(lines), as_json=arguments.json)
    return 0


def _other(matches: dict[str, object]) -> str:
    """What will happen where no memory goes."""
    held = matches.get("held")
    return _HELD.format(memories(held)) if isinstance(held, int) else _ONLY_LEAVING


def _counted(told: dict[str, object], count: int) -> str:
    """So many memories, and so much of what was done among them."""
    work, kinds = told.get("work"), told.get("kinds")
    if not isinstance(work, int) or not isinstance(kinds, dict):
        return memories(count)
    return memories_and_work(count - work, kinds)


def _staying(told: dict[str, object]) -> list[str]:
    """What another session has as well."""
    count, kinds = told.get("stay_with_others"), told.get("stay_kinds")
    if not isinstance(count, int):
        return []
    work = kinds if isinstance(kinds, dict) else {}
    what = memories_and_work(count - sum(work.values()), work)
    return [f"{what} {'stays' if count == 1 else 'stay'} with another session"]


def _copies(told: object) -> list[str]:
    """What becomes of the copies that are kept of the store."""
    if not isinstance(told, dict):
        return []
    if told.get("problem"):
        return [f"copies of the store still hold them, and follow later: {told['problem']}"]
    count = int(told.get("to_follow") or told.get("rewritten") or 0)
    copies = "1 copy of the store" if count == 1 else f"{count} copies of the store"
    lines: list[str] = []
    if told.get("to_follow"):
        lines.append(f"{copies} (backups, what restores kept) will be without them in a moment")
    elif count:
        lines.append(f"{copies} (backups, what restores kept) were rewritten without them")
    return lines + [
        f"not reached, delete it yourself: {one}" for one in told.get("not_reached", ())
    ]


def _waiting() -> list[str]:
    """Whether there are words that are no memories yet, and so can not be forgotten."""
    try:
        files = [name for name in os.listdir(paths.spool_dir()) if name.endswith(".jsonl")]
    except OSError:
        return []
    if not files or connection.is_up():
        return []
    waiting = "1 capture" if len(files) == 1 else f"{len(files)} captures"
    return [f"not looked at: {waiting} in the spool; 'iai-mcp up' takes them in, then forget again"]


def _shown(matches: dict[str, object], count: int) -> list[str]:
    """What would go, a line each, as far as that can be taken in at a glance."""
    records = matches.get("records")
    lines = [_line(one) for one in records] if isinstance(records, list) else []
    more = count - len(lines)
    return [*lines, f"  and {more} more"] if more > 0 else lines


def _line(record: dict[str, object]) -> str:
    said = shortened(str(record.get("sample") or record["text"]), _WIDTH)
    who = record.get("kind") or record["role"]
    return shown_line(f"  {str(record['ts'])[:10]} {who}: {said}")


def _where(matches: dict[str, object]) -> str:
    """In which projects, where there are several."""
    projects = matches.get("projects")
    if not isinstance(projects, dict) or len(projects) < 2:
        return ""
    named = [f"{count} in {key or 'no project'}" for key, count in projects.items()]
    more = len(named) - _PROJECTS
    return f" ({', '.join(named[:_PROJECTS])}{f' and {more} more projects' if more > 0 else ''})"


def _params(arguments: argparse.Namespace) -> dict[str, object]:
    params: dict[str, object] = {}
    for name in ("query", "session_id", "after", "before"):
        if getattr(arguments, name):
            params[name] = getattr(arguments, name)
    if arguments.ids:
        params["ids"] = [last_recall.meant(one) for one in arguments.ids]
    if arguments.project:
        params["project"] = from_argument(arguments.project, os.getcwd())
    return params
