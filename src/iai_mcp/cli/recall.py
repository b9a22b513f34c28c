"""Ask what was said before, by any agent, in any session.

iai-mcp recall which port does postgres use
iai-mcp recall "the deploy script" --project . --since "last week"
iai-mcp recall flaky test --context 2 --k 5
iai-mcp recall flaky test --explain       why each was found, in numbers
iai-mcp recall flaky test --full          whole turns instead of the pieces that matched

Each hit has a number: 'iai-mcp show 2' opens it in its conversation, 'iai-mcp pin 2' keeps it, 'iai-mcp
forget 2' removes it. The numbers are those of the last recall in the same terminal.
"""

import argparse
import os
from collections.abc import Callable

from iai_mcp.cli import last_recall, memory_access, output, times
from iai_mcp.domain.shown_text import shown_line
from iai_mcp.project import from_argument

_FILTERS = ("session_id", "agent", "host", "role", "kind", "from", "since", "until", "as_of")


_NOTHING = (
    "nothing is remembered yet: 'iai-mcp up' turns memory on, "
    "'iai-mcp import' brings in the history that your agents have"
)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("cue", nargs="+", help="what you want to know, in your own words")
    parser.add_argument("-k", "--k", type=int, default=5, help="at most this many (default 5)")
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
    times.add(parser, "--as-of", "answer as it would have been then")
    parser.add_argument("--context", type=int, help="show this many turns around each hit")
    parser.add_argument("--full", action="store_true", help="whole turns, not excerpts")
    parser.add_argument("--explain", action="store_true", help="show what each score is made of")
    parser.add_argument("--json", action="store_true", help="one JSON object for programs")


def run(arguments: argparse.Namespace) -> int:
    cwd = os.getcwd()
    params: dict[str, object] = {
        "cue": " ".join(arguments.cue),
        "k": arguments.k,
        "budget_tokens": arguments.budget_tokens,
        "cwd": cwd,
        "explain": arguments.explain,
        "full": arguments.full,
    }
    params |= {name: value for name in _FILTERS if (value := getattr(arguments, name))}
    if arguments.project:
        params["project"] = from_argument(arguments.project, cwd)
    if arguments.context:
        params["context"] = arguments.context
    result = memory_access.call("memory_recall", params, looks=True)
    narrowed = any(name in params for name in (*_FILTERS, "project"))
    nothing = "nothing that fits is remembered" if narrowed else _NOTHING
    if not arguments.json and not memory_access.nothing_is_kept():
        last_recall.keep([str(hit["id"]) for hit in _shown(result)])
    output.emit(
        result, told(result, nothing, _marker(" ".join(arguments.cue))), as_json=arguments.json
    )
    return 0


def told(
    result: dict[str, object], nothing: str = _NOTHING, mark: Callable[[str], str] = str
) -> str:
    """The hits as people read them: a number, when, where, who, and the words."""
    parts = [hit_text(hit, number, mark) for number, hit in enumerate(_shown(result), 1)]
    outdated = len(_list(result, "anti_hits"))
    if outdated:
        parts.insert(len(parts) - outdated, output.paint("no longer true:", "yellow"))
    if not parts:
        parts = [nothing]
    elif result.get("note"):
        parts.insert(0, output.paint(str(result["note"]), "yellow"))
    degraded = result.get("degraded")
    if isinstance(degraded, list) and degraded:
        parts.append(output.paint("degraded: " + "; ".join(map(str, degraded)), "yellow"))
    return "\n\n".join(parts)


def _shown(result: dict[str, object]) -> list[dict[str, object]]:
    """In the order in which they are numbered."""
    return [*_list(result, "hits"), *_list(result, "anti_hits")]


def _list(result: dict[str, object], name: str) -> list[dict[str, object]]:
    found = result.get(name)
    return found if isinstance(found, list) else []


def _marker(cue: str) -> Callable[[str], str]:
    """Marks the cue's words where a terminal shows them in colour."""
    if output.paint("", "bold") == "":
        return str
    from iai_mcp.domain.cue.stop_words import stop_words  # late: only for people's eyes
    from iai_mcp.domain.cue_matching import CueMatcher
    from iai_mcp.domain.words import index_terms, words

    said = words(cue)
    telling = [word for word in said if word not in stop_words(said)] or said
    matcher = CueMatcher.of_terms(term for word in telling for term in index_terms(word))

    def mark(text: str) -> str:
        pieces, at = [], 0
        for found in matcher.occurrences(text):
            if found.start >= at:
                pieces += [
                    text[at : found.start],
                    output.paint(text[found.start : found.end], "bold"),
                ]
                at = found.end
        return "".join([*pieces, text[at:]])

    return mark


def hit_text(
    hit: dict[str, object], number: int | None = None, mark: Callable[[str], str] = str
) -> str:
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
    count = output.paint(f"{number} ", "bold") if number else ""
    said = [f"{count}{output.paint(shown_line(where), 'dim')}{superseded}"]
    said += [*_asked(hit), *_around(hit, "before"), mark(str(hit.get("text")))]
    said += [*_rest(hit, number), *_elsewhere(hit), *_around(hit, "after")]
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


def _rest(hit: dict[str, object], number: int | None) -> list[str]:
    """Where the whole is, of what is too long to be shown here."""
    if not hit.get("excerpt"):
        return []
    size = hit.get("characters")
    whole = f"{size:,} characters in all" if isinstance(size, int) else "there is more of it"
    return [output.paint(f"({whole}: iai-mcp show {number or hit.get('id')})", "dim")]


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
