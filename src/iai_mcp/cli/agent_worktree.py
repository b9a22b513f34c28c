"""`iai-mcp agent diff` and `merge`: what an agent did in its worktree, and bringing it home."""

import argparse

from iai_mcp.api.table import call
from iai_mcp.cli import agents_access, output
from iai_mcp.domain.shown_text import shown_line
from iai_mcp.workspace import Workspace


def _params(workspace: Workspace, arguments: argparse.Namespace) -> dict[str, object]:
    project = agents_access.project_of(workspace, arguments).text
    return {"project": project, "agent": arguments.agent, "into": arguments.into}


def diff(workspace: Workspace, arguments: argparse.Namespace) -> int:
    found = call(workspace, "agents_diff", _params(workspace, arguments))
    lines = [f"{found['branch']}: {found['commits']} commits that {found['into']} has not"]
    for title, key in (("not committed", "uncommitted"), ("not known to git", "untracked")):
        names = found[key]
        if isinstance(names, list) and names:
            lines.append(f"{title}: {', '.join(map(shown_line, names))}")
    if found["diff"]:
        lines += ["", str(found["diff"]).rstrip("\n")]
    output.emit(found, "\n".join(lines), as_json=arguments.json)
    return 0


def merge(workspace: Workspace, arguments: argparse.Namespace) -> int:
    done = call(workspace, "agents_merge", _params(workspace, arguments))
    text = f"{done['merged']} commits of {done['branch']} are in {done['into']}"
    if not done["merged"]:
        text = f"{done['into']} has all of {done['branch']} already"
    output.emit(done, text, as_json=arguments.json)
    return 0
