"""Show one memory whole, with the turns around it.

iai-mcp show 2                       the second hit of the last recall in this terminal, in its conversation
iai-mcp show 3f1c2a9e-…              the id as recall and timeline show it with --json
iai-mcp show 3f1c2a9e-… --around 3   with three turns before and after it

What does not fit the terminal opens in your pager ($PAGER, else less).
"""

import argparse
import os

from iai_mcp.cli import last_recall, memory_access, output
from iai_mcp.cli.recall import hit_text

_OF_A_HIT = 3  # turns before and after it


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", help="the number of a hit of the last recall, or the memory's id")
    parser.add_argument(
        "--around", type=int, help="so many turns before and after it (of a hit: 3, else none)"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object for programs")


def run(arguments: argparse.Namespace) -> int:
    wanted = last_recall.meant(arguments.id)
    around = arguments.around
    if around is None:
        around = _OF_A_HIT if wanted != arguments.id else 0
    params: dict[str, object] = {"id": wanted, "cwd": os.getcwd()}
    with memory_access.held(looks=True) as call:
        result = call("memory_show", {**params, "around": around})
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
    if arguments.json:
        output.say_json(result)
    else:
        output.page("\n\n".join(told))
    return 0


def _turns(found: object) -> list[str]:
    return [hit_text(turn) for turn in found] if isinstance(found, list) else []


def _object(found: object) -> dict[str, object]:
    assert isinstance(found, dict)  # noqa: S101 - the method's own promise
    return found
