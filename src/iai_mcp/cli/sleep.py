"""Upkeep of the memory. It runs by itself after half an hour without a request: it folds copies, finds topics,
forgets what is older than the retention, compacts, checks and backs up.

  iai-mcp sleep                 what the last run did
  iai-mcp sleep --now           run it now and wait for the report
  iai-mcp sleep --pause 2h      hold it off for two hours (without a time: until --resume)
  iai-mcp sleep --resume        let it run by itself again
"""

import argparse
import os

from iai_mcp.cli import memory_access, output

_AS_LONG_AS_IT_TAKES = 3600.0


def configure(parser: argparse.ArgumentParser) -> None:
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--now", action="store_true", help="run it now and wait")
    what.add_argument("--status", action="store_true", help="what the last one did (the default)")
    what.add_argument(
        "--pause", nargs="?", const="", metavar="TIME", help="hold it off: 3600, 90m, 2h, 3d"
    )
    what.add_argument("--resume", action="store_true", help="no longer hold it off")
    parser.add_argument("--json", action="store_true", help="one JSON object for programs")


def run(arguments: argparse.Namespace) -> int:
    if arguments.pause is not None or arguments.resume:
        return _held_off(arguments.pause, arguments.json)
    if arguments.now:
        params: dict[str, object] = {"wait": True, "cwd": os.getcwd()}
        result = memory_access.call("memory_consolidate", params, timeout=_AS_LONG_AS_IT_TAKES)
    else:
        result = memory_access.call("sleep_report", {"cwd": os.getcwd()}, looks=True)
    output.emit(result, _told(result), as_json=arguments.json)
    return 0


def _held_off(pause: str | None, as_json: bool) -> int:
    from iai_mcp.client import connection
    from iai_mcp.domain.moments import seconds_in

    if pause is None:
        answer = connection.control("resume")
        told = "memory sleeps again when nobody asks"
    elif not pause:
        answer = connection.control("pause")
        told = "sleep is held off until: iai-mcp sleep --resume"
    else:
        seconds = seconds_in(pause, name="--pause")
        answer = connection.control("pause", seconds=seconds)
        told = f"sleep is held off for {seconds} s"
    if not answer.get("ok"):
        from iai_mcp.domain.errors import InvalidInput

        raise InvalidInput(str(answer.get("error")))
    output.emit(answer, told, as_json=as_json)
    return 0


def _told(report: dict[str, object]) -> str:
    if report.get("state") == "never":
        return "memory has not slept yet; run it now with: iai-mcp sleep --now"
    steps = report.get("steps")
    rows = (
        [_row(step) for step in steps if isinstance(step, dict)] if isinstance(steps, list) else []
    )
    when = str(report.get("finished") or report.get("started"))[:19].replace("T", " ")
    state = "finished" if report.get("state") == "done" else "not finished, begun"
    parts = [
        f"last sleep: {state} {when} UTC, {report.get('seconds')} s of work in {report.get('pages')} pages",
        output.table(rows, ["step", "pages", "seconds", "what it did"]),
    ]
    return "\n\n".join(parts)


def _row(step: dict[str, object]) -> list[str]:
    known = ("name", "done", "pages", "seconds", "failed")
    did = [f"{name} {number}" for name, number in step.items() if name not in known and number]
    if step.get("failed"):
        did.append(f"failed: {step['failed']}")
    elif not step.get("done"):
        did.append("not done yet")
    return [
        str(step["name"]),
        str(step["pages"]),
        str(step["seconds"]),
        ", ".join(did) or "nothing to do",
    ]
