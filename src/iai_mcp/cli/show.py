"""Show one memory whole, with the turns around it.

iai-mcp show 3f1c2a9e-…              the id as recall and timeline show it with --json
iai-mcp show 3f1c2a9e-… --around 3   with three turns before and after it
"""

import argparse
import os

from iai_mcp.cli import door, output
from iai_mcp.cli.recall import hit_text


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", help="the memory's id")
    parser.add_argument("--around", type=int, default=0, help="so many turns before and after it")
    parser.add_argument("--json", action="store_true", help="one JSON object for programs")


def run(arguments: argparse.Namespace) -> int:
    params: dict[str, object] = {"id": arguments.id, "cwd": os.getcwd()}
    with door.held() as call:
        result = call("memory_show", {**params, "around": arguments.around})
        record = _object(result["record"])
        pieces = [str(record["text"])]
        while (offset := record.pop("next", None)) is not None:
            record = _object(call("memory_show", {**params, "offset": offset})["record"])
            pieces.append(str(record["text"]))
    result["record"] = {**record, "text": "".join(pieces)}
    told = [
        *_turns(result["before"]),
        hit_text(_object(result["record"])),
        *_turns(result["after"]),
    ]
    output.emit(result, "\n\n".join(told), as_json=arguments.json)
    return 0


def _turns(found: object) -> list[str]:
    return [hit_text(turn) for turn in found] if isinstance(found, list) else []


def _object(found: object) -> dict[str, object]:
    assert isinstance(found, dict)  # noqa: S101 - the method's own promise
    return found
