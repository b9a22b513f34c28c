"""`iai-mcp project map|unmap`: a checkout that moved keeps its memories."""

import argparse
import os

from iai_mcp import project_aliases
from iai_mcp.cli import output
from iai_mcp.domain.errors import InvalidInput
from iai_mcp.project import from_argument


def run(arguments: argparse.Namespace) -> int:
    """Map one project to another, take that back, or show what is mapped."""
    cwd = os.getcwd()
    if arguments.action == "unmap":
        target = project_aliases.remove(from_argument(arguments.old, cwd))
        said = f"{arguments.old} no longer leads to {target}"
    elif arguments.old is None:
        said = _listed(project_aliases.load())
        wrong = project_aliases.problem()
        if wrong:
            raise InvalidInput(wrong)
    else:
        new = from_argument(arguments.new or ".", cwd)
        old_key, new_key = project_aliases.add(from_argument(arguments.old, cwd), new)
        said = f"memories of {old_key} are found under {new_key} now"
    output.emit({"aliases": project_aliases.load()}, said, as_json=arguments.json)
    return 0


def _listed(aliases: dict[str, str]) -> str:
    rows = [[old, new] for old, new in sorted(aliases.items())]
    return output.table(rows, ["OLD", "NEW"]) if rows else "no project is mapped"
