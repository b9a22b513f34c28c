"""What mended this error before.

iai-mcp fix "undefined: defaultAgent"
make test 2>&1 | iai-mcp fix -            the output of a command that failed
"""

import argparse
import sys

from iai_mcp.cli import output, work_text
from iai_mcp.domain.errors import InvalidInput

_MOST = 1024 * 1024  # characters of what is piped in; what tells stands at its end


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("error", nargs="+", help="the error message; '-' reads standard input")
    work_text.configure(parser, limit=3)


def run(arguments: argparse.Namespace) -> int:
    error = _read() if arguments.error == ["-"] else " ".join(arguments.error)
    if not error.strip():
        raise InvalidInput("give the error message: what the command printed")
    result = work_text.ask("fix", arguments, error=error[-20_000:])
    told = [_told(one) for one in work_text.listed(result, "mendings")]
    nothing = "nothing is remembered that mended this"
    output.emit(result, "\n\n".join(told) or nothing, as_json=arguments.json)
    return 0


def _read() -> str:
    kept = ""
    while piece := sys.stdin.read(_MOST):
        kept = (kept + piece)[-_MOST:]
    return kept


def _told(one: dict[str, object]) -> str:
    lines = [output.paint(str(one.get("failure")), "yellow"), f"  in: {one.get('command')}"]
    lines.append("mended by:")
    lines += [f"  {step}" for step in str(one.get("mended_by")).split("\n")]
    lines.append(work_text.aside(work_text.moment(one), work_text.request(one)))
    return "\n".join(lines)
