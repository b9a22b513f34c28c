"""Remember the projects you work on.

Nothing needs this: every agent command finds the project by itself. The list serves overviews.

    iai-mcp project add                  remember the project around the current directory
    iai-mcp project add ~/shop --name Shop
    iai-mcp project add ssh://ann@build/srv/shop
                                         one on another machine; it has to be on the list, so that
                                         its sessions are in yours
    iai-mcp project list
    iai-mcp project remove Shop          forget it; its files stay

A checkout that was moved or renamed is another project to memory until you say that it is not:

    iai-mcp project map /old/place       what was said there belongs to the project here
    iai-mcp project map                  what is mapped; unmap takes it back
"""

import argparse
import os

from iai_mcp.cli import agents_access, output


def configure(parser: argparse.ArgumentParser) -> None:
    common = agents_access.options()
    commands = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    add = commands.add_parser("add", parents=[common], help="remember a project")
    add.add_argument("directory", nargs="?", metavar="DIR")
    add.add_argument("--name", metavar="N")
    commands.add_parser("list", parents=[common], help="the projects you work on")
    remove = commands.add_parser("remove", parents=[common], help="forget a project")
    remove.add_argument("reference", nargs="?", metavar="PROJECT", help="id, name or directory")
    mapping = commands.add_parser("map", parents=[common], help="a checkout that moved")
    mapping.add_argument("old", nargs="?", metavar="OLD", help="where it was, or its old name")
    mapping.add_argument("new", nargs="?", metavar="NEW", help="where it is (default: here)")
    unmap = commands.add_parser("unmap", parents=[common], help="take a mapping back")
    unmap.add_argument("old", metavar="OLD")


def run(arguments: argparse.Namespace) -> int:
    if arguments.action in ("map", "unmap"):
        from iai_mcp.cli import project_mapping

        return project_mapping.run(arguments)
    from iai_mcp.api.table import call
    from iai_mcp.workspace import workspace_of

    named = arguments.project
    if arguments.action == "add":
        named = arguments.directory or named
    elif arguments.action == "remove":
        named = arguments.reference or named
    workspace = workspace_of(named)
    if arguments.action == "list":
        result = call(workspace, "projects_list", {})
        rows = [[p.name, p.address] for p in workspace.projects.list()]
        text = output.table(rows, ["NAME", "PATH"]) if rows else "no projects yet"
        output.emit(result, text, as_json=arguments.json)
        return 0
    if arguments.action == "add":
        path = workspace.project(named, os.getcwd())
        params = {"path": path.text, "name": arguments.name}
        result = call(workspace, "projects_add", params)
        machine = workspace.machine
        address = f"{machine.remote}{path}" if machine else path
        output.emit(result, f"{address} is on the list", as_json=arguments.json)
        return 0
    reference = named or agents_access.project_of(workspace, arguments).text
    if os.path.isdir(reference):
        reference = os.path.realpath(reference)
    result = call(workspace, "projects_remove", {"project": reference})
    output.emit(result, f"forgot {reference}; its files stay", as_json=arguments.json)
    return 0
