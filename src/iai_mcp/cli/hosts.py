"""Connect the agent programs on this machine to the memory, or disconnect them again.

  iai-mcp hosts list                  which programs are here, and whether they are connected
  iai-mcp hosts install               connect all that are here (shows what would change and asks)
  iai-mcp hosts install codex --yes   connect one, without a question
  iai-mcp hosts install --dry-run     only show what would change; with --diff every line of it
  iai-mcp hosts remove gemini         disconnect: the files are as they were before
  iai-mcp hosts status                the same as list, with the files

What is written into a program's own settings: hooks that capture what is said and bring
memories into a new session, and the MCP server 'iai-mcp'. Your keys, comments and formatting
stay. A backup of each file is kept in the user-data directory until you disconnect.
"""

import argparse
import os
from collections.abc import Sequence

from iai_mcp import paths
from iai_mcp.cli import output
from iai_mcp.hosts import registry
from iai_mcp.hosts.host import Host
from iai_mcp.hosts.registry import Outcome

_OFFERED = "hosts-offered"  # that `up` has asked; in the user-data directory

# How a state is told: of a program that is here, of one that is not, and its colour.
_TOLD = {
    "installed": ("connected", "connected, program not found", "green"),
    "plugin": ("connected by its plugin", "connected by its plugin, program not found", "green"),
    "outdated": ("outdated: iai-mcp hosts install", "outdated, program not found", "yellow"),
    "partly": ("partly connected: iai-mcp hosts install", "partly connected", "yellow"),
    "twice": ("connected twice: iai-mcp hosts remove", "connected twice", "yellow"),
    "broken": ("its file can not be read: iai-mcp doctor", "its file can not be read", "red"),
    "absent": ("found, not connected", "not here", "dim"),
}

# What was not done yet is not told as if it were.
_WOULD = {"created": "would create", "changed": "would change", "removed": "would remove"}

_NONE_FOUND = (
    "No agent program was found on this machine. To connect one anyway, name it: iai-mcp hosts install claude-code\n"
    "known are: {}"
)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("list", "install", "remove", "status"))
    # Without a default of its own, argparse calls it required.
    parser.add_argument(
        "hosts", nargs="*", default=[], metavar="HOST", help="default: all that are here"
    )
    parser.add_argument("--yes", "-y", action="store_true", help="do not ask")
    parser.add_argument("--dry-run", action="store_true", help="show the changes, make none")
    parser.add_argument("--diff", action="store_true", help="show every line that would change")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")


def run(args: argparse.Namespace) -> int:
    chosen = [registry.host(name) for name in dict.fromkeys(args.hosts)]
    if args.action in ("list", "status"):
        return _show(chosen or registry.hosts(), with_files=args.action == "status", args=args)
    if args.action == "install":
        return _change(chosen or registry.detected(), args)
    # Removing looks at every host: one that is gone from PATH may still have our entries.
    return _change(chosen or registry.hosts(), args)


def will_offer() -> bool:
    """Whether `offer_once` would ask: somebody is there, was not asked before, and something can be connected."""
    if not output.is_terminal() or os.path.exists(paths.in_user_data(_OFFERED)):
        return False
    return any(registry.plan_install(host).changes for host in registry.missing())


def offer_once() -> None:
    """For `iai-mcp up` on first use: connect what is here, if the person at the terminal wants it.

    Asks once in the life of a user-data directory; 'iai-mcp hosts install' is there for later.
    """
    if not will_offer():
        return
    planned = [registry.plan_install(host) for host in registry.missing()]
    planned = [outcome for outcome in planned if outcome.changes]
    paths.private_dir(paths.user_data())
    os.close(os.open(paths.in_user_data(_OFFERED), os.O_WRONLY | os.O_CREAT, 0o600))
    output.say("\nThese agent programs can use the memory by themselves (hooks and tools):")
    output.say(_summary(planned))
    if not _wanted(planned, "Connect them?"):
        output.say("Nothing was changed. To connect them later: iai-mcp hosts install")
        return
    for outcome in registry.install([outcome.host for outcome in planned]):
        output.say("\n".join(_lines(outcome, "install")))


def _wanted(planned: Sequence[Outcome], question: str) -> bool:
    while True:
        answer = output.ask(f"{question} [Y]es, [n]o, [d]iff:")
        if answer is None:
            return False
        if answer.lower() not in ("d", "diff"):
            return answer.lower() in ("", "y", "yes")
        output.say(_diffs(planned))


def _show(chosen: Sequence[Host], *, with_files: bool, args: argparse.Namespace) -> int:
    entries: list[dict[str, object]] = []
    rows: list[tuple[str, ...]] = []
    for host in chosen:
        found, state = host.location(), registry.status(host)
        files = [wanted.path for wanted in registry.files(host)]
        entries.append(
            {
                "id": host.id,
                "name": host.title,
                "detected": found is not None,
                "found": found,
                "status": state,
                "hooks": host.hooks is not None,
                "verified_with": host.seen or None,
                "files": files,
            }
        )
        here, away, colour = _TOLD[state]
        sign = output.paint(here if found else away, colour)
        gives = "capture, injection, tools" if host.hooks else "tools"
        last = [_short(path) for path in files] if with_files else [gives]
        rows.append((host.id, sign, last[0]))
        rows += [("", "", path) for path in last[1:]]
    text = output.table(rows, ("HOST", "STATUS", "FILES" if with_files else "GIVES"))
    if any(entry["detected"] and entry["status"] == "absent" for entry in entries):
        text += "\n\nto connect all that were found: iai-mcp hosts install"
    output.emit({"hosts": entries}, text, as_json=args.json)
    return 0


def _change(chosen: Sequence[Host], args: argparse.Namespace) -> int:
    installing = args.action == "install"
    planned = [
        registry.plan_install(host) if installing else registry.plan_remove(host, chosen)
        for host in chosen
    ]
    if args.dry_run:
        _report(planned, args, dry=True)
        return 1 if any(outcome.error for outcome in planned) else 0
    names = ", ".join(outcome.host.title for outcome in planned if outcome.changes)
    consequence = f"this changes the settings of {names}"
    if (
        names
        and not output.told_to(args, consequence)
        and not _agreed(planned, args.action, diff=args.diff)
    ):
        output.say("Nothing was changed.")
        return 0
    done = (registry.install if installing else registry.remove)(chosen)
    _report(done, args, dry=False)
    return 1 if any(outcome.error for outcome in done) else 0


def _agreed(planned: Sequence[Outcome], action: str, *, diff: bool) -> bool:
    changing = [outcome for outcome in planned if outcome.changes]
    output.say(_diffs(changing) if diff else _summary(changing))
    return _wanted(changing, "Connect them?" if action == "install" else "Disconnect them?")


def _summary(planned: Sequence[Outcome]) -> str:
    """What would change, one line for every file."""
    rows = [
        (outcome.host.title, f"{_WOULD[edit.kind]} {_short(edit.path)}")
        for outcome in planned
        for edit in outcome.edits
        if edit.changes
    ]
    return output.table(rows)


def _diffs(planned: Sequence[Outcome]) -> str:
    diffs = (_coloured(edit.diff()) for outcome in planned for edit in outcome.edits)
    return "".join(diffs).rstrip("\n")


def _short(path: str) -> str:
    home = os.path.expanduser("~")
    return f"~{path[len(home) :]}" if path.startswith(f"{home}/") else path


def _report(outcomes: Sequence[Outcome], args: argparse.Namespace, *, dry: bool) -> None:
    entries = [_entry(outcome, args.action, dry=dry) for outcome in outcomes]
    lines: list[str] = []
    for outcome in outcomes:
        lines += _lines(outcome, args.action, dry=dry, diff=args.diff)
    if outcomes and not lines:
        lines = _unchanged(outcomes, args)
    if not outcomes:
        lines.append(_NONE_FOUND.format(", ".join(host.id for host in registry.hosts())))
    if dry and not args.diff and any(outcome.changes for outcome in outcomes):
        lines.append("every line of it: add --diff")
    output.emit({"hosts": entries, "dry_run": dry}, "\n".join(lines), as_json=args.json)
    if args.action == "install" and not args.json and any(one.changes for one in outcomes):
        _say_if_it_does_not_last()


def _say_if_it_does_not_last() -> None:
    from iai_mcp import installation
    from iai_mcp.cli import upgrade

    found = installation.current()
    if not found.lasts:
        output.note("\n      ".join(upgrade.stays(found)))


def _entry(outcome: Outcome, action: str, *, dry: bool) -> dict[str, object]:
    entry: dict[str, object] = {
        "id": outcome.host.id,
        "status": _verdict(outcome, action),
        "files": [
            {"path": edit.path, "change": edit.kind, **({"diff": edit.diff()} if dry else {})}
            for edit in outcome.edits
        ],
    }
    if outcome.error is not None:
        entry["error"] = {"code": outcome.error.code, "message": outcome.error.message}
    elif outcome.host.note and action == "install":
        entry["note"] = outcome.host.note
    return entry


def _verdict(outcome: Outcome, action: str) -> str:
    if outcome.error is not None:
        return "failed"
    if not outcome.changes:
        return "unchanged"
    return "installed" if action == "install" else "removed"


def _lines(outcome: Outcome, action: str, *, dry: bool = False, diff: bool = False) -> list[str]:
    title = outcome.host.title
    if outcome.error is not None:
        return [f"{title}: {output.paint('left alone', 'red')}. {outcome.error.message}"]
    if dry:
        return [_diffs([outcome]) if diff else _summary([outcome])] if outcome.changes else []
    if not outcome.changes:
        return [f"{title}: {_already(outcome.host)}"] if action == "install" else []
    verb = output.paint("connected" if action == "install" else "disconnected", "green")
    lines = [f"{title}: {verb}"]
    lines += [f"  {edit.kind} {edit.path}" for edit in outcome.edits if edit.changes]
    if action == "install" and outcome.host.note:
        lines.append(f"  {output.paint('note', 'yellow')}: {outcome.host.note}")
    return lines


def _unchanged(outcomes: Sequence[Outcome], args: argparse.Namespace) -> list[str]:
    """Why nothing is done, or would be."""
    if args.action == "install":
        return [f"{outcome.host.title}: {_already(outcome.host)}" for outcome in outcomes]
    by_plugin = [one.host for one in outcomes if registry.status(one.host) == "plugin"]
    if by_plugin:
        return [f"{host.title}: {_already(host)}" for host in by_plugin]
    if not args.hosts:
        return ["Nothing to disconnect: no agent program is connected."]
    titles = [outcome.host.title for outcome in outcomes]
    named = " and ".join(filter(None, (", ".join(titles[:-1]), titles[-1])))
    return [f"Nothing to disconnect: {named} {'is' if len(titles) == 1 else 'are'} not connected."]


def _already(host: Host) -> str:
    state = registry.status(host)
    if state == "plugin":
        return f"connected by our plugin ('{host.drops_plugin}' removes it)"
    if state == "twice":
        return (
            "connected twice, by our plugin and in its settings: nothing is captured twice, but the tools "
            f"stand there twice. Choose one: 'iai-mcp hosts remove {host.id}', or '{host.drops_plugin}'"
        )
    return "already connected"


def _coloured(diff: str) -> str:
    styles = {"+": "green", "-": "red", "@": "blue"}
    return "".join(
        output.paint(line.rstrip("\n"), styles[line[0]]) + "\n" if line[0] in styles else line
        for line in diff.splitlines(keepends=True)
    )
