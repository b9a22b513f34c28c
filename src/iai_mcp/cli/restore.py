"""Put a backup in the store's place, after checking all of it.

The daemon is stopped meanwhile and started again if it ran. What was there before is kept beside the
store, named after the moment: 'memory.db.before-restore-2026-03-01-093000-123'. The last three are kept.

  iai-mcp restore ~/safe/memory.backup                 asks; in a script it needs --yes
  iai-mcp restore memory.backup --key-file key.txt     on another machine, with its exported key

What an agent or retention forgot in the last 7 days can come back as well:

  iai-mcp restore --forgotten                          lists it
  iai-mcp restore --forgotten --yes                    brings all of it back
  iai-mcp restore --forgotten ID --yes                 brings one memory back
  iai-mcp restore --superseded ID                      lets a memory hold again that was superseded
"""

import argparse
import sys
from pathlib import Path

from iai_mcp import paths
from iai_mcp.cli import last_recall, memory_access, output
from iai_mcp.cli.backup import counted
from iai_mcp.domain.errors import InvalidInput
from iai_mcp.domain.shown_text import memories, shortened, shown_line

_PATIENCE = 3600.0  # seconds
_SHOWN = 50
_WIDTH = 100
_HOW = "bring all of it back with: iai-mcp restore --forgotten --yes (or name ids)"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", nargs="*", help="the backup; with --forgotten ids of memories")
    parser.add_argument(
        "--forgotten",
        action="store_true",
        help="list what an agent or retention forgot in the last 7 days; with --yes bring it back",
    )
    parser.add_argument("--superseded", metavar="ID", help="let this memory hold again")
    parser.add_argument(
        "--key-file", help="the key as 'crypto export-key' printed it; '-' for stdin"
    )
    parser.add_argument("--yes", action="store_true", help="do not ask before replacing a store")
    parser.add_argument("--json", action="store_true", help="one JSON object for programs")


def run(arguments: argparse.Namespace) -> int:
    if arguments.forgotten:
        return _forgotten(arguments)
    if arguments.superseded:
        told = memory_access.call(
            "memory_reinstate", {"id": last_recall.meant(arguments.superseded)}
        )
        output.emit(told, "it holds again", as_json=arguments.json)
        return 0
    if len(arguments.file) != 1:
        raise InvalidInput("name one backup file, or use --forgotten")
    from iai_mcp.adapters.keys import backup

    source = Path(arguments.file[0]).expanduser()
    header = backup.read_header(source)
    _ask(arguments, header.records)
    key = _key(arguments.key_file)
    result = _replaced(source, key)
    said = f"restored {counted(result)} as of {result['created']}"
    if result["kept"]:
        said += f"\nwhat was there before is kept as {result['kept']}"
    output.emit(result, said, as_json=arguments.json)
    return 0


def _forgotten(arguments: argparse.Namespace) -> int:
    params: dict[str, object] = {"ids": arguments.file} if arguments.file else {}
    if arguments.yes:
        done = memory_access.call("forgotten_restore", {**params, "restore": True}, _PATIENCE)
        output.emit(
            done, f"restored {memories(int(str(done['restored'])))}", as_json=arguments.json
        )
        return 0
    found = memory_access.call("forgotten_restore", params, _PATIENCE, looks=True)
    output.emit(found, "\n".join(_listed(found)), as_json=arguments.json)
    return 0


def _listed(found: dict[str, object]) -> list[str]:
    records = found["records"]
    if not isinstance(records, list) or not records:
        return ["an agent or retention forgot nothing in the last 7 days"]
    lines = [
        shown_line(
            f"{one['id']}  {one['forgotten_by']}, until {str(one['until'])[:10]}  "
            f"{one['role']}: {shortened(str(one['text']), _WIDTH)}"
        )
        for one in records[:_SHOWN]
    ]
    more = int(str(found["count"])) - len(lines)
    return [*lines, *([f"and {more} more"] if more > 0 else []), _HOW]


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
