"""Show what memory put into which session, and why.

iai-mcp why                     the latest sessions that were told something
iai-mcp why 5f2c                all that went into that session (its id, or how it begins)
iai-mcp why --project .         only what went into sessions of this project

Every hook that brings memories into a session leaves a note of which ones and for what reason.
A memory that was forgotten since is not shown any more.
"""

import argparse
import os

from iai_mcp.cli import memory_access, output
from iai_mcp.domain.shown_text import shortened, shown_line
from iai_mcp.project import from_argument, project_of

_LINE = 100
_MOMENTS = {"session_start": "at its start", "prompt": "with a prompt"}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("session", nargs="?", default="", help="a session's id, or its beginning")
    parser.add_argument("--project", help="a project by path or name")
    parser.add_argument("--limit", type=int, default=10, help="at most this many injections")
    parser.add_argument("--json", action="store_true", help="one JSON object for programs")


def run(arguments: argparse.Namespace) -> int:
    params: dict[str, object] = {"session_id": arguments.session, "limit": arguments.limit}
    if arguments.project:
        params["project"] = project_of(from_argument(arguments.project, os.getcwd())).key
    result = memory_access.call("injections", params, looks=True)
    found = result["injections"]
    injections = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
    output.emit(result, _told(injections, arguments.session), as_json=arguments.json)
    return 0


def _told(injections: list[dict[str, object]], session: str) -> str:
    if not injections:
        about = f" into session {session}" if session else " into any session yet"
        return f"nothing was injected{about}"
    return "\n\n".join(map(_one, injections))


def _one(injection: dict[str, object]) -> str:
    moment = _MOMENTS.get(str(injection.get("moment")), str(injection.get("moment")))
    session = str(injection.get("session_id") or "(no session id)")
    where = f" in {injection['project']}" if injection.get("project") else ""
    title = shown_line(f"{str(injection['ts'])[:19]}  {session}{where}")
    lines = [output.paint(title, "bold"), f"  {injection.get('tokens')} tokens, {moment}:"]
    sources = injection.get("sources")
    for source in sources if isinstance(sources, list) else []:
        lines += _source(source)
    return "\n".join(lines)


def _source(source: dict[str, object]) -> list[str]:
    if source.get("text") is None:
        return [f"  - {source.get('why')}: (forgotten since)"]
    whence = [str(source[name]) for name in ("agent", "host", "role") if source.get(name)]
    said = shown_line(f"{str(source.get('ts'))[:10]} {', '.join(whence)}")
    return [
        f"  - {source.get('why')}: {shortened(str(source['text']), _LINE)}",
        output.paint(f"      {said}  {source['id']}", "dim"),
    ]
