"""The table of commands, and the one way each of them is run.

A command is a module with `configure(parser)` and `run(arguments) -> int`. Its module is
imported when it is called (or when its own help is asked for), so `iai-mcp status` never
pays for what `iai-mcp agent` needs.
"""

import argparse
import importlib
import os
import sys
from collections.abc import Sequence

from iai_mcp import __version__
from iai_mcp.domain.errors import IaiError

# name -> (module below iai_mcp.cli, one line for the overview). Grouped as people meet them.
COMMANDS: dict[str, tuple[str, str]] = {
    "hosts": ("hosts", "connect the agent programs on this machine to the memory"),
}

GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (("Set up", ("hosts",)),)


def run(arguments: Sequence[str]) -> int:
    """Run the command that `arguments` name; every failure ends as one clear sentence."""
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        sys.stdout.write(_overview())
        return 0
    if arguments[0] in ("-V", "--version"):
        print(f"iai-mcp {__version__}")
        return 0
    name, rest = arguments[0], list(arguments[1:])
    if name not in COMMANDS:
        sys.stderr.write(_unknown(name))
        return 2
    module_name, summary = COMMANDS[name]
    module = importlib.import_module(f"iai_mcp.cli.{module_name}")
    parser = argparse.ArgumentParser(
        prog=f"iai-mcp {name}",
        description=module.__doc__ or summary,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    module.configure(parser)
    parsed = parser.parse_args(rest)
    from iai_mcp.cli import output

    try:
        return int(module.run(parsed))
    except IaiError as error:
        output.failure(error.code, error.message, as_json=_wants_json(rest))
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("\ninterrupted\n")
        return 130
    except BrokenPipeError:
        # The reader (head, less) has seen enough; the interpreter must not complain at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:  # noqa: BLE001 - the last door: no traceback reaches a person
        output.unexpected(error, as_json=_wants_json(rest))
        return 1


def _wants_json(arguments: Sequence[str]) -> bool:
    return "--json" in arguments


def _overview() -> str:
    lines = [
        "iai-mcp: one memory for all your coding agents",
        "",
        "usage: iai-mcp COMMAND [options]      iai-mcp COMMAND --help explains each",
    ]
    for title, names in GROUPS:
        lines += ["", f"{title}:"]
        lines += [f"  {name:<20}{COMMANDS[name][1]}" for name in names]
    return "\n".join(lines) + "\n"


def _unknown(name: str) -> str:
    import difflib

    near = difflib.get_close_matches(name, COMMANDS, n=1)
    hint = f" Did you mean '{near[0]}'?" if near else ""
    return f"iai-mcp: there is no command '{name}'.{hint} 'iai-mcp --help' lists them.\n"
