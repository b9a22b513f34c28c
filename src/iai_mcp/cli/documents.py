"""What `iai-mcp template` and `iai-mcp skill` share: Markdown files, listed, shown, saved, deleted."""

import argparse

from iai_mcp.cli import agents_access, output


def configure(parser: argparse.ArgumentParser, kind: str) -> None:
    common = agents_access.options()
    commands = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    commands.add_parser("list", parents=[common], help=f"every {kind}")
    show = commands.add_parser("show", parents=[common], help=f"one {kind}")
    save = commands.add_parser("save", parents=[common], help=f"make or change a {kind}")
    save.add_argument("--from-file", required=True, metavar="F", help="- reads standard input")
    save.add_argument("--user", action="store_true", help="for all your projects, not just this")
    delete = commands.add_parser("delete", parents=[common], help=f"remove a {kind}")
    if kind == "skill":
        delete.add_argument(
            "--force", action="store_true", help="also if agents use it: it is taken from them"
        )
    for command in (show, save, delete):
        command.add_argument("id", metavar="NAME")


def run(arguments: argparse.Namespace, kind: str) -> int:
    from iai_mcp.api.table import call
    from iai_mcp.workspace import workspace_of

    workspace = workspace_of(arguments.project)
    params: dict[str, object] = {"project": agents_access.project_of(workspace, arguments).text}
    if arguments.action != "list":
        params["id"] = arguments.id
    if arguments.action == "save":
        params["text"] = agents_access.text_from(arguments.from_file)
        params["where"] = "user" if arguments.user else "project"
    if arguments.action == "delete":
        params["force"] = getattr(arguments, "force", False)
    result = call(workspace, f"{kind}s_{arguments.action}", params)
    output.emit(result, _text(result, kind, arguments.action), as_json=arguments.json)
    return 0


def _text(result: dict[str, object], kind: str, action: str) -> str:
    if action == "delete":
        users = result.get("taken_from")
        taken = f"; taken from {', '.join(users)}" if isinstance(users, list) and users else ""
        return f"{result['id']} is gone{taken}"
    found = result.get(f"{kind}s")
    if isinstance(found, list):
        rows = [[str(value) for value in each.values()] for each in found]
        return output.table(rows, [key.upper() for key in found[0]]) if found else f"no {kind}s yet"
    one = result[kind]
    if not isinstance(one, dict):
        return ""
    return str(one["text"]) if action == "show" else f"{one['id']} is saved"
