"""Put a backup in the store's place, after checking all of it.

The daemon is stopped meanwhile and started again if it ran. What was there before is kept beside the
store, named after the moment: 'memory.db.before-restore-2026-03-01-093000-123'. The last three are kept.

  iai-mcp restore ~/safe/memory.backup                 asks; in a script it needs --yes
  iai-mcp restore memory.backup --key-file key.txt     on another machine, with its exported key
"""

import argparse
import sys
from pathlib import Path

from iai_mcp import paths
from iai_mcp.cli import output
from iai_mcp.cli.backup import counted
from iai_mcp.domain.errors import InvalidInput
from iai_mcp.domain.shown_text import memories


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", help="the backup")
    parser.add_argument(
        "--key-file", help="the key as 'crypto export-key' printed it; '-' for stdin"
    )
    parser.add_argument("--yes", action="store_true", help="do not ask before replacing a store")
    parser.add_argument("--json", action="store_true", help="one JSON object for programs")


def run(arguments: argparse.Namespace) -> int:
    from iai_mcp.adapters.keys import backup

    source = Path(arguments.file).expanduser()
    header = backup.read_header(source)
    _ask(arguments, header.records)
    key = _key(arguments.key_file)
    result = _replaced(source, key)
    said = f"restored {counted(result)} as of {result['created']}"
    if result["kept"]:
        said += f"\nwhat was there before is kept as {result['kept']}"
    output.emit(result, said, as_json=arguments.json)
    return 0


def _replaced(source: Path, key: str | None) -> dict[str, object]:
    from iai_mcp.adapters.keys import backup
    from iai_mcp.cli import up

    with up.with_memory_off():
        directory = Path(paths.private_dir(paths.user_data()))
        return backup.restore(directory, source, key)


def _ask(arguments: argparse.Namespace, records: int) -> None:
    if output.told_to(arguments, "a restore puts the backup in the present store's place"):
        return
    if not Path(paths.in_user_data("memory.db")).exists():
        return
    if not output.agrees(f"Replace the present store by a backup of {memories(records)}?"):
        raise InvalidInput("nothing was changed")


def _key(named: str | None) -> str | None:
    if named is None:
        return None
    if named == "-":
        return sys.stdin.read()
    try:
        return Path(named).expanduser().read_text("ascii")
    except (OSError, ValueError) as unreadable:
        raise InvalidInput(f"the key file {named} can not be read") from unreadable
