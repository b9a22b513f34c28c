"""What `iai-mcp agent` does, except launching."""

import argparse
import os
import shlex
import subprocess

from iai_mcp.agents.live_sessions import live_sessions
from iai_mcp.api.table import call
from iai_mcp.child_environment import without_secrets
from iai_mcp.cli import agents_access, output
from iai_mcp.domain.errors import InvalidInput
from iai_mcp.workspace import Workspace


def _params(workspace: Workspace, arguments: argparse.Namespace) -> dict[str, object]:
    project = agents_access.project_of(workspace, arguments).text
    return {"project": project, "agent": getattr(arguments, "agent", None)}


def create(workspace: Workspace, arguments: argparse.Namespace) -> int:
    interactive = output.is_terminal() and not arguments.json
    if interactive and not arguments.profile and not workspace.profile_store.is_configured():
        from iai_mcp.cli.profile import walk_through

        walk_through(workspace)
    params = {
        **_params(workspace, arguments),
        "name": arguments.name,
        "profile": arguments.profile,
        "context": agents_access.text_from(arguments.context_file),
        "template": arguments.template,
        "synchronized": arguments.synchronized,
        "skills": arguments.skill,
        "worktree": arguments.worktree,
    }
    result = call(workspace, "agents_create", params)
    agent = result["agent"]
    slug, profile = (agent["slug"], agent["profile_id"]) if isinstance(agent, dict) else ("", "")
    elsewhere = f" --project {shlex.quote(arguments.project)}" if arguments.project else ""
    text = (
        f"{arguments.name} is ready: its persona is .ideai/agents/{slug}.md\n"
        f"start it with: iai-mcp agent launch {slug}{elsewhere}"
    )
    output.emit(result, text, as_json=arguments.json)
    if not arguments.json:
        missing = workspace.profiles.missing(workspace.profiles.named(str(profile)))
        if missing:
            output.note(missing)
    return 0


def list_all(workspace: Workspace, arguments: argparse.Namespace) -> int:
    result = call(workspace, "agents_list", _params(workspace, arguments))
    project = agents_access.project_of(workspace, arguments)
    running = {session.label.agent_id for session in live_sessions(workspace.sessions, project)}
    rows = [
        [agent.slug, agent.name, agent.profile_id, "running" if agent.id in running else ""]
        for agent in workspace.agents.list(project)
    ]
    empty = f"no agents in {project} yet: iai-mcp agent create NAME --profile P"
    text = output.table(rows, ["AGENT", "NAME", "PROFILE", ""]) if rows else empty
    output.emit(result, text, as_json=arguments.json)
    return 0


def show(workspace: Workspace, arguments: argparse.Namespace) -> int:
    result = call(workspace, "agents_show", _params(workspace, arguments))
    agent = result["agent"]
    lines = []
    if isinstance(agent, dict):
        lines = [
            f"{output.paint(str(agent['name']), 'bold')}  ({agent['profile_id']})",
            f"id       {agent['id']}",
            f"context  .ideai/{agent['context_path']}",
            f"runs in  {agent['run_dir']}",
            f"works in {agent['workplace']}"
            + (f" (branch {agent['worktree']})" if agent["worktree"] else ""),
            f"skills   {', '.join(agent['skills']) or 'none'}",
            "",
            str(agent["context"]),
        ]
    output.emit(result, "\n".join(lines), as_json=arguments.json)
    return 0


def edit(workspace: Workspace, arguments: argparse.Namespace) -> int:
    params = _params(workspace, arguments)
    project = agents_access.project_of(workspace, arguments)
    agent = workspace.agents.named(project, arguments.agent)
    skills = None
    if arguments.add_skill or arguments.remove_skill:
        skills = [s for s in agent.skills if s not in arguments.remove_skill] + arguments.add_skill
    params |= {
        "context": agents_access.text_from(arguments.context_file),
        "name": arguments.name,
        "profile": arguments.profile,
        "synchronized": arguments.synchronized,
        "skills": skills,
    }
    if all(params[key] is None for key in ("context", "name", "profile", "synchronized", "skills")):
        if arguments.json or not output.is_terminal():
            raise InvalidInput(
                "say what to change: --context-file, --name, --profile, --add-skill …"
            )
        if workspace.machine is not None:
            raise InvalidInput(
                f"the persona is on {workspace.machine.name}: give its text with --context-file"
            )
        workspace.agents.persona(project, agent)  # refused here if it is a link to elsewhere
        _open_editor(f"{project.data}/{agent.context_path}")
    result = call(workspace, "agents_edit", params)
    output.emit(result, f"{agent.name} is changed", as_json=arguments.json)
    return 0


def _open_editor(path: str) -> None:
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    try:
        subprocess.run([*shlex.split(editor), path], check=True, env=without_secrets())
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        raise InvalidInput(f"the editor '{editor}' failed: set EDITOR, or edit {path}") from error


def delete(workspace: Workspace, arguments: argparse.Namespace) -> int:
    params = {**_params(workspace, arguments), "force": arguments.force}
    result = call(workspace, "agents_delete", params)
    agent = result["agent"]
    gone = f"{agent['name']} ({agent['slug']})" if isinstance(agent, dict) else arguments.agent
    output.emit(result, f"{gone} is deleted", as_json=arguments.json)
    return 0


def sync(workspace: Workspace, arguments: argparse.Namespace) -> int:
    params = {**_params(workspace, arguments), "merge": arguments.merge}
    shown = call(workspace, "agents_sync", {**params, "dry_run": True})
    if arguments.dry_run:
        output.emit(shown, _difference(shown), as_json=arguments.json)
        return 0
    if not arguments.json and not arguments.yes and output.is_terminal():
        output.say(_difference(shown))
        changes = shown["state"] == "follows" or (shown["state"] == "merges" and arguments.merge)
        if not changes or not output.agrees("Write this?"):
            return 0
        result = call(workspace, "agents_sync", params)
        output.emit(result, str(result["reason"]), as_json=False)
        return 0
    result = call(workspace, "agents_sync", params)
    output.emit(result, f"{_difference(shown)}\n{result['reason']}", as_json=arguments.json)
    return 0


def _difference(shown: dict[str, object]) -> str:
    parts = [f"{shown['state']}: {shown['reason']}"]
    if shown["template_diff"]:
        parts += ["", "what the template changed:", str(shown["template_diff"]).rstrip("\n")]
    if shown["hand_diff"]:
        parts += ["", "what was edited by hand:", str(shown["hand_diff"]).rstrip("\n")]
    return "\n".join(parts)


def prune(workspace: Workspace, arguments: argparse.Namespace) -> int:
    params = {**_params(workspace, arguments), "dry_run": arguments.dry_run}
    result = call(workspace, "agents_prune", {**params, "force": arguments.force})
    verb = "would remove" if arguments.dry_run else "removed"
    gone = [*_texts(result["run_dirs"]), *_texts(result["worktrees"])]
    lines = [f"{verb} {path}" for path in gone]
    kept = result["worktrees_kept"]
    lines += [
        f"{w['path']} stays: {w['why']} (--force removes it)"
        for w in (kept if isinstance(kept, list) else [])
    ]
    lines += [
        f".ideai/{path} belongs to no agent; remove it yourself if you do not need it"
        for path in _texts(result["contexts_without_agent"])
    ]
    broken = result["agents_without_context"]
    lines += [
        f"{a['name']} has lost its persona .ideai/{a['context_path']}"
        for a in (broken if isinstance(broken, list) else [])
    ]
    output.emit(result, "\n".join(lines) or "nothing to clear away", as_json=arguments.json)
    return 0


def _texts(value: object) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list) else []
