"""The table of commands, and the one way each of them is run.

A command is a module with `configure(parser)` and `run(arguments) -> int`. Its module is
imported when it is called (or when its own help is asked for), so `iai-mcp status` never
pays for what `iai-mcp agent` needs.
"""

import argparse
import errno
import importlib
from collections.abc import Sequence
from typing import NoReturn

from iai_mcp import __version__
from iai_mcp.cli import agent_rights, output
from iai_mcp.domain.errors import IaiError, InvalidInput
from iai_mcp.paths import NotOurs

# name -> (module below iai_mcp.cli, one line for the overview).
COMMANDS: dict[str, tuple[str, str]] = {
    "up": ("up", "start the memory daemon"),
    "down": ("down", "stop it"),
    "status": ("status", "is it on, and how much is stored"),
    "recall": ("recall", "ask what was said before"),
    "capture": ("capture", "remember something; pause or resume capturing"),
    "timeline": ("timeline", "what was said, in order"),
    "show": ("show", "one memory whole, with the turns around it"),
    "how": ("how", "which command did it"),
    "fix": ("fix", "what mended an error before"),
    "blame": ("blame", "which requests led to which edits of a file"),
    "changed": ("changed", "which files agents changed, and what for"),
    "forget": ("forget", "remove memories for good"),
    "privacy": ("privacy", "keep a project's memories to itself"),
    "share": ("share", "one memory on all your machines, and in a team"),
    "import": ("import_history", "import the history that agent programs already have"),
    "page": ("page", "memory and agents in a browser"),
    "why": ("why", "what memory put into which session, and why"),
    "session": ("session", "terminal sessions: list, attach, send, logs, kill, wait"),
    "project": ("project", "the projects you work on"),
    "profile": ("profile", "the agent programs that agents can use"),
    "agent": ("agent", "agents: make, launch, resume, change"),
    "template": ("template", "personas to start from, with versions"),
    "skill": ("skill", "snippets that agents share"),
    "hosts": ("hosts", "connect the agent programs on this machine"),
    "sleep": ("sleep", "what memory does while nobody asks: run it, see it, hold it off"),
    "knobs": ("knobs", "the memory's settings: show one, all, or turn one"),
    "doctor": ("doctor", "examine everything, and how to fix it"),
    "events": ("events", "what the daemon did"),
    "pin": ("pin", "keep a memory, whatever retention removes"),
    "backup": ("backup", "the whole store, encrypted, into one file"),
    "restore": ("restore", "put a backup in the store's place"),
    "export": ("export", "every memory as JSON lines"),
    "uninstall": ("uninstall", "take hooks, entries and units out again"),
    "crypto": ("crypto", "the key that encrypts the store"),
    "model": ("model", "the model that finds memories by meaning"),
    "upgrade": ("upgrade", "how it was installed, and how to upgrade it"),
    "demo": ("demo", "see it work in a scratch home, then clean up"),
    "completion": ("completion", "print the shell completion for bash, zsh or fish"),
}

# What the overview shows, in the order people meet it.
GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "Memory",
        (
            "up",
            "down",
            "status",
            "recall",
            "capture",
            "timeline",
            "show",
            "how",
            "fix",
            "blame",
            "changed",
            "forget",
            "privacy",
            "share",
            "import",
            "why",
            "page",
        ),
    ),
    ("Agents", ("agent", "session", "profile", "template", "skill", "project")),
    ("Agent programs", ("hosts",)),
    (
        "Care",
        (
            "sleep",
            "knobs",
            "doctor",
            "events",
            "pin",
            "backup",
            "restore",
            "export",
            "crypto",
            "model",
            "upgrade",
            "uninstall",
        ),
    ),
    ("First steps", ("demo", "completion")),
)

# Entry points that programs start; they parse their own arguments and are listed last.
FOR_PROGRAMS: tuple[tuple[str, str], ...] = (
    ("mcp", "the stdio bridge that an MCP host starts"),
    ("capture-transcript", "capture one transcript (for hooks)"),
    ("hook", "a host's hook event, JSON on standard input"),
    ("session-start", "what a new session is told (for hooks)"),
)

_USAGE_ERROR = 2
_NOT_ALLOWED = (errno.EROFS, errno.EACCES, errno.EPERM)


class Parser(argparse.ArgumentParser):
    """argparse, whose complaints become our own one clear sentence."""

    def error(self, message: str) -> NoReturn:
        for action in self._actions:
            # "required: ACTION" tells nobody what there is to choose from.
            called = action.metavar or action.dest
            if action.choices is not None and message.endswith(f"required: {called}"):
                message = f"say which: {', '.join(action.choices)}"
        raise UsageError(f"{message}; '{self.prog} --help' explains it")


class UsageError(InvalidInput):
    """The command line itself can not be understood."""


def run(arguments: Sequence[str]) -> int:
    """Run the command that `arguments` name; every failure ends as one clear sentence."""
    output.open_closed_streams()
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        output.say(_overview())
        return 0
    if arguments[0] in ("-V", "--version"):
        output.say(f"iai-mcp {__version__}")
        return 0
    name, rest = arguments[0], list(arguments[1:])
    if name not in COMMANDS:
        return _refuse_unknown(name, as_json="--json" in rest)
    return _guarded(name, rest)


def _guarded(name: str, rest: list[str]) -> int:
    as_json = "--json" in rest
    try:
        module = importlib.import_module(f"iai_mcp.cli.{COMMANDS[name][0]}")
        arguments = parser_of(name).parse_args(rest)
        agent_rights.check(name, arguments)
        code = int(module.run(arguments))
        output.flush()
    except UsageError as error:
        output.failure(error.code, error.message, as_json=as_json)
        return 1 if as_json else _USAGE_ERROR
    except IaiError as error:
        output.failure(error.code, error.message, as_json=as_json)
        return 1
    except KeyboardInterrupt as stopped:
        output.aside("\n" + "; ".join(["interrupted", *map(str, stopped.args)]))
        return 130
    except BrokenPipeError:
        output.give_up()  # the reader (head, less) has seen enough
        return 0
    except OSError as error:
        return _machine_refused(error, as_json)
    except Exception as error:  # noqa: BLE001 - the last door: no traceback reaches a person
        output.unexpected(error, as_json=as_json)
        return 1
    return code


def _machine_refused(error: OSError, as_json: bool) -> int:
    """A disk or a directory that does not let us work is no bug: say which, and what to do."""
    try:
        if isinstance(error, NotOurs):
            output.failure("NOT_OURS", error.sentence, as_json=as_json)
        elif error.errno == errno.ENOSPC:
            said = "the disk is full: free some space and try again; nothing was lost"
            output.failure("DISK_FULL", said, as_json=as_json)
        elif error.errno in _NOT_ALLOWED:
            said = f"{error.filename} may not be written ({error.strerror}): give your user write access to it"
            output.failure("READ_ONLY", said, as_json=as_json)
        else:
            output.unexpected(error, as_json=as_json)
        output.flush()
    except OSError as unsaid:
        output.give_up()
        if as_json:  # else the sentence stands on stderr already
            output.aside(f"error: the output can not be written: {unsaid.strerror}")
    return 1


def parser_of(name: str) -> Parser:
    """The parser of one command; its module's docstring is the help."""
    module_name, summary = COMMANDS[name]
    module = importlib.import_module(f"iai_mcp.cli.{module_name}")
    parser = Parser(
        prog=f"iai-mcp {name}",
        description=output.fitted(module.__doc__ or summary),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    module.configure(parser)
    parser.epilog = output.fitted(parser.epilog) if parser.epilog else None
    return parser


def _overview() -> str:
    lines = [
        "iai-mcp: one memory for all your coding agents",
        "",
        "usage: iai-mcp COMMAND [options]",
        "'iai-mcp COMMAND --help' explains each of them",
    ]
    for title, names in GROUPS:
        lines += ["", f"{title}:"]
        lines.append(output.table([(f"  {name:<18}", COMMANDS[name][1]) for name in names]))
    lines += ["", "For programs:"]
    lines.append(output.table([(f"  {name:<18}", summary) for name, summary in FOR_PROGRAMS]))
    return "\n".join(lines)


def _refuse_unknown(name: str, *, as_json: bool) -> int:
    import difflib

    near = difflib.get_close_matches(name, COMMANDS, n=1)
    hint = f" Did you mean '{near[0]}'?" if near else ""
    said = f"there is no command '{name}'.{hint} 'iai-mcp --help' lists them."
    if as_json:
        output.failure(UsageError.code, said, as_json=True)
        return 1
    output.aside(f"iai-mcp: {said}")
    return _USAGE_ERROR
