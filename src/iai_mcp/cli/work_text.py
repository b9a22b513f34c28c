"""What the commands about work share: their filters, and how a piece of work reads."""

import argparse
import os

from iai_mcp.cli import memory_access, output, times
from iai_mcp.domain.shown_text import shown_line
from iai_mcp.project import from_argument

_LONGEST = 160


def configure(parser: argparse.ArgumentParser, *, limit: int) -> None:
    parser.add_argument("--project", help="a path or a name (default: this directory's project)")
    parser.add_argument("--all", action="store_true", help="every project")
    parser.add_argument("--agent", help="only this agent's sessions (name or id)")
    parser.add_argument("--host", help="only this agent program, such as claude-code")
    times.add(parser, "--since", "not before this time")
    times.add(parser, "--until", "before this time")
    parser.add_argument("-n", "--limit", type=int, default=limit, help=f"at most so many ({limit})")
    parser.add_argument("--json", action="store_true", help="one JSON object for programs")


def ask(method: str, arguments: argparse.Namespace, **given: object) -> dict[str, object]:
    """Ask about this directory's project, unless the arguments name another or all of them."""
    cwd = os.getcwd()
    params: dict[str, object] = {"cwd": cwd, "limit": arguments.limit, **given}
    for name in ("agent", "host", "since", "until"):
        if getattr(arguments, name):
            params[name] = getattr(arguments, name)
    if arguments.project:
        params["project"] = from_argument(arguments.project, cwd)
    elif arguments.all:
        params["project"] = "*"
    return memory_access.call(method, params, looks=True)


def listed(result: dict[str, object], name: str) -> list[dict[str, object]]:
    found = result.get(name)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def aside(*parts: object) -> str:
    """A line that says where something comes from."""
    told = " · ".join(str(part) for part in parts if part)
    return output.paint(shown_line(told), "dim")


def moment(one: dict[str, object], name: str = "ts") -> str:
    return str(one.get(name) or "")[:16].replace("T", " ")


def request(one: dict[str, object]) -> str:
    """The words that led to it, in one line."""
    words = " ".join(str(one.get("request") or "").split())
    if not words:
        return ""
    return f"“{words[:_LONGEST]}{'…' if len(words) > _LONGEST else ''}”"


def size(one: dict[str, object]) -> str:
    return f"+{one.get('added', 0)} −{one.get('removed', 0)}"
