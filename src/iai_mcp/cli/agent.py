"""Agents: each with a name, a persona, a run directory and a terminal of its own, one memory for all.

    iai-mcp agent create "Backend Dev" --profile claude-code --context-file backend.md
    iai-mcp agent launch backend-dev                 start it, here in this terminal
    iai-mcp agent launch backend-dev --detach        start it in the background
    iai-mcp agent launch backend-dev --print-only    show what would be started and written
    iai-mcp agent launch backend-dev --again         it runs already: start a second one like it
    iai-mcp agent resume backend-dev                 take up its last conversation
    iai-mcp agent list | show A | edit A | delete A
    iai-mcp agent create Ada --worktree              one that works in a git worktree of its own
    iai-mcp agent diff ada | merge ada               what it changed there; bring it home
    iai-mcp agent sync A                             follow the template it was made from
    iai-mcp agent prune                              clear away what deleted agents left

An agent is named by its id (or at least 6 digits of its beginning), else by its slug, else by its
exact name if no other agent has it. Agents live in the project's .ideai/ directory (agents.json and
agents/*.md), made to be committed to git.
"""

import argparse

from iai_mcp.cli import agents_access

_CONTEXT_HELP = "the persona, in Markdown; - reads standard input"


def configure(parser: argparse.ArgumentParser) -> None:
    common = agents_access.options()
    commands = parser.add_subparsers(
        dest="action", required=True, metavar="ACTION", parser_class=agents_access.FreeTextParser
    )
    create = commands.add_parser("create", parents=[common], help="make an agent")
    create.add_argument("name", metavar="NAME")
    create.add_argument("--profile", metavar="P", help="which program it uses")
    create.add_argument("--context-file", metavar="F", help=_CONTEXT_HELP)
    create.add_argument("--template", metavar="T", help="start from this template")
    create.add_argument("--synchronized", action="store_true", help="follow the template")
    create.add_argument("--skill", action="append", metavar="S", help="may be repeated")
    _configure_worktree(create)
    commands.add_parser("list", parents=[common], help="the agents of this project")
    show = commands.add_parser("show", parents=[common], help="one agent and its persona")
    edit = commands.add_parser("edit", parents=[common], help="change an agent")
    delete = commands.add_parser("delete", parents=[common], help="remove an agent")
    delete.add_argument(
        "--force",
        action="store_true",
        help="end it first if it runs, and remove its worktree with work that is nowhere else",
    )
    sync = commands.add_parser("sync", parents=[common], help="follow its template")
    sync.add_argument("--merge", action="store_true", help="keep hand edits, add the template's")
    sync.add_argument("--dry-run", action="store_true", help="only show the difference")
    sync.add_argument("--yes", action="store_true", help="do not ask")
    launch = commands.add_parser("launch", parents=[common], help="start an agent")
    resume = commands.add_parser("resume", parents=[common], help="take up its last conversation")
    diff = commands.add_parser("diff", parents=[common], help="what it changed in its worktree")
    merge = commands.add_parser("merge", parents=[common], help="merge its branch, or say why not")
    for command in (diff, merge):
        command.add_argument(
            "--into", metavar="BRANCH", help="default: the branch that the project is on"
        )
    for command in (show, edit, delete, sync, launch, resume, diff, merge):
        command.add_argument("agent", metavar="A", help="id, slug or name")
    prune = commands.add_parser("prune", parents=[common], help="clear away orphans")
    prune.add_argument("--dry-run", action="store_true", help="only show them")
    prune.add_argument(
        "--force", action="store_true", help="also worktrees with work that is nowhere else"
    )
    _configure_edit(edit)
    for command in (launch, resume):
        _configure_launch(command)
    resume.add_argument(
        "--session",
        metavar="S",
        help="the conversation of this session, by at least 6 digits of its id, instead of the last",
    )
    launch.add_argument(
        "--again",
        action="store_true",
        help="if it runs already: make a second agent like it, under a name of its own, and start that",
    )
    _configure_worktree(launch)


def _configure_worktree(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--worktree",
        nargs="?",
        const="",
        metavar="BRANCH",
        help="let it work in a git worktree of its own, .ideai/worktrees/<slug>/, on this branch "
        "(default: one named after it, agent/<slug>)",
    )


def _configure_edit(edit: argparse.ArgumentParser) -> None:
    edit.add_argument("--context-file", metavar="F", help=_CONTEXT_HELP)
    edit.add_argument("--name", metavar="N")
    edit.add_argument("--profile", metavar="P")
    edit.add_argument("--synchronized", action=argparse.BooleanOptionalAction)
    edit.add_argument("--add-skill", action="append", default=[], metavar="S")
    edit.add_argument("--remove-skill", action="append", default=[], metavar="S")


def _configure_launch(launch: argparse.ArgumentParser) -> None:
    how = launch.add_mutually_exclusive_group()
    how.add_argument("--print-only", action="store_true", help="show it, touch nothing")
    how.add_argument("--detach", action="store_true", help="start it in the background")
    how.add_argument("--attach", action="store_true", help="start it in this terminal")
    launch.add_argument("--rows", type=int, metavar="R")
    launch.add_argument("--cols", type=int, metavar="C")
    launch.add_argument("--prompt", metavar="TEXT", help="the first thing it is told")
    launch.add_argument(
        "--trust",
        action="store_true",
        help="where the program asks whether to trust a directory, the answer is yes for this "
        "project, now and later",
    )


def run(arguments: argparse.Namespace) -> int:
    from iai_mcp.cli import agent_actions, agent_launch, agent_worktree

    actions = {
        "create": agent_actions.create,
        "list": agent_actions.list_all,
        "show": agent_actions.show,
        "edit": agent_actions.edit,
        "delete": agent_actions.delete,
        "sync": agent_actions.sync,
        "prune": agent_actions.prune,
        "diff": agent_worktree.diff,
        "merge": agent_worktree.merge,
        "launch": agent_launch.launch,
        "resume": agent_launch.launch,
    }
    from iai_mcp.workspace import workspace_of

    return actions[arguments.action](workspace_of(arguments.project), arguments)
