"""How this iai-mcp was installed, and the commands that bring the newest one.

It changes nothing by itself: the program that installed iai-mcp upgrades it. Hooks and MCP entries in your
agent programs stay as they are; 'iai-mcp up' then swaps the running daemon, and nobody is turned away.

  iai-mcp upgrade           what to run, for pipx, uv tool, pip or a clone
  iai-mcp upgrade --json    the same for programs
"""

import argparse

from iai_mcp import __version__, installation
from iai_mcp.cli import output


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="one JSON object for programs")


def run(arguments: argparse.Namespace) -> int:
    found = installation.current()
    result = {
        "version": __version__,
        "way": found.way,
        "place": found.place,
        "origin": found.origin or None,
        "lasts": found.lasts,
        "commands": list(found.commands),
    }
    by = "running from the clone" if found.way == "clone" else f"installed by {found.way} in"
    lines = [f"iai-mcp {__version__}, {by} {found.place}"]
    if found.origin:
        lines.append(f"from {found.origin}")
    lines += ["", "to upgrade:", *(f"  {command}" for command in found.commands)]
    if found.missing:
        lines += ["", found.missing]
    if not found.lasts:
        lines += ["", *stays(found)]
    output.emit(result, "\n".join(lines), as_json=arguments.json)
    return 0


def stays(found: installation.Installation) -> tuple[str, ...]:
    """What to tell somebody whose agent programs start us from a clone."""
    return (
        f"It runs from {found.place}: hooks and tools stop when that is moved or removed.",
        f"For one that stays: pipx install {found.place} (or uv tool install), then iai-mcp hosts install",
    )
