"""Which command did it: those that worked, best and most used first.

iai-mcp how run one test
iai-mcp how "release to staging" --all
iai-mcp how                               what this project is worked with
"""

import argparse

from iai_mcp.cli import output, work_text


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("question", nargs="*", help="what you want to do, in your own words")
    work_text.configure(parser, limit=5)


def run(arguments: argparse.Namespace) -> int:
    question = " ".join(arguments.question)
    result = work_text.ask("how", arguments, query=question)
    told = [_told(one) for one in work_text.listed(result, "commands")]
    nothing = "no command that does this is remembered; 'iai-mcp import' brings in older sessions"
    output.emit(result, "\n\n".join(told) or nothing, as_json=arguments.json)
    return 0


def _told(one: dict[str, object]) -> str:
    status = one.get("exit")
    ended = "" if status in (0, None) else f"exit {status}"
    uses = one.get("uses")
    times = f"{uses} times" if isinstance(uses, int) and uses > 1 else ""
    where = work_text.aside(work_text.moment(one, "last"), times, ended, one.get("for"))
    lines = [str(one.get("command")), where]
    if words := work_text.request(one):
        lines.append(work_text.aside(words))
    return "\n".join(lines)
