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

A session is named by its id, the beginning of its id, or its agent's name or id.
"""

import argparse
import os
import sys
import time

from iai_mcp.adapters.terminal import registry
from iai_mcp.adapters.terminal.records import SessionRecord, read_all
from iai_mcp.cli import output
from iai_mcp.domain.errors import IaiError, InvalidInput, NotFound

_UNTIL = ("idle", "waiting", "running", "exited")


def configure(parser: argparse.ArgumentParser) -> None:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--json", action="store_true", help="one JSON object on stdout")
    common.add_argument("--project", metavar="DIR", help="only sessions of this project")
    # Named, because argparse otherwise formats a usage line, and imports all of shutil for that.
    commands = parser.add_subparsers(
        dest="action", metavar="ACTION", required=True, prog=parser.prog
    )

    def action(name: str, summary: str, *, session: bool = True) -> argparse.ArgumentParser:
        added = commands.add_parser(name, parents=[common], help=summary, description=summary)
        if session:
            added.add_argument("session", help="id, beginning of an id, or agent")
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
    sessions = registry.listed(_of_project(read_all(), arguments.project))
    result = {"sessions": [_as_json(entry) for entry in sessions]}
    output.emit(result, _as_table(sessions), as_json=arguments.json)
    return 0


def _start(arguments: argparse.Namespace) -> int:
    from iai_mcp.adapters.terminal.adapter import HolderPty, find
    from iai_mcp.domain.launching import SpawnSpec
    from iai_mcp.domain.terminals import SessionLabel, TerminalSize

    command = arguments.command[1:] if arguments.command[:1] == ["--"] else arguments.command
    command = command or [os.environ.get("SHELL") or "/bin/sh"]
    here = sys.stdin.isatty() and sys.stdout.isatty()
    cols, rows = os.get_terminal_size(1) if here else (80, 24)
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
    if arguments.json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise InvalidInput("attach needs a terminal: use logs, send or wait in scripts")
    return session_attach.attach(record, read_only=arguments.read_only)


def _send(arguments: argparse.Namespace) -> int:
    record = _named(arguments)
    result = _deliver(record, _message(arguments.text), arguments, enter=not arguments.no_enter)
    waits = ", but the program has not read it yet" if result["read"] is False else ""
    output.emit(result, f"delivered to {record.id}{waits}", as_json=arguments.json)
    return 0


def _broadcast(arguments: argparse.Namespace) -> int:
    text = _message(arguments.text)
    asked = arguments.project or os.getcwd()
    targets = [
        record
        for record in _of_project(read_all(), asked)
        if record.alive and record.label.agent_id is not None
    ]
    if not targets:
        raise NotFound("no agent of this project is running: see iai-mcp session list")
    results = []
    for record in targets:
        try:
            results.append(_deliver(record, text, arguments, enter=True))
        except IaiError as refused:
            error = {"code": refused.code, "message": refused.message}
            results.append({"session": record.id, "delivered": False, "error": error})
    failed = [result for result in results if not result["delivered"]]
    lines = [f"{result['session']}  {_outcome(result)}" for result in results]
    output.emit({"sent": results}, "\n".join(lines), as_json=arguments.json)
    return 1 if failed else 0


def _outcome(result: dict[str, object]) -> str:
    error = result.get("error")
    return f"not delivered: {error['message']}" if isinstance(error, dict) else "delivered"


def _deliver(
    record: SessionRecord, text: str, arguments: argparse.Namespace, *, enter: bool
) -> dict[str, object]:
    from iai_mcp.adapters.terminal import sending

    done = sending.deliver(record, text, enter=enter, timeout=arguments.timeout)
    return {
        "session": record.id,
        "delivered": True,
        "bytes": done.typed,
        "bracketed_paste": done.pasted,
        "read": done.read,
    }


def _logs(arguments: argparse.Namespace) -> int:
    from iai_mcp.adapters.terminal.output import raw
    from iai_mcp.domain.terminal_text import plain_text

    record = _named(arguments)
    data = raw(record)
    if arguments.raw:
        if arguments.json:
            text = data.decode("utf-8", "replace")
            output.emit({"session": record.id, "text": text}, "", as_json=True)
        else:
            sys.stdout.buffer.write(data)
        return 0
    text = plain_text(data, record.rows, record.cols)
    if arguments.lines is not None:
        text = "".join(
            text.splitlines(keepends=True)[-arguments.lines :] if arguments.lines else []
        )
    output.emit({"session": record.id, "text": text}, text.rstrip("\n"), as_json=arguments.json)
    return 0


def _kill(arguments: argparse.Namespace) -> int:
    from iai_mcp.adapters.terminal.adapter import HolderPty

    record = _named(arguments)
    code = HolderPty().kill(record.id)
    result = {"session": record.id, "status": "exited", "exit_code": code}
    output.emit(result, f"{record.id} has ended ({_code(code)})", as_json=arguments.json)
    return 0


def _wait(arguments: argparse.Namespace) -> int:
    record = registry.wait(_named(arguments), (arguments.until,), arguments.timeout)
    if not record.alive and arguments.until != "exited":
        raise NotFound(f"session '{record.id}' ended ({_code(record.exit_code)}) before that")
    result = {
        "session": record.id,
        "status": record.status,
        "status_source": record.source,
        "exit_code": record.exit_code,
    }
    output.emit(result, f"{record.id} is {record.status}", as_json=arguments.json)
    return 0


def _prune(arguments: argparse.Namespace) -> int:
    from iai_mcp.adapters.terminal import tidying

    found = _of_project(read_all(), arguments.project)
    pruned = tidying.prune(found, arguments.older * 86_400)
    if arguments.project is None:
        tidying.sweep()
    output.emit({"pruned": pruned}, f"{len(pruned)} forgotten", as_json=arguments.json)
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
    return registry.resolve(arguments.session, _of_project(read_all(), arguments.project))


def _message(text: str) -> str:
    if text == "-":
        return sys.stdin.read().rstrip("\n")
    if not text:
        raise InvalidInput("there is nothing to send: the message was empty")
    return text


def _of_project(found: list[SessionRecord], asked: str | None) -> list[SessionRecord]:
    """Those of the project that a path or a name stands for; all without one."""
    if asked is None:
        return found
    from iai_mcp.project import from_argument, project_of

    wanted = project_of(from_argument(asked, os.getcwd())).key
    return [
        record
        for record in found
        if record.label.project and project_of(record.label.project).key == wanted
    ]


def _as_json(entry: registry.Listed) -> dict[str, object]:
    record = entry.record
    return {
        "id": record.id,
        "kind": record.kind,
        "agent_id": record.label.agent_id,
        "agent_name": record.label.agent_name,
        "profile": record.label.profile_id,
        "host": record.label.host,
        "project": record.label.project,
        "command": record.command,
        "status": record.status,
        "status_source": record.source,
        "since": _iso(record.since_ms),
        "exit_code": record.exit_code,
        "signal": record.signal,
        "started": _iso(record.started_ms),
        "ended": _iso(record.ended_ms) if record.ended_ms else None,
        "attached": entry.attached,
        "lost_to_reboot": record.rebooted,
        "last_line": entry.last_line,
    }


def _as_table(sessions: list[registry.Listed]) -> str:
    if not sessions:
        return "no sessions; iai-mcp agent launch NAME starts one"
    rows = []
    for entry in sessions:
        record = entry.record
        guess = "?" if record.alive and record.source == "guess" else ""
        status = record.status + guess
        if record.status == "exited":
            status += f" {record.exit_code}"
        rows.append(
            (
                record.id[:12],
                record.label.agent_name or record.label.agent_id or record.command,
                record.label.profile_id or "-",
                os.path.basename(record.label.project or "") or "-",
                status,
                _ago(record.since_ms),
                entry.last_line[:60],
            )
        )
    return output.table(rows, ("ID", "AGENT", "PROFILE", "PROJECT", "STATUS", "SINCE", "LAST LINE"))


def _code(code: int | None) -> str:
    return "nobody saw how" if code is None else f"exit code {code}"


def _iso(milliseconds: int) -> str:
    seconds, rest = divmod(milliseconds, 1000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{rest:03d}Z"


def _ago(milliseconds: int) -> str:
    seconds = max(0, int(time.time() - milliseconds / 1000))
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "m")):
        if seconds >= size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"
