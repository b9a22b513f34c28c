"""Keep a project's memories to itself.

iai-mcp privacy               which projects are private
iai-mcp privacy on            the project of this directory
iai-mcp privacy on ~/client   another one
iai-mcp privacy off ~/client

What was said in a private project is recalled only by whoever works in it: no other project sees it,
not even when it is named.
"""

import argparse
import os

from iai_mcp.cli import memory_access, output
from iai_mcp.domain.shown_text import shown_line
from iai_mcp.project import from_argument


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("switch", nargs="?", choices=("on", "off"), help="without it: the list")
    parser.add_argument("project", nargs="?", help="a path or a name; this directory's without")
    parser.add_argument("--json", action="store_true", help="one JSON object for programs")


def run(arguments: argparse.Namespace) -> int:
    cwd = os.getcwd()
    params: dict[str, object] = {"cwd": cwd}
    if arguments.switch:
        params["private"] = arguments.switch == "on"
    if arguments.project:
        params["project"] = from_argument(arguments.project, cwd)
    result = memory_access.call("project_privacy", params, looks=not arguments.switch)
    output.emit(result, told(result), as_json=arguments.json)
    return 0


def told(result: dict[str, object]) -> str:
    private, below = result.get("private"), result.get("covers")
    if not isinstance(private, list) or not private:
        return "no project is private"
    lines = ["private:", *(f"  {shown_line(str(project))}" for project in private)]
    if isinstance(below, list) and below:
        lines += ["it covers what lies below:", *(f"  {shown_line(str(one))}" for one in below)]
    return "\n".join(lines)
