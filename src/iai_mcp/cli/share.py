"""One memory on all your machines, or with your team: sealed before it leaves, opened only by members.

    iai-mcp share create mine --at ~/Sync/iai --all      all my projects, over a synced directory
    iai-mcp share invite mine --for ann                  prints a code, good once and for a day
    iai-mcp share join CODE --all                        on the other machine, which is ann's too

    iai-mcp share create team --at postgresql://host/db  or ssh://host/path, for a team
    iai-mcp share preview .                              what would leave, before anything does
    iai-mcp share project . --with team                  from now on, and what was said before
    iai-mcp share trust team bob                         let agents be told what bob said, unasked

    iai-mcp share status                                 who is there, what waits, what is wrong
    iai-mcp share now                                    send and hear at once

Nothing is shared until you say which project with whom; private projects stay where they are. The place
in between sees sizes, times and device ids, and no word.
"""

import argparse
import os

from iai_mcp.cli import memory_access, output, times
from iai_mcp.domain.errors import InvalidInput
from iai_mcp.project import from_argument

_AS_LONG_AS_IT_TAKES = 3600.0
_WAIT_FOR_ENTRY_SECONDS = 10  # until the machine that invited lets this one in: often it runs
_LOOKS = ("list", "status", "members", "preview")


def configure(parser: argparse.ArgumentParser) -> None:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--json", action="store_true", help="one JSON object for programs")
    yes = argparse.ArgumentParser(add_help=False)
    yes.add_argument("--yes", action="store_true", help="do not ask")
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")

    def add(name: str, summary: str, *words: str, asks: bool = False) -> argparse.ArgumentParser:
        parents = [common, yes] if asks else [common]
        made = actions.add_parser(name, parents=parents, help=summary, description=summary)
        for word in words:
            made.add_argument(word.lower(), metavar=word)
        return made

    create = add("create", "found a circle", "NAME")
    create.add_argument(
        "--at", required=True, metavar="PLACE", help="directory, ssh:// or postgresql://"
    )
    create.add_argument(
        "--all", action="store_true", help="share every project that is not private"
    )
    create.add_argument("--as", dest="member", metavar="MEMBER", help="your name there")
    invite = add("invite", "a code for one more machine", "NAME")
    invite.add_argument("--for", dest="member", metavar="MEMBER", help="only under this name")
    invite.add_argument("--days", type=int, default=1, help="how long it is good (default 1)")
    join = add("join", "join a circle by its code", "CODE")
    join.add_argument("--at", metavar="PLACE", help="where this machine reaches the place")
    join.add_argument(
        "--all", action="store_true", help="share every project of this machine that is not private"
    )
    join.add_argument("--as", dest="member", metavar="MEMBER", help="your name there")
    project = add("project", "tell a circle of a project", "PROJECT", asks=True)
    project.add_argument("--with", dest="circle", required=True, metavar="NAME")
    times.add(project, "--since", "only what was said since this time")
    unshare = add("unshare", "tell it no more", "PROJECT")
    unshare.add_argument("--with", dest="circle", required=True, metavar="NAME")
    preview = add("preview", "what would leave", "PROJECT")
    times.add(preview, "--since", "only what was said since this time")
    add("list", "your circles and what they share")
    add("status", "who is there, what waits, what is wrong").add_argument("name", nargs="?")
    add("members", "the machines of a circle", "NAME")
    add("trust", "let agents be told what a member said, unasked", "NAME", "MEMBER")
    add("untrust", "only when asked again", "NAME", "MEMBER")
    add(
        "remove", "let a member, or one machine by its fingerprint, go", "NAME", "MEMBER", asks=True
    )
    add("leave", "belong no more", "NAME", asks=True)
    add("now", "send and hear at once").add_argument("name", nargs="?")
    database = add("init-postgres", "the SQL that makes a database a place")
    database.add_argument("--print", action="store_true", help="print it (it does nothing else)")


def run(arguments: argparse.Namespace) -> int:
    if arguments.action == "init-postgres":
        from iai_mcp.adapters.postgres_log import schema_sql

        output.emit({"sql": schema_sql()}, schema_sql().rstrip(), as_json=arguments.json)
        return 0
    if arguments.action in ("project", "remove", "leave"):
        _confirm(arguments)
    from iai_mcp.cli import share_text

    method = f"share_{arguments.action}"
    result = memory_access.call(
        method, _params(arguments), _AS_LONG_AS_IT_TAKES, looks=arguments.action in _LOOKS
    )
    output.emit(result, share_text.told(arguments.action, result), as_json=arguments.json)
    if arguments.action == "join" and not arguments.json and output.is_terminal():
        _match(result.get("unmatched"))
    return 0


def _match(unmatched: object) -> None:
    """Ask once which projects of this machine those of the others are."""
    from iai_mcp import project_aliases

    for key in unmatched if isinstance(unmatched, list) else ():
        path = output.ask(
            f"Where is {key} on this machine? (a directory; Enter if you do not have it)"
        )
        if path and os.path.isdir(os.path.expanduser(path)):
            project_aliases.add(str(key), from_argument(os.path.expanduser(path), os.getcwd()))
            output.say(f"what is said of {key} belongs to {path} now")
        elif path:
            output.say(f"there is no directory {path}; later: iai-mcp project map '{key}' PATH")


def _params(arguments: argparse.Namespace) -> dict[str, object]:
    """The arguments as the methods have them; what was not given is left out."""
    cwd = os.getcwd()
    given = vars(arguments)
    named = {
        "circle": "with",
        "member": {"create": "as", "join": "as", "invite": "for"}.get(arguments.action, "member"),
    }
    params = {
        str(named.get(name, name)): value
        for name, value in given.items()
        if value not in (None, "", False) and name not in ("action", "json", "yes")
    }
    if given.get("project"):
        params |= {"project": from_argument(arguments.project, cwd), "cwd": cwd}
    if arguments.action == "join":
        params["wait"] = _WAIT_FOR_ENTRY_SECONDS
    if given.get("at"):
        params["at"] = _place(arguments.at, cwd)
    return params


def _place(place: str, cwd: str) -> str:
    """A directory by its whole path: the daemon works elsewhere."""
    if "://" in place:
        return place
    return os.path.normpath(os.path.join(cwd, os.path.expanduser(place)))


def _confirm(arguments: argparse.Namespace) -> None:
    """
    Raises:
        InvalidInput: nobody said yes.
    """
    question = {
        "project": f"what is said in this project goes to everybody in {arguments.__dict__.get('circle')!r}",
        "remove": "what they have, they keep; they hear nothing new",
        "leave": "what others said stays here; nothing new comes, and nothing leaves any more",
    }[arguments.action]
    if output.told_to(arguments, question):
        return
    if arguments.action == "project":
        from iai_mcp.cli import share_text

        params = {name: one for name, one in _params(arguments).items() if name != "with"}
        preview = memory_access.call("share_preview", params, _AS_LONG_AS_IT_TAKES)
        output.say(share_text.told("preview", preview))
    if not output.agrees(f"{question[0].upper()}{question[1:]}. Go on?"):
        raise InvalidInput("nothing was changed")
