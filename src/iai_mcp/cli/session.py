"""Terminal sessions: programs that run on when the window, ssh or the memory daemon goes.

  iai-mcp session list                     what runs, in which state, and its last line
  iai-mcp session start -- htop            any program; agents start with: iai-mcp agent launch
  iai-mcp session attach backend-dev       look at it and type; Ctrl-] d leaves it running
  iai-mcp session send backend-dev "run the tests"
  iai-mcp session broadcast "pull main"    the same to every agent of this project
  iai-mcp session wait backend-dev --until idle --timeout 600
  iai-mcp session logs backend-dev         what it printed, as plain text
  iai-mcp session kill backend-dev
  iai-mcp session prune                    forget the ended ones

A session is named by its id, at least 6 digits of its beginning, or its agent's id, slug or name.
"""

import argparse
import os
import sys
import time

from iai_mcp.api import session_views as views
from iai_mcp.cli import output
from iai_mcp.domain.errors import IaiError, InvalidInput
from iai_mcp.remote import all_sessions
from iai_mcp.remote.all_sessions import AllSessions
from iai_mcp.terminal.records import SessionRecord
from iai_mcp.terminal.sessions import Listed, Sent

_UNTIL = ("idle", "waiting", "running", "exited")


def configure(parser: argparse.ArgumentParser) -> None:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--json", action="store_true", help="one JSON object on stdout")
    common.add_argument(
        "--project", metavar="DIR", help="only sessions of this project; ssh://HOST/DIR elsewhere"
    )
    # Named, because argparse otherwise formats a usage line, and imports all of shutil for that.
    commands = parser.add_subparsers(
        dest="action", metavar="ACTION", required=True, prog=parser.prog
    )

    def action(name: str, summary: str, *, session: bool = True) -> argparse.ArgumentParser:
        added = commands.add_parser(name, parents=[common], help=summary, description=summary)
        if session:
            added.add_argument("session", help="id, at least 6 digits of an id, or agent")
        return added

    action("list", "all sessions: agent, state, since when, last line", session=False)
    attach = action("attach", "show the screen and type into it; the detach key leaves it running")
    attach.add_argument("--read-only", action="store_true", help="watch without typing")
    send = action("send", "type a message and Enter, and wait until it was taken")
    send.add_argument("text", help="the message; - reads it from stdin")
    send.add_argument("--no-enter", action="store_true", help="type the text only")
    send.add_argument("--timeout", type=float, default=5.0, metavar="SECONDS")
    logs = action("logs", "what the session printed and still holds, as plain text")
    logs.add_argument("--raw", action="store_true", help="the bytes as the program wrote them")
    logs.add_argument("--lines", type=int, metavar="N", help="only the last N lines")
    start = action("start", "run any program (your shell by default) in a session", session=False)
    start.add_argument("--detach", action="store_true", help="do not attach to it")
    start.add_argument("--rows", type=int, default=0)
    start.add_argument("--cols", type=int, default=0)
    start.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND")
    action("kill", "hang up, SIGKILL after half a second; returns when it has ended")
    broadcast = action("broadcast", "send a message to every agent of the project", session=False)
    broadcast.add_argument("text", help="the message; - reads it from stdin")
    broadcast.add_argument("--timeout", type=float, default=5.0, metavar="SECONDS")
    wait = action("wait", "wait until the session is in a state")
    wait.add_argument("--until", choices=_UNTIL, default="idle")
    wait.add_argument("--timeout", type=float, metavar="SECONDS")
    prune = action("prune", "remove what is left of ended sessions", session=False)
    prune.add_argument("--older", type=float, default=0.0, metavar="DAYS")


def run(arguments: argparse.Namespace) -> int:
    """Do what the action asks."""
    return _ACTIONS[arguments.action](arguments)


def _list(arguments: argparse.Namespace) -> int:
    everything = AllSessions(arguments.project)
    entries = everything.listed()
    for machine, problem in everything.problems.items():
        output.note(f"{machine} is not reachable: {problem}")
    result = views.listing_view(entries, everything.problems)
    output.emit(result, _as_table(entries), as_json=arguments.json)
    return 0


def _start(arguments: argparse.Namespace) -> int:
    from iai_mcp.domain.agents.launch import SpawnSpec
    from iai_mcp.domain.agents.terminal import SessionLabel, TerminalSize
    from iai_mcp.terminal.pty import HolderPty, find

    command = arguments.command[1:] if arguments.command[:1] == ["--"] else arguments.command
    command = command or [os.environ.get("SHELL") or "/bin/sh"]
    here = output.is_terminal()
    cols, rows = (output.terminal_size() if here else None) or (80, 24)
    size = TerminalSize(arguments.rows or rows, arguments.cols or cols)
    spec = SpawnSpec(command[0], tuple(command[1:]), os.getcwd())
    started = HolderPty().spawn(spec, size, label=SessionLabel(project=arguments.project))
    if here and not arguments.detach and not arguments.json:
        from iai_mcp.cli import session_attach

        return session_attach.attach(find(started))
    session = {"id": started, "kind": "shell", "status": "running"}
    output.emit({"session": session}, started, as_json=arguments.json)
    return 0


def _attach(arguments: argparse.Namespace) -> int:
    from iai_mcp.cli import session_attach

    record = _named(arguments)
    if arguments.json or not output.is_terminal():
        raise InvalidInput("attach needs a terminal: use logs, send or wait in scripts")
    return session_attach.attach(record, read_only=arguments.read_only)


def _send(arguments: argparse.Namespace) -> int:
    record, text = _named(arguments), _message(arguments.text)
    enter, timeout = not arguments.no_enter, arguments.timeout
    done = all_sessions.send(record, text, enter=enter, timeout=timeout)
    waits = ", but the program has not read it yet" if done.read is False else ""
    result = views.delivery_view(record, done)
    output.emit(result, f"delivered to {record.id}{waits}", as_json=arguments.json)
    return 0


def _broadcast(arguments: argparse.Namespace) -> int:
    records = AllSessions(arguments.project or os.getcwd()).found()
    sent = all_sessions.broadcast(records, _message(arguments.text), arguments.timeout)
    rows = [(_whose(one.record), one.record.id[:12], _outcome(one)) for one in sent]
    output.emit(views.broadcast_view(sent), output.table(rows), as_json=arguments.json)
    return int(any(isinstance(one.outcome, IaiError) for one in sent))


def _outcome(one: Sent) -> str:
    if isinstance(one.outcome, IaiError):
        return f"not delivered: {one.outcome.message}"
    return "delivered"


def _logs(arguments: argparse.Namespace) -> int:
    record = _named(arguments)
    if arguments.raw and not arguments.json:
        output.pass_on(all_sessions.raw(record))
        return 0
    text = all_sessions.logs(record, plain=not arguments.raw, lines=arguments.lines)
    output.emit(views.logs_view(record, text), text.rstrip("\n"), as_json=arguments.json)
    return 0


def _kill(arguments: argparse.Namespace) -> int:
    record = _named(arguments)
    code = all_sessions.kill(record)
    how = "nobody saw how" if code is None else f"exit code {code}"
    result = views.killed_view(record, code)
    output.emit(result, f"{record.id} has ended ({how})", as_json=arguments.json)
    return 0


def _wait(arguments: argparse.Namespace) -> int:
    reached = all_sessions.wait(_named(arguments), arguments.until, arguments.timeout)
    result = views.reached_view(reached)
    output.emit(result, f"{reached.id} is {reached.status}", as_json=arguments.json)
    return 0


def _prune(arguments: argparse.Namespace) -> int:
    pruned = all_sessions.prune(arguments.project, days=arguments.older)
    output.emit(views.pruned_view(pruned), f"{len(pruned)} forgotten", as_json=arguments.json)
    return 0


_ACTIONS = {
    "list": _list,
    "start": _start,
    "attach": _attach,
    "send": _send,
    "logs": _logs,
    "kill": _kill,
    "broadcast": _broadcast,
    "wait": _wait,
    "prune": _prune,
}


def _named(arguments: argparse.Namespace) -> SessionRecord:
    return AllSessions(arguments.project).named(arguments.session)


def _message(text: str) -> str:
    if text == "-":
        return sys.stdin.read().rstrip("\n")
    if not text:
        raise InvalidInput("there is nothing to send: the message was empty")
    return text


def _as_table(entries: list[Listed]) -> str:
    if not entries:
        return "no sessions; iai-mcp agent launch NAME starts one"
    rows = []
    for entry in entries:
        record = entry.record
        guess = "?" if record.alive and record.source == "guess" else ""
        status = record.status + guess
        if record.status == "exited":
            status += f" {record.exit_code}"
        elif record.rebooted:
            status += " (reboot)"
        rows.append(
            (
                record.id[:12],
                _whose(record),
                record.label.profile_id or "-",
                _place(record),
                status,
                _ago(record.since_ms),
                entry.last_line[:60],
            )
        )
    table = output.table(
        rows, ("ID", "AGENT", "PROFILE", "PROJECT", "STATUS", "SINCE", "LAST LINE")
    )
    return table + _lost_hint(entries)


def _whose(record: SessionRecord) -> str:
    return record.label.agent_name or record.label.agent_id or record.command


def _place(record: SessionRecord) -> str:
    """The project, and the machine where that is another."""
    name = os.path.basename(record.label.project or "") or "-"
    return f"{name} on {record.machine.removeprefix('ssh://')}" if record.machine else name


def _lost_hint(entries: list[Listed]) -> str:
    """How the agents come back that were running when the machine or their holder went down."""
    records = [entry.record for entry in entries]
    running = {_owner(record) for record in records if record.alive}
    lost = {
        _owner(record): record
        for record in records
        if record.status == "lost" and record.label.agent_id and _owner(record) not in running
    }
    if not lost:
        return ""
    lines = [
        f"  iai-mcp agent resume {record.label.agent_id} --session {record.id[:12]}"
        f"{_elsewhere(record)}  # {_whose(record)}"
        for record in lost.values()
    ]
    return "\n".join(["", "to start again what was lost:", *lines])


def _owner(record: SessionRecord) -> tuple[str | None, ...]:
    """Clones of a repository have agents of the same ids."""
    return record.machine, record.label.project, record.label.agent_id


def _elsewhere(record: SessionRecord) -> str:
    """What names the project of a session on another machine."""
    return f" --project {record.machine}{record.label.project}" if record.machine else ""


def _ago(milliseconds: int) -> str:
    seconds = max(0, int(time.time() - milliseconds / 1000))
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "m")):
        if seconds >= size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"
