"""Examine everything: daemon, socket, key, store, model, spool, hosts, disk. One line per check.

Exit code 0 when nothing failed, 1 when something did; warnings do not fail.

  iai-mcp doctor --fix      repairs what is safe to repair (permissions, a stale socket, strays)
  iai-mcp doctor --project ssh://ann@build/srv/shop
                            examines that machine: connection, what runs there, memory, programs
"""

import argparse
import os
import stat
from dataclasses import asdict
from pathlib import Path

from iai_mcp import paths
from iai_mcp.adapters.original_store import DIRECTORY
from iai_mcp.checks import all_checks
from iai_mcp.checks.result import Check, failed
from iai_mcp.cli import memory_access, output
from iai_mcp.client import connection
from iai_mcp.concurrency import cleanup_stale_socket
from iai_mcp.domain.errors import IaiError, InvalidInput
from iai_mcp.domain.projects.identity import is_elsewhere

_COLOURS = {"PASS": "green", "WARN": "yellow", "FAIL": "red"}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--fix", action="store_true", help="repair what is safe to repair")
    parser.add_argument(
        "--project", metavar="ADDRESS", help="a project on another machine, as ssh://HOST/DIR"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object for programs")


def run(arguments: argparse.Namespace) -> int:
    fixed = _fix() if arguments.fix else []
    checks = _of_project(arguments.project) if arguments.project else _of_everything()
    worst = any(check.status == "FAIL" for check in checks)
    result = {"ok": not worst, "fixed": fixed, "checks": [asdict(check) for check in checks]}
    told = output.table([_row(check) for check in checks])
    text = "\n".join([*(f"fixed: {what}" for what in fixed), told])
    output.emit(result, text, as_json=arguments.json)
    return 1 if worst else 0


def _of_everything() -> list[Check]:
    return [*all_checks.of_machine(), *_of_store()]


def _of_project(named: str) -> list[Check]:
    if not is_elsewhere(named):
        raise InvalidInput("--project is for one on another machine: ssh://[user@]host[:port]/path")
    from iai_mcp.checks import remote

    return remote.of_project(named)


def _of_store() -> list[Check]:
    """By the daemon if it is up, else by opening the store here; nothing is made where none is."""
    store = paths.in_user_data("memory.db")
    if not connection.is_up() and not (os.path.isfile(store) and os.path.getsize(store)):
        return []
    try:
        found = memory_access.call("doctor", {"store_only": True})["checks"]
    except IaiError as refused:
        return [failed("store", refused.message, "see the sentence before this")]
    assert isinstance(found, list)  # noqa: S101 - the method's own promise
    return [Check(**one) for one in found]


def _fix() -> list[str]:
    """What is safe: modes of our own files, a socket that nobody serves."""
    done: list[str] = []
    root = Path(paths.user_data())
    if root.exists() and paths.is_loose(str(root)):
        root.chmod(0o700)
        done.append(f"{root} is private now")
    for path in root.rglob("*"):
        if DIRECTORY in path.relative_to(root).parts[:1]:
            continue  # of the original iai-mcp: nothing of it is touched
        found = path.lstat()
        ours = found.st_uid == os.geteuid() and not stat.S_ISLNK(found.st_mode)
        if ours and found.st_mode & 0o077:
            path.chmod(0o700 if stat.S_ISDIR(found.st_mode) else 0o600)
            done.append(f"{path} is private now")
    if not connection.is_up() and cleanup_stale_socket(paths.socket_path()):
        done.append("a socket that nobody served was removed")
    return done


def _row(check: Check) -> list[str]:
    mark = output.paint(check.status, _COLOURS[check.status])
    fix = f"  → {check.fix}" if check.fix and check.fix not in check.detail else ""
    return [mark, check.name, f"{check.detail}{fix}"]
