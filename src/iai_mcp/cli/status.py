"""Is memory on, how much is stored, and is anything waiting?

Exit code 0 when the daemon answers, 3 when it does not.
"""

import argparse

from iai_mcp import __version__
from iai_mcp.cli import output
from iai_mcp.cli.vectors_left import VectorsLeft
from iai_mcp.client import connection
from iai_mcp.domain.errors import DaemonNotOurs, DaemonUnreachable

_DOWN = 3


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="one JSON object for programs")


def run(arguments: argparse.Namespace) -> int:
    try:
        status = connection.control("status")
    except DaemonUnreachable as down:
        what_to_do = (
            down.message if isinstance(down, DaemonNotOurs) else "start it with: iai-mcp up"
        )
        output.emit(
            {"ok": False, "reason": "unreachable", "error": down.message},
            f"{output.paint('memory is off', 'yellow')}; {what_to_do}",
            as_json=arguments.json,
        )
        return _DOWN
    output.emit(status, _told(status), as_json=arguments.json)
    return 0


def _told(status: dict[str, object]) -> str:
    rows = [
        ("memory", f"{output.paint('on', 'green')}, {str(status.get('state')).lower()}"),
        (
            "daemon",
            f"pid {status.get('pid')}, version {status.get('version')}, up {_since(status.get('uptime_sec'))}",
        ),
        ("memories", f"{status.get('records')}"),
        ("meaning", _meaning(status)),
        ("clients", f"{status.get('active_connections')} connected"),
    ]
    spool = status.get("spool")
    if isinstance(spool, dict) and any(spool.values()):
        rows.append(
            ("spool", ", ".join(f"{count} {what}" for what, count in spool.items() if count))
        )
    tasks = status.get("tasks")
    if isinstance(tasks, dict):
        rows += [("trouble", _trouble(name, one)) for name, one in tasks.items()]
    if status.get("scheduler_paused"):
        rows.append(("sleep", "paused; 'iai-mcp sleep --resume' lifts it"))
    if status.get("version") != __version__:
        rows.append(("note", f"this is version {__version__}: 'iai-mcp up' swaps the daemon"))
    rows.append(("store", f"{status.get('store')}"))
    return output.table(rows)


def _trouble(name: str, task: dict[str, object]) -> str:
    now = "it runs again" if task.get("running") else "it is tried again"
    return f"{name} failed {task.get('failures')} times, last {task.get('error')}; {now} ('iai-mcp doctor')"


def _meaning(status: dict[str, object]) -> str:
    if not status.get("model_ready"):
        return str(status.get("model")).removeprefix("meaning: ")
    left = str(VectorsLeft.told(status))
    return f"{status.get('model')}" + (f"; {left}" if left else "")


def _since(seconds: object) -> str:
    if not isinstance(seconds, int | float):
        return "?"
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"
