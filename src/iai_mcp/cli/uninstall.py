"""Take iai-mcp out again: hooks, MCP entries and service units; the data only if you say so.

The program itself is removed by what installed it: the last line names the command.

iai-mcp uninstall               asks, and asks about what is stored; in a script it needs --yes
iai-mcp uninstall --yes         keeps what is stored
iai-mcp uninstall --data --yes  removes that too, for good
"""

import argparse
import os
import shutil

from iai_mcp import installation, paths
from iai_mcp.cli import output
from iai_mcp.domain.errors import InvalidInput


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data", action="store_true", help="remove the store, the key and the model too"
    )
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--json", action="store_true", help="one JSON object for programs")


def run(arguments: argparse.Namespace) -> int:
    from iai_mcp.adapters import service_units
    from iai_mcp.cli import down, page
    from iai_mcp.hosts import registry

    _ask(arguments)
    units = service_units.remove()
    page.close()
    down.stop_running()
    outcomes = registry.remove(registry.hosts())
    hosts = [outcome.host.id for outcome in outcomes if outcome.changes]
    removed_data = False
    if arguments.data:
        from iai_mcp.terminal.cleanup import end_all

        end_all()
        shutil.rmtree(paths.user_data(), ignore_errors=False)
        removed_data = True
    program = installation.current().removal
    result = {"hosts": hosts, "units": units, "data_removed": removed_data, "program": program}
    lines = [
        f"disconnected {', '.join(hosts) or 'no host'}",
        *(f"removed {unit}" for unit in units),
    ]
    kept = (
        f"removed {paths.user_data()}"
        if removed_data
        else f"kept your memories in {paths.user_data()}"
    )
    last = f"the program itself is still here; this removes it: {program}"
    output.emit(result, "\n".join([*lines, kept, last]), as_json=arguments.json)
    return 0


def _ask(arguments: argparse.Namespace) -> None:
    consequence = (
        "this removes every memory for good"
        if arguments.data
        else "this takes out the hooks and entries of all hosts"
    )
    if output.told_to(arguments, consequence):
        return
    what = (
        "everything, with all memories" if arguments.data else "the hooks and entries of all hosts"
    )
    if not output.agrees(f"Remove {what}?"):
        raise InvalidInput("nothing was removed")
    if not arguments.data and os.path.exists(paths.user_data()):
        arguments.data = output.agrees(
            f"Remove your memories in {paths.user_data()} too, for good? They stay if not."
        )
