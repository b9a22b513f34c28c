"""Search what was said and done before, by any agent, in any session.

iai-mcp recall which port does postgres use
iai-mcp recall "why did we drop redis?" --also "moved the queue to Postgres" --also "SKIP LOCKED"
iai-mcp recall "the deploy script" --project . --since "last week"
iai-mcp recall flaky test --explain       what each stage did, and why each result came
iai-mcp recall flaky test --full --json   whole turns, for programs

--also gives another wording, best in the words of the likely answer: it finds about twice as much.
Each result begins with its id: 'iai-mcp show ID' opens it, 'iai-mcp pin ID' keeps it, 'iai-mcp forget ID'
removes it. A number from 1 on names a result of the last recall in the same terminal.
"""

import argparse
import os
import re

from iai_mcp.cli import last_recall, memory_access, output, times
from iai_mcp.domain.shown_text import shown_line
from iai_mcp.project import from_argument

_FILTERS = ("session_id", "agent", "host", "role", "kind", "from", "since", "until", "as_of")
_NOTHING = (
    "nothing is remembered yet: 'iai-mcp up' turns memory on, "
    "'iai-mcp import' brings in the history that your agents have"
)
_RESULT = re.compile(r"^\[([0-9a-f]{8,36})\]", re.MULTILINE)
_LABEL = re.compile(r"^(?:> asked: |next: |more \(memory_show|No good match;)")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("cue", nargs="+", help="what you want to know, in your own words")
    parser.add_argument(
        "--also", action="append", default=[], metavar="WORDING",
        help="another wording, best in the words of the likely answer; up to 6",
    )  # fmt: skip
    parser.add_argument("-k", "--k", type=int, help="at most this many results with text")
    parser.add_argument(
        "--budget-tokens", type=int, default=1500, help="at most this much of an answer"
    )
    parser.add_argument("--project", help="only this project: a path or a name; '*' for all alike")
    parser.add_argument("--session-id", help="only this session")
    parser.add_argument("--agent", help="only what this agent's sessions said (name or id)")
    parser.add_argument("--host", help="only this agent program, such as claude-code")
    parser.add_argument("--role", help="only this role: user or assistant")
    parser.add_argument("--kind", choices=("any", "said", "did"), help="words, work, or both")
    parser.add_argument("--from", metavar="MEMBER", help="only what this member told, or: me")
    times.add(parser, "--since", "not before this time")
    times.add(parser, "--until", "before this time")
    times.add(parser, "--as-of", "search the memory as it was then")
    parser.add_argument("--context", type=int, help="with --json: this many turns around each hit")
    parser.add_argument("--full", action="store_true", help="with --json: whole turns")
    parser.add_argument("--explain", action="store_true", help="show what each stage did")
    parser.add_argument("--json", action="store_true", help="one JSON object for programs")


def run(arguments: argparse.Namespace) -> int:
    cwd = os.getcwd()
    params: dict[str, object] = {
        "cue": " ".join(arguments.cue),
        "budget_tokens": arguments.budget_tokens,
        "cwd": cwd,
        "explain": arguments.explain,
        "format": "json" if arguments.json else "text",
    }
    params |= {name: value for name in _FILTERS if (value := getattr(arguments, name))}
    if arguments.also:
        params["wordings"] = arguments.also
    if arguments.k is not None:
        params["k"] = arguments.k
    if arguments.project:
        params["project"] = from_argument(arguments.project, cwd)
    if arguments.json:
        params |= {"full": arguments.full, "context": arguments.context or 0}
    result = memory_access.call("memory_recall", params, looks=True)
    if memory_access.nothing_is_kept():
        output.emit(result, _NOTHING, as_json=arguments.json)
        return 0
    text = str(result.get("text", ""))
    if not arguments.json:
        last_recall.keep([match[1] for match in _RESULT.finditer(text)])
    output.emit(result, coloured(text) + _stages(result), as_json=arguments.json)
    return 0


def coloured(text: str) -> str:
    """An answer with its ids and labels in colour where a terminal shows it."""
    return "\n".join(_coloured_line(line) for line in text.split("\n"))


def _coloured_line(line: str) -> str:
    line = shown_line(line)
    if match := _RESULT.match(line):
        return output.paint(match[0], "bold") + line[match.end() :]
    return output.paint(line, "dim") if _LABEL.match(line) else line


def _stages(result: dict[str, object]) -> str:
    """What each stage did, a line each."""
    stages = result.get("stages")
    if not isinstance(stages, dict):
        return ""
    return "\n\n" + "\n".join(f"{name}: {shown_line(str(did))}" for name, did in stages.items())


def hit_text(hit: dict[str, object]) -> str:
    """A stored turn as people read it: when, where, who, and the words."""
    where = " · ".join(
        str(part)
        for part in (
            str(hit.get("ts"))[:16].replace("T", " "),
            _who(hit),
            _short(hit.get("project")),
            hit.get("host"),
            _teller(hit),
            hit.get("reason"),
        )
        if part
    )
    superseded = output.paint(" (superseded)", "yellow") if hit.get("valid_to") else ""
    said = [f"{output.paint(shown_line(where), 'dim')}{superseded}"]
    said += [*_asked(hit), *_around(hit, "before"), str(hit.get("text"))]
    said += [*_rest(hit), *_elsewhere(hit), *_around(hit, "after")]
    return "\n".join([*said, *_explained(hit)])


def _who(hit: dict[str, object]) -> str:
    """Who said it. An agent's session holds the person's words too, and what its tools printed."""
    role, agent = str(hit.get("role") or ""), str(hit.get("agent") or "")
    if speaker := hit.get("speaker"):
        return str(speaker)
    if not agent or not role or role == "assistant":
        return agent or role
    return f"{role} to {agent}" if role == "user" else f"{role} of {agent}"


def _asked(hit: dict[str, object]) -> list[str]:
    asked = hit.get("request")
    return [output.paint(f"asked: {shown_line(str(asked))}", "dim")] if asked else []


def _elsewhere(hit: dict[str, object]) -> list[str]:
    also = hit.get("also")
    if not isinstance(also, list) or not also:
        return []
    places = "; ".join(_place({"project": hit.get("project"), **one}) for one in also)
    count = hit.get("count")
    times = f", {count} times in all" if isinstance(count, int) and count > len(also) + 1 else ""
    return [output.paint(f"(also said: {shown_line(places)}{times})", "dim")]


def _place(place: dict[str, object]) -> str:
    day, project = str(place.get("ts"))[:10], _short(place.get("project"))
    session = str(place.get("session_id") or "")[:8]
    return " ".join(
        part
        for part in (day, project and f"in {project}", session and f"(session {session})")
        if part
    )


def _rest(hit: dict[str, object]) -> list[str]:
    """Where the whole is, of what is too long to be shown here."""
    if not hit.get("excerpt"):
        return []
    size = hit.get("characters")
    whole = f"{size:,} characters in all" if isinstance(size, int) else "there is more of it"
    return [output.paint(f"({whole}: iai-mcp show {hit.get('id')})", "dim")]


def _around(hit: dict[str, object], side: str) -> list[str]:
    turns = hit.get(side)
    if not isinstance(turns, list):
        return []
    return [output.paint(f"  {turn['role']}: {turn['text']}", "dim") for turn in turns]


def _explained(hit: dict[str, object]) -> list[str]:
    """What the score is made of, strongest first."""
    parts = hit.get("parts")
    if not isinstance(parts, dict):
        return []
    order = sorted(parts.items(), key=lambda part: -abs(part[1]))
    shown = "  ".join(f"{name} {value:+.2f}" for name, value in order)
    return [output.paint(f"score {hit.get('score')}: {shown}", "dim")]


def _teller(hit: dict[str, object]) -> str:
    """Who told it, where another machine did."""
    return f"{hit['member']} on {hit['machine']}" if hit.get("member") else ""


def _short(project: object) -> str:
    return str(project).rstrip("/").rpartition("/")[2] if project else ""
