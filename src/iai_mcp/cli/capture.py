"""Remember something by hand, or pause and resume what the hooks capture.

iai-mcp capture "the staging database is on port 5433"
git log -3 | iai-mcp capture -          remember what comes on standard input
iai-mcp capture --again "the port is 5433"   although it was forgotten before
iai-mcp capture pause                    stop capturing until 'iai-mcp capture resume'
iai-mcp capture status                   is it on, what is never captured, and is it here
iai-mcp capture --ignore ~/taxes         never capture below a path, or in a project of a name
iai-mcp capture --unignore ~/taxes       capture there again
iai-mcp capture --no-work ~/shop         remember what is said there, but not commands and edits
iai-mcp capture --work ~/shop            remember those again; without a place: everywhere

An empty file .iai-ignore in a directory keeps its whole tree out, too. Words that you put between
<private> and </private> are never stored.
"""

import argparse
import os
import sys

from iai_mcp.capture import consent
from iai_mcp.cli import capture_consent, memory_access, output, times
from iai_mcp.domain.errors import InvalidInput
from iai_mcp.project import from_argument


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", nargs="*", help="what to remember; '-' reads standard input")
    parser.add_argument("--ignore", metavar="PATH|NAME", help="never capture there")
    parser.add_argument("--unignore", metavar="PATH|NAME", help="capture there again")
    parser.add_argument(
        "--no-work",
        nargs="?",
        const=consent.EVERYWHERE,
        metavar="PATH|NAME",
        help="never capture commands and edits there (default: anywhere)",
    )
    parser.add_argument(
        "--work",
        nargs="?",
        const=consent.EVERYWHERE,
        metavar="PATH|NAME",
        help="capture commands and edits again",
    )
    parser.add_argument("--project", help="the project it belongs to (default: this directory's)")
    parser.add_argument("--session-id", default="", help="the session it belongs to")
    parser.add_argument("--role", default="user", help="who said it: user or assistant")
    parser.add_argument("--speaker", default="", help="who said it, by name")
    parser.add_argument("--tier", default="episodic", help="episodic, semantic, procedural …")
    parser.add_argument(
        "--again", action="store_true", help="store it although it was forgotten before"
    )
    times.add(parser, "--ts", "when it was said (default: now)")
    parser.add_argument("--json", action="store_true", help="one JSON object for programs")


def run(arguments: argparse.Namespace) -> int:
    for file, wanted, unwanted in (
        (consent.NEVER, arguments.unignore, arguments.ignore),
        (consent.NEVER_WORK, arguments.work, arguments.no_work),
    ):
        if unwanted:
            return capture_consent.ignore(unwanted, file, as_json=arguments.json)
        if wanted:
            return capture_consent.unignore(wanted, file, as_json=arguments.json)
    if len(arguments.text) == 1 and arguments.text[0] in capture_consent.WISHES:
        return capture_consent.decide(arguments.text[0], as_json=arguments.json)
    text = sys.stdin.read() if arguments.text == ["-"] else " ".join(arguments.text)
    if not text.strip():
        raise InvalidInput("there is nothing to remember: the text was blank")
    cwd = os.getcwd()
    params: dict[str, object] = {
        "text": text,
        "role": arguments.role,
        "speaker": arguments.speaker,
        "tier": arguments.tier,
        "session_id": arguments.session_id,
        "project": from_argument(arguments.project, cwd) if arguments.project else cwd,
    }
    if arguments.again:
        params["again"] = True
    if arguments.ts:
        params["ts"] = times.iso(arguments.ts, "--ts")
    result = memory_access.call("memory_capture", params)
    output.emit(result, _told(result), as_json=arguments.json)
    return 0


def _told(result: dict[str, object]) -> str:
    if result["status"] == "inserted":
        return f"{output.paint('remembered', 'green')} ({result['record_id']})"
    if result["status"] == "duplicate":
        return f"already known ({result['record_id']})"
    return f"not remembered: {result['reason']}"
