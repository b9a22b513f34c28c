"""Pin a memory so that it never fades, or let it fade again with --off.

iai-mcp pin ID            the id as 'iai-mcp recall --json' shows it
"""

import argparse

from iai_mcp.cli import door, output


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", help="the memory's id")
    parser.add_argument("--off", action="store_true", help="let it fade like the others")
    parser.add_argument("--json", action="store_true", help="one JSON object for programs")


def run(arguments: argparse.Namespace) -> int:
    result = door.call("memory_pin", {"id": arguments.id, "pinned": not arguments.off})
    output.emit(
        result, "pinned" if result["pinned"] else "no longer pinned", as_json=arguments.json
    )
    return 0
