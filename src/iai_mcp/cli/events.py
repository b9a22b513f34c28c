"""What happened: sleeps, wakings, backups; agents and their sessions. Never what people said.

iai-mcp events              the latest
iai-mcp events --follow     and those to come, until Ctrl-C
iai-mcp events --follow --kind SessionStatusChanged    who works, waits and rests
"""

import argparse
import time

from iai_mcp.cli import memory_access, output, times
from iai_mcp.client import connection
from iai_mcp.domain.errors import Busy, DaemonUnreachable


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--kind", help="only events of this kind")
    times.add(parser, "--since", "not before this time")
    parser.add_argument("-n", "--limit", type=int, default=20, help="at most so many (default 20)")
    parser.add_argument("-f", "--follow", action="store_true", help="keep showing new ones")
    parser.add_argument("--json", action="store_true", help="one JSON object for programs")


def run(arguments: argparse.Namespace) -> int:
    params: dict[str, object] = {"limit": arguments.limit}
    for name in ("kind", "since"):
        if getattr(arguments, name):
            params[name] = getattr(arguments, name)
    found = memory_access.call("events_query", params, looks=True)
    if not arguments.follow:
        events = found["events"]
        assert isinstance(events, list)  # noqa: S101 - the method's own promise
        nothing = "nothing of that happened" if len(params) > 1 else "nothing happened yet"
        output.emit(found, _table(events) or nothing, as_json=arguments.json)
        return 0
    return _follow(found, params, arguments.json)


def _follow(found: dict[str, object], params: dict[str, object], as_json: bool) -> int:
    last = 0
    while True:
        events = found["events"]
        assert isinstance(events, list)  # noqa: S101 - the method's own promise
        fresh = [event for event in events if event["id"] > last]
        if as_json:
            for event in fresh:
                output.say_json(event)
        elif fresh:
            output.say(_table(fresh))
        last = fresh[-1]["id"] if fresh else last
        output.flush()
        try:
            # Without a daemon every look opens the store, and keeps a starting daemon out of it.
            time.sleep(0.5 if connection.is_up() else 2.0)
            found = memory_access.call("events_query", {**params, "limit": 1000}, looks=True)
        except (Busy, DaemonUnreachable):
            continue  # it is just starting or stopping


def _table(events: list[dict[str, object]]) -> str:
    return output.table([_row(event) for event in events]) if events else ""


def _row(event: dict[str, object]) -> list[str]:
    when = str(event["ts"])[:19].replace("T", " ")
    return [when, str(event["kind"]), _in_words(event["data"])]


def _in_words(value: object) -> str:
    """What an event tells, for people: names and values, without what is empty."""
    if isinstance(value, dict):
        told = ((str(name).replace("_", " "), _in_words(one)) for name, one in value.items())
        return ", ".join(f"{name} {one}" for name, one in told if one)
    if isinstance(value, list):
        return " and ".join(filter(None, map(_in_words, value)))
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3g}"
    return "" if value is None else str(value)
