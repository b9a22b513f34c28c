"""Which files agents changed, and what for.

iai-mcp changed --since yesterday
iai-mcp changed --since 2026-03-01 --all --agent "Backend Dev"
"""

import argparse

from iai_mcp.cli import output, work_text


def configure(parser: argparse.ArgumentParser) -> None:
    work_text.configure(parser, limit=200)


def run(arguments: argparse.Namespace) -> int:
    result = work_text.ask("changed", arguments)
    told = "\n\n".join(_told(edits) for edits in _by_request(work_text.listed(result, "edits")))
    output.emit(result, told or "nothing was changed that is remembered", as_json=arguments.json)
    return 0


def _by_request(edits: list[dict[str, object]]) -> list[list[dict[str, object]]]:
    """Edits that one request led to, together, newest first."""
    groups: dict[tuple[object, object], list[dict[str, object]]] = {}
    for one in edits:
        groups.setdefault((one.get("session_id"), one.get("request")), []).append(one)
    return list(groups.values())


def _told(edits: list[dict[str, object]]) -> str:
    """The request, and each file once with all that was done to it."""
    first = edits[0]
    files: dict[object, list[dict[str, object]]] = {}
    for one in reversed(edits):
        files.setdefault(one.get("path"), []).append(one)
    head = work_text.aside(work_text.moment(first), first.get("agent"), first.get("host"))
    lines = [work_text.request(first) or "(the request is not known)", head]
    for path, changes in files.items():
        actions = ", ".join(dict.fromkeys(str(one.get("action")) for one in changes))
        counts = {"added": _sum(changes, "added"), "removed": _sum(changes, "removed")}
        lines.append(f"  {path}  {actions} {work_text.size({**counts})}")
    return "\n".join(lines)


def _sum(changes: list[dict[str, object]], name: str) -> int:
    return sum(value for one in changes if isinstance(value := one.get(name), int))
