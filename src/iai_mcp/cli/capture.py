"""Remember something by hand, or pause and resume what the hooks capture.

iai-mcp capture "the staging database is on port 5433"
git log -3 | iai-mcp capture -          remember what comes on standard input
iai-mcp capture pause                    stop capturing until 'iai-mcp capture resume'
"""

import argparse
import os
import sys

from iai_mcp.capture import consent
from iai_mcp.cli import door, output
from iai_mcp.domain.errors import InvalidInput
from iai_mcp.project import from_argument


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", nargs="+", help="what to remember; '-' reads standard input")
    parser.add_argument("--project", help="the project it belongs to (default: this directory's)")
    parser.add_argument("--session-id", default="", help="the session it belongs to")
    parser.add_argument("--role", default="user", help="who said it: user or assistant")
    parser.add_argument("--speaker", default="", help="who said it, by name")
    parser.add_argument("--tier", default="episodic", help="episodic, semantic, procedural …")
    parser.add_argument("--ts", help="when it was said, ISO-8601 (default: now)")
    parser.add_argument("--json", action="store_true", help="one JSON object for programs")


def run(arguments: argparse.Namespace) -> int:
    if arguments.text in (["pause"], ["resume"], ["status"]):
        return _consent(arguments.text[0], arguments.json)
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
    if arguments.ts:
        params["ts"] = arguments.ts
    result = door.call("memory_capture", params)
    output.emit(result, _told(result), as_json=arguments.json)
    return 0


def _told(result: dict[str, object]) -> str:
    if result["status"] == "inserted":
        return f"{output.paint('remembered', 'green')} ({result['record_id']})"
    if result["status"] == "duplicate":
        return f"already known ({result['record_id']})"
    return f"not remembered: {result['reason']}"


def _consent(wish: str, as_json: bool) -> int:
    if wish == "pause":
        consent.pause()
    elif wish == "resume":
        consent.resume()
    paused = consent.paused()
    said = (
        "capture is paused; 'iai-mcp capture resume' turns it on again"
        if paused
        else "capture is on"
    )
    output.emit({"paused": paused}, said, as_json=as_json)
    return 0
