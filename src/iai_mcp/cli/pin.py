"""Pin a memory: retention never removes it, until --off.

iai-mcp pin 2             the second hit of the last recall in this terminal
iai-mcp pin ID            the id as 'iai-mcp recall --json' shows it
"""

import argparse

from iai_mcp.cli import last_recall, memory_access, output


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", help="the number of a hit of the last recall, or the memory's id")
    parser.add_argument(
        "--off", action="store_true", help="let retention remove it like the others"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object for programs")


def run(arguments: argparse.Namespace) -> int:
    result = memory_access.call(
        "memory_pin", {"id": last_recall.meant(arguments.id), "pinned": not arguments.off}
    )
    output.emit(
        result, "pinned" if result["pinned"] else "no longer pinned", as_json=arguments.json
    )
    return 0
