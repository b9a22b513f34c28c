"""The agent programs your agents can use, built in and your own.

    iai-mcp profile detect                   which ones are installed, where, which version
    iai-mcp profile list
    iai-mcp profile setup                    look once, and choose the default for new agents
    iai-mcp profile add --name "Claude, Opus" --command claude --arg --model --arg opus \\
            --injection convention_file:CLAUDE.md
    iai-mcp profile edit codex --arg --search     a built-in one, changed for you
    iai-mcp profile remove claude-opus

--injection says how the program takes its context:

    convention_file:CLAUDE.md   it reads a file of this name in its working directory
    flag:--read                 it takes the path of a file by a flag
    env:VAR                     it takes the path of a file from a variable
    stdin                       it is typed into its terminal
"""

import argparse
import os
import shlex
from typing import TYPE_CHECKING

from iai_mcp.cli import agents_access, output
from iai_mcp.domain.errors import InvalidInput

if TYPE_CHECKING:
    from iai_mcp.workspace import Workspace


def configure(parser: argparse.ArgumentParser) -> None:
    common = agents_access.options()
    commands = parser.add_subparsers(
        dest="action", required=True, metavar="ACTION", parser_class=agents_access.FreeTextParser
    )
    commands.add_parser("list", parents=[common], help="every profile")
    detect = commands.add_parser("detect", parents=[common], help="which programs are installed")
    detect.add_argument("profiles", nargs="*", metavar="PROFILE", help="only these")
    setup = commands.add_parser("setup", parents=[common], help="look once, choose a default")
    setup.add_argument("--default", metavar="PROFILE", help="the profile for new agents")
    add = commands.add_parser("add", parents=[common], help="make a profile of your own")
    edit = commands.add_parser("edit", parents=[common], help="change a profile")
    edit.add_argument("profile", metavar="PROFILE")
    for command, needed in ((add, True), (edit, False)):
        command.add_argument("--name", required=needed, metavar="N", help="as lists show it")
        command.add_argument(
            "--command",
            required=needed,
            metavar="CMD",
            help="the program, with or without its arguments",
        )
        command.add_argument(
            "--injection",
            required=needed,
            metavar="SPEC",
            help="how it takes its context: convention_file:CLAUDE.md, flag:--read, env:VAR or stdin",
        )
        command.add_argument("--arg", action="append", metavar="A", help="may be repeated")
        command.add_argument("--detect", metavar="CMD", help="a command that says its version")
        command.add_argument("--cwd-template", metavar="T", help="{agentRunDir} or {projectRoot}")
        command.add_argument("--host", metavar="HOST", help="whose memory wiring applies")
    remove = commands.add_parser("remove", parents=[common], help="remove one of your own")
    remove.add_argument("profile", metavar="PROFILE")


def run(arguments: argparse.Namespace) -> int:
    from iai_mcp.workspace import workspace_of

    action = {
        "list": _list,
        "detect": _detect,
        "setup": _setup,
        "add": _add,
        "edit": _edit,
        "remove": _remove,
    }
    action[arguments.action](workspace_of(getattr(arguments, "project", None)), arguments)
    return 0


def _list(workspace: "Workspace", arguments: argparse.Namespace) -> None:
    from iai_mcp.api.table import call

    result = call(workspace, "profiles_list", {})
    rows = [
        [p.id, p.name, " ".join([p.command, *p.args]), str(p.injection)]
        for p in workspace.profiles.all()
    ]
    text = output.table(rows, ["PROFILE", "NAME", "COMMAND", "CONTEXT"])
    output.emit(result, text, as_json=arguments.json)


def _detect(workspace: "Workspace", arguments: argparse.Namespace) -> None:
    from iai_mcp.api.table import call

    named = arguments.profiles or None
    result = call(workspace, "profiles_detect", {"profiles": named})
    output.emit(result, _found(result), as_json=arguments.json)


def _found(result: dict[str, object]) -> str:
    found = result["profiles"]
    rows = []
    for each in found if isinstance(found, list) else []:
        state = each["version"] or ("installed" if each["installed"] else "not installed")
        rows.append([each["profile_id"], state, each["path"] or "", each["problem"] or ""])
    return output.table(rows, ["PROFILE", "VERSION", "PATH", ""])


def _setup(workspace: "Workspace", arguments: argparse.Namespace) -> None:
    from iai_mcp.api.table import call

    if arguments.default or arguments.json or not output.is_terminal():
        result = call(workspace, "profiles_setup", {"profile": arguments.default})
        output.emit(result, f"default profile: {result['default']}", as_json=arguments.json)
        return
    walk_through(workspace)


def walk_through(workspace: "Workspace") -> None:
    """Show a person once what is installed, and let them choose what new agents use."""
    from iai_mcp.api.table import call

    output.say("Looking for agent programs on this machine ...")
    result = call(workspace, "profiles_detect", {})
    found = result["profiles"]
    installed = [each for each in found if each["installed"]] if isinstance(found, list) else []
    output.say(
        _found({"profiles": installed}) if installed else "none of the known ones is installed"
    )
    chosen = output.ask("Which profile shall new agents use (Enter: ask every time)?")
    call(workspace, "profiles_setup", {"profile": chosen or None})


def _fields(arguments: argparse.Namespace) -> dict[str, object]:
    command, more = _command(arguments.command)
    return {
        "name": arguments.name,
        "command": command,
        "injection": arguments.injection,
        "args": [*more, *(arguments.arg or [])] if more or arguments.arg is not None else None,
        "detect": arguments.detect,
        "cwd_template": arguments.cwd_template,
        "host": arguments.host,
    }


def _command(given: str | None) -> tuple[str | None, list[str]]:
    """The program and the arguments that were given with it, as in `--command "python3 agent.py"`.

    An agent starts in another directory: a program that is named by its place is named in full.
    """
    if given is None or not given.strip():
        return given, []
    words = [given]
    if " " in given and not os.path.exists(os.path.expanduser(given)):
        try:
            words = shlex.split(given)
        except ValueError as error:
            raise InvalidInput(f"the command can not be read: {error}") from error
    program = words[0]
    if "/" in program:
        program = os.path.abspath(os.path.expanduser(program))
    return program, words[1:]


def _add(workspace: "Workspace", arguments: argparse.Namespace) -> None:
    from iai_mcp.api.table import call

    result = call(workspace, "profiles_add", _fields(arguments))
    output.emit(result, f"profile {_id(result)} is ready", as_json=arguments.json)


def _edit(workspace: "Workspace", arguments: argparse.Namespace) -> None:
    from iai_mcp.api.table import call

    params = {**_fields(arguments), "profile": arguments.profile}
    result = call(workspace, "profiles_edit", params)
    output.emit(result, f"profile {_id(result)} is changed", as_json=arguments.json)


def _remove(workspace: "Workspace", arguments: argparse.Namespace) -> None:
    from iai_mcp.api.table import call

    result = call(workspace, "profiles_remove", {"profile": arguments.profile})
    output.emit(result, f"profile {_id(result)} is gone", as_json=arguments.json)


def _id(result: dict[str, object]) -> str:
    profile = result["profile"]
    return str(profile["id"]) if isinstance(profile, dict) else ""
