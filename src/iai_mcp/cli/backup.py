"""Copy the whole store, encrypted, into one file, while everything goes on.

  iai-mcp backup ~/safe/memory.backup

The file can only be read with the store's key. To move to another machine, bring the file and the key:
with a passphrase that is all; else also take what 'iai-mcp crypto export-key' prints.
"""

import argparse
import os

from iai_mcp.cli import memory_access, output
from iai_mcp.domain.shown_text import memories


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", help="where to write the backup; an existing file is replaced")
    parser.add_argument("--json", action="store_true", help="one JSON object for programs")


def run(arguments: argparse.Namespace) -> int:
    path = os.path.abspath(os.path.expanduser(arguments.file))
    made = memory_access.call("backup", {"path": path}, timeout=3600)
    size = int(str(made["bytes"])) / 1e6
    said = f"{counted(made)}, {size:.1f} MB, encrypted: {made['path']}"
    output.emit(made, said, as_json=arguments.json)
    return 0


def counted(told: dict[str, object]) -> str:
    """How much a backup holds: what was said, and what sleep made of it."""
    derived = told.get("derived")
    return memories(told["records"]) + (f" and {derived} derived from them" if derived else "")
