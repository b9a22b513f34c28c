"""The key that encrypts the store: make it, look at it, change it.

The key comes from the passphrase in IAI_MCP_CRYPTO_PASSPHRASE if one is set, else from the
system's keyring, else from a private file beside the store.

A passphrase is kept nowhere. If you lose it, everything stored under it is lost with it:
there is no second way in. `rotate` stops the daemon meanwhile and starts it again.
"""

import argparse
import os
from pathlib import Path

from iai_mcp import paths
from iai_mcp.cli import output
from iai_mcp.domain.errors import InvalidInput

_LOST = (
    "Keep the passphrase safe: it is stored nowhere, and without it everything in this store "
    "is lost for good."
)


def configure(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    for name, text in (
        ("init", "make the key before anything is stored"),
        ("status", "show where the key comes from"),
        ("rotate", "encrypt everything under a new key"),
        ("export-key", "print the key, to open a backup on another machine"),
    ):
        action = actions.add_parser(name, help=text, description=text)
        action.add_argument("--json", action="store_true", help="one JSON object for programs")
        if name in ("init", "rotate"):
            action.add_argument("--source", choices=("passphrase", "keyring", "file"))
        if name == "rotate":
            action.add_argument(
                "--new-passphrase-variable",
                metavar="NAME",
                help="the environment variable that holds the new passphrase",
            )


def run(arguments: argparse.Namespace) -> int:
    from iai_mcp.adapters.keys import custody

    directory = Path(paths.user_data())
    if arguments.action == "status":
        found = custody.status(directory)
        output.emit(found, _status(found), as_json=arguments.json)
        return 0
    if arguments.action == "export-key":
        from iai_mcp.adapters.keys import backup

        key = backup.export_key(directory)
        output.emit({"key": key}, key, as_json=arguments.json)
        return 0
    if arguments.action == "init":
        made = custody.init(directory, arguments.source)
        warning = _LOST if made.source == "passphrase" else None
        told = f"the store's key now comes from: {made.source}"
        result = {"source": made.source, "warning": warning}
        output.emit(result, "\n".join(filter(None, (told, warning))), as_json=arguments.json)
        return 0
    return _rotate(arguments, directory)


def _rotate(arguments: argparse.Namespace, directory: Path) -> int:
    from iai_mcp.adapters.keys import custody
    from iai_mcp.adapters.keys.sources import PASSPHRASE_VARIABLE
    from iai_mcp.cli import up

    fresh = _new_passphrase(arguments)
    with up.with_memory_off():
        made = custody.rotate(directory, arguments.source, fresh)
        if fresh is not None:
            os.environ[PASSPHRASE_VARIABLE] = fresh  # the daemon starts with ours
    told = [f"everything is now encrypted under a new key; it comes from: {made.source}"]
    if made.source == "passphrase":
        told += [_LOST, "Set IAI_MCP_CRYPTO_PASSPHRASE to the new passphrase from now on."]
    output.emit({"source": made.source, "rotated": True}, "\n".join(told), as_json=arguments.json)
    return 0


def _new_passphrase(arguments: argparse.Namespace) -> str | None:
    name = arguments.new_passphrase_variable
    if name is None:
        return None
    if arguments.source not in (None, "passphrase"):
        raise InvalidInput("--new-passphrase-variable goes with --source passphrase")
    value = os.environ.pop(name, "")  # what we start has no use for it
    if not value:
        raise InvalidInput(
            f"the environment variable {name} is empty: put the new passphrase there"
        )
    arguments.source = "passphrase"
    return value


def _status(found: dict[str, object]) -> str:
    if not found["initialized"]:
        return (
            "there is no key yet: the first memory makes one ('iai-mcp crypto init' makes it now)"
        )
    rows = [
        ("key", f"from {found['source']}"),
        ("cipher", f"{found['cipher']}, the whole file"),
        ("store", str(found["store"])),
    ]
    if found["rotation_unfinished"]:
        rows.append(("rotation", "was interrupted; the next start finishes or undoes it"))
    if found["passphrase_set"] and found["source"] != "passphrase":
        rows.append(("note", "IAI_MCP_CRYPTO_PASSPHRASE is set and not used by this store"))
    return output.table(rows)
