"""Import the history that your agent programs already have.

iai-mcp import                          everything found on this machine
iai-mcp import --dry-run                how much there is, without importing it
iai-mcp import --host codex --since "last month"
iai-mcp import ~/Downloads/conversations.json     an export of ChatGPT or Claude.ai
iai-mcp import memories.jsonl           what 'iai-mcp export' wrote
iai-mcp import --from iai-mcp-0.4       memories of the original iai-mcp (needs: pip install lancedb)

Secrets are replaced and places you keep out of memory are left out, as in live capture. Importing
again is safe: what is known already is not added twice, and what was forgotten stays away. An
import that was stopped goes on where it was. Text can be found at once; vectors follow.
"""

import argparse
import os
import time
from collections import Counter
from contextlib import suppress
from datetime import datetime

from iai_mcp import paths
from iai_mcp.adapters import original_store
from iai_mcp.cli import lost_projects, memory_access, output, times
from iai_mcp.cli.import_run import Counts, Done, Import, Imported, as_json, is_export, take_in
from iai_mcp.cli.memory_access import Call
from iai_mcp.cli.vectors_left import VectorsLeft
from iai_mcp.domain.errors import InvalidInput
from iai_mcp.domain.shown_text import memories
from iai_mcp.hosts import READABLE, histories
from iai_mcp.hosts.histories import History

_BAR = 28
_REDRAW_SECONDS = 0.1
_GOES_ON = "what was imported stays, and 'iai-mcp import' goes on from there"
_LANGUAGE_TOLD = "language-told"  # that a model for the history's language was suggested


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", nargs="*", help="files or directories; default: all that is found")
    parser.add_argument("--host", help=f"only this one: {', '.join(sorted(READABLE))}")
    parser.add_argument(
        "--from",
        dest="source",
        choices=[original_store.SOURCE],
        help="read the store of the original iai-mcp; PATH is its directory if it is elsewhere",
    )
    times.add(parser, "--since", "only what was said since this time")
    parser.add_argument("--dry-run", action="store_true", help="count, and change nothing")
    parser.add_argument("--again", action="store_true", help="read files that did not change, too")
    parser.add_argument("--no-wait", action="store_true", help="do not wait for the vectors")
    parser.add_argument("--json", action="store_true", help="one JSON object for programs")


def run(arguments: argparse.Namespace) -> int:
    if arguments.source:
        from iai_mcp.cli import import_original

        return import_original.run(arguments)
    exports = [path for path in arguments.path if is_export(path)]
    if exports:
        return _exports(exports, arguments)
    since = times.micros(arguments.since, "--since") if arguments.since else None
    found = _found(arguments.path, arguments.host)
    bar = _Bar(found, shown=output.redraws() and not arguments.json)
    if not arguments.json:
        output.say(_overview(found))
    original = original_store.notice()
    if original and not arguments.json:
        output.note(original)
    more: dict[str, object] = {"original_store": original} if original else {}
    if not found:
        output.emit({**as_json(Imported()), **more}, "", as_json=arguments.json)
        return 0
    if arguments.dry_run:
        result = Import(None, since, bar.moved)(found, Done())
        bar.end()
        output.emit({**as_json(result), **more}, _counted(result), as_json=arguments.json)
        return 0
    started = time.monotonic()
    with memory_access.held() as call:
        result = _imported(found, call, since, bar, again=arguments.again)
        left = VectorsLeft.told(call("topology", {}))
    seconds = time.monotonic() - started
    if arguments.path:
        result.problems += _without_turns(found, result)
    told = {**as_json(result), **more, "seconds": round(seconds, 3), "vectors_pending": left.all}
    suggestion = _suggestion(result.sample)
    lost = lost_projects.guesses(result.directories)
    told |= {"suggestion": suggestion} if suggestion else {}
    told |= {"lost_projects": lost} if lost else {}
    output.emit(told, _summary(result, seconds), as_json=arguments.json)
    if not arguments.json:
        _ask_and_tell(suggestion, result, [one["lost"] for one in lost])
        _vectors(left, wait=not arguments.no_wait)
    return 0


def _without_turns(found: list[History], result: Imported) -> list[str]:
    """What to tell a person whose files were read and held nothing."""
    total = result.total()
    if total.turns or total.unchanged or result.problems or not found:
        return []
    read_as = ", ".join(sorted({history.host for history in found}))
    return [
        f"no turns found, read as {read_as}: if another program wrote it, name that with --host"
    ]


def _ask_and_tell(suggestion: str, result: Imported, lost: list[str]) -> None:
    """What the history says about itself that a person may act upon."""
    if suggestion:
        output.note(suggestion)
    if output.is_terminal():
        lost_projects.ask(result.directories)
    elif lost:
        many = "1 directory" if len(lost) == 1 else f"{len(lost)} directories"
        output.note(
            f"{many} of the history may be another path of a project here; "
            f"to join them: iai-mcp project map {lost[0]} NEW"
        )


def _suggestion(sample: list[str]) -> str:
    """What to tell somebody whose history is in another language, once."""
    from iai_mcp.checks import language  # late: it reads what the models' files say

    said = paths.in_user_data(_LANGUAGE_TOLD)
    if os.path.lexists(said) or not language.is_mismatch(sample):
        return ""
    with suppress(OSError):  # else it is said again the next time
        os.close(os.open(said, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600))
    return f"{language.PROBLEM}: {language.FIX}"


def _exports(exports: list[str], arguments: argparse.Namespace) -> int:
    """Files that another iai-mcp exported, instead of a host's history."""
    if len(exports) != len(arguments.path):
        raise InvalidInput("import exports of iai-mcp and histories of hosts one after the other")
    counts: Counter[str] = Counter()
    with memory_access.held() as call:
        for path in exports:
            counts.update(take_in(path, call))
    told = f"{memories(counts['inserted'])} imported, {counts['duplicates']} were known already"
    output.emit(dict(counts), told, as_json=arguments.json)
    return 0


def _imported(
    found: list[History], call: Call, since: int | None, bar: "_Bar", *, again: bool
) -> Imported:
    done = Done() if again else Done.noted(_number(call("topology", {}), "records"))
    try:
        return Import(call, since, bar.moved)(found, done)
    except KeyboardInterrupt as stopped:
        raise KeyboardInterrupt(_GOES_ON) from stopped
    finally:
        bar.end()
        done.keep(_number(call("topology", {}), "records"))


def _found(names: list[str], host: str | None) -> list[History]:
    if host is not None and host not in READABLE:
        raise InvalidInput(f"no history of '{host}' is known; one of {', '.join(sorted(READABLE))}")
    for name in names:
        if name.endswith(".zip"):
            raise InvalidInput(f"{name} is packed: unpack it and import its conversations.json")
    if names:
        return histories.named([os.path.expanduser(name) for name in names], host)
    return histories.on_this_machine(None if host is None else [host])


def _overview(found: list[History]) -> str:
    if not found:
        return "no history of any agent program was found here"
    rows = []
    for host in sorted({history.host for history in found}):
        mine = [history for history in found if history.host == host]
        first, last = (_date(one.modified) for one in (mine[0], mine[-1]))
        size = sum(history.size for history in mine)
        rows.append([host, str(len(mine)), _size(size), f"{first} to {last}"])
    return output.table(rows, ["host", "files", "size", "last changed"])


def _counted(result: Imported) -> str:
    total = result.total()
    return "\n".join([f"{total} in {total.files:,} files", *_by_host(result)])


def _summary(result: Imported, seconds: float) -> str:
    total = result.total()
    rate = f", {total.turns / seconds:,.0f} a second" if total.turns and seconds > 0.5 else ""
    lines = [
        f"{output.paint(f'{total.inserted:,} new', 'green')}, {total.duplicates:,} known already, "
        f"{total.skipped:,} kept out ({total} in {seconds:.1f} s{rate})"
    ]
    lines += _by_host(result)
    if total.unchanged:
        lines.append(f"{total.unchanged:,} files did not change since the last import")
    lines += [output.paint(problem, "yellow") for problem in result.problems[:10]]
    if len(result.problems) > 10:
        lines.append(f"… and {len(result.problems) - 10} more files that could not be read whole")
    return "\n".join(lines)


def _by_host(result: Imported) -> list[str]:
    def line(host: str, counts: Counts) -> str:
        return f"  {host:<12} {counts} in {counts.files:,} files"

    return [line(host, counts) for host, counts in sorted(result.hosts.items())]


def _vectors(left: VectorsLeft, *, wait: bool) -> None:
    """Show how the vectors follow, while somebody is watching and a daemon makes them."""
    if not left.all:
        return
    from iai_mcp.client import connection

    daemon = connection.control("status") if connection.is_up() else {}
    if "install" in str(daemon.get("model")):  # nobody makes them: watching would never end
        output.say("recall works by words; for meaning too, run once: iai-mcp model install")
        return
    if not (wait and output.redraws() and daemon):
        output.say(
            f"{left.all:,} vectors follow in the background ('iai-mcp status' shows how many)"
        )
        return
    most = {True: left.first, False: left.all}  # in each of the two stages
    try:
        while left.all and connection.is_up():
            first = left.first > 0
            now = left.first if first else left.all
            most[first] = max(most[first], now)
            output.redraw(f"  {_drawn(1 - now / most[first])} {left}")
            time.sleep(0.5)
            left = VectorsLeft.told(connection.call("topology", {}))
    except KeyboardInterrupt:  # only the watching ends; the import is done
        output.redraw("")
        output.say(f"the vectors go on in the daemon ('iai-mcp status' shows how many): {left}")
        return
    output.redraw(f"  {_drawn(1.0)} vectors done")
    output.aside("")


class _Bar:
    """How far the import is, by the size of the files, on one line of the terminal."""

    def __init__(self, found: list[History], *, shown: bool) -> None:
        self._total = sum(history.size for history in found) or 1
        self._shown = shown
        self._current: History | None = None
        self._passed = 0
        self._drawn_at = 0.0

    def moved(self, history: History, counts: Counts) -> None:
        if self._current is not history:
            self._passed += self._current.size if self._current else 0
            self._current = history
        now = time.monotonic()
        if self._shown and now - self._drawn_at >= _REDRAW_SECONDS:
            self._drawn_at = now
            share = self._passed / self._total
            output.redraw(f"  {_drawn(share)} {share:4.0%}  {history.host}: {counts.said}")

    def end(self) -> None:
        if self._shown and self._drawn_at:
            output.redraw("")


def _drawn(share: float) -> str:
    full = round(max(0.0, min(1.0, share)) * _BAR)
    return f"[{'#' * full}{'.' * (_BAR - full)}]"


def _date(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d")


def _size(count: int) -> str:
    return f"{count / 1e6:,.1f} MB" if count >= 100_000 else f"{count / 1e3:,.1f} KB"


def _number(answer: dict[str, object], name: str) -> int:
    value = answer.get(name)
    return value if isinstance(value, int) else 0
