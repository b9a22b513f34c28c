"""Remove memories for good: their words, vectors and index entries.

It shows what would go and asks. What was forgotten stays away, even when it is captured again.

  iai-mcp forget --query "staging password"
  iai-mcp forget --project . --before 2026-01-01 --yes
"""

import argparse
import os
import sys

from iai_mcp.cli import door, output
from iai_mcp.domain.errors import InvalidInput
from iai_mcp.project import from_argument

_SHOWN = 10


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ids", nargs="*", help="ids of memories, as recall shows them with --json")
    parser.add_argument("--query", help="memories that contain these words")
    parser.add_argument("--session-id", help="everything of this session")
    parser.add_argument("--project", help="everything of this project: a path or a name")
    parser.add_argument("--after", help="not before this ISO-8601 time")
    parser.add_argument("--before", help="before this ISO-8601 time")
    parser.add_argument("--dry-run", action="store_true", help="only show what would go")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--json", action="store_true", help="one JSON object for programs")


def run(arguments: argparse.Namespace) -> int:
    params = _params(arguments)
    matches = door.call("memory_forget", {**params, "dry_run": True})
    ids = matches["ids"]
    count = len(ids) if isinstance(ids, list) else 0
    if arguments.dry_run:
        output.emit(matches, f"{count} memories would go", as_json=arguments.json)
        return 0
    if not count:
        output.emit({"forgotten": 0, "ids": []}, "nothing matches", as_json=arguments.json)
        return 0
    if not arguments.yes:
        _ask(count, arguments.json)
    result = door.call("memory_forget", params)
    output.emit(result, f"forgot {result['forgotten']} memories", as_json=arguments.json)
    return 0


def _params(arguments: argparse.Namespace) -> dict[str, object]:
    params: dict[str, object] = {}
    for name in ("query", "session_id", "after", "before"):
        if getattr(arguments, name):
            params[name] = getattr(arguments, name)
    if arguments.ids:
        params["ids"] = arguments.ids
    if arguments.project:
        params["project"] = from_argument(arguments.project, os.getcwd())
    return params


def _ask(count: int, as_json: bool) -> None:
    if as_json or not sys.stdin.isatty():
        raise InvalidInput(f"{count} memories would go for good: add --yes to really forget them")
    answer = input(f"{count} memories will go for good. Forget them? [y/N] ")
    if answer.strip().lower() not in ("y", "yes"):
        raise InvalidInput("nothing was forgotten")
