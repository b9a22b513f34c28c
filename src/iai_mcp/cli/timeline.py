"""What was said, in order: of this project, of one session, or of a span of time.

iai-mcp timeline                      the latest turns of this project
iai-mcp timeline --all --since yesterday
"""

import argparse
import os

from iai_mcp.cli import memory_access, output, times
from iai_mcp.cli.recall import hit_text
from iai_mcp.project import from_argument


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--project", help="a path or a name (default: this directory's project)")
    parser.add_argument("--all", action="store_true", help="every project")
    parser.add_argument("--session-id", help="only this session")
    times.add(parser, "--since", "not before this time")
    times.add(parser, "--until", "before this time")
    parser.add_argument(
        "-n", "--limit", type=int, default=20, help="the newest so many (default 20)"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object for programs")


def run(arguments: argparse.Namespace) -> int:
    cwd = os.getcwd()
    params: dict[str, object] = {"limit": arguments.limit, "cwd": cwd}
    for name in ("session_id", "since", "until"):
        if getattr(arguments, name):
            params[name] = getattr(arguments, name)
    if arguments.project:
        params["project"] = from_argument(arguments.project, cwd)
    elif not arguments.all and not arguments.session_id:
        params["project"] = cwd
    records = _all(params, arguments.limit)
    told = "\n\n".join(f"{hit_text(record)}{_work(record)}" for record in records)
    output.emit({"records": records}, told or "nothing was said here yet", as_json=arguments.json)
    return 0


def _all(params: dict[str, object], limit: int) -> list[dict[str, object]]:
    """As many as were asked for, oldest first, of however many answers they take."""
    records: list[dict[str, object]] = []
    with memory_access.held(looks=True) as call:
        page = call("memory_timeline", params)
        while True:
            found = page["records"]
            assert isinstance(found, list)  # noqa: S101 - the method's own promise
            records = found + records
            if not page.get("more") or len(records) >= limit:
                return records
            left: dict[str, object] = {"cursor": page["more"], "limit": limit - len(records)}
            page = call("memory_timeline", {**params, **left})


def _work(record: dict[str, object]) -> str:
    """What was done after a turn, folded: a line of counts and the first of it."""
    work = record.get("work")
    if not isinstance(work, dict):
        return ""
    counted = [
        f"{work[name]} {word if work[name] == 1 else words}"
        for name, word, words in (
            ("commands", "command", "commands"),
            ("failed", "failed", "failed"),
            ("edits", "edit", "edits"),
            ("looked", "look", "looks"),
        )
        if work.get(name)
    ]
    did = work.get("did")
    lines = [", ".join(counted), *map(str, did if isinstance(did, list) else ())]
    return "".join(f"\n{output.paint(f'  {line}', 'dim')}" for line in lines)
