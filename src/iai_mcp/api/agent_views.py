"""Values of the agents half as the JSON that leaves us."""

from collections.abc import Mapping
from typing import assert_never

from iai_mcp.agents.launch_plan import LaunchPlan
from iai_mcp.agents.removal import Pruned
from iai_mcp.agents.template_sync import SyncOutcome
from iai_mcp.api.table import Json
from iai_mcp.domain.agents.agent import Agent, FromTemplate, Origin, Scratch
from iai_mcp.domain.agents.profile import AgentProfile, Detection
from iai_mcp.domain.agents.templates import Template
from iai_mcp.domain.agents.terminal import TerminalSession
from iai_mcp.domain.agents.worktrees import Difference, MergeResult
from iai_mcp.domain.instants import iso
from iai_mcp.domain.projects.project import Project


def agent_view(agent: Agent) -> Json:
    return {
        "id": agent.id,
        "name": agent.name,
        "slug": agent.slug,
        "context_path": agent.context_path,
        "profile_id": agent.profile_id,
        "origin": origin_view(agent.origin),
        "synchronized": agent.synchronized,
        "skills": list(agent.skills),
        "worktree": agent.worktree,
    }


def origin_view(origin: Origin) -> object:
    match origin:
        case Scratch():
            return "scratch"
        case FromTemplate(template_id, version):
            return {"template": {"id": template_id, "version": version}}
        case _:
            assert_never(origin)


def profile_view(profile: AgentProfile, *, builtin: bool, verified: str | None) -> Json:
    return {
        "id": profile.id,
        "name": profile.name,
        "command": profile.command,
        "args": list(profile.args),
        "injection": str(profile.injection),
        "detect": profile.detect,
        "cwd_template": profile.cwd_template,
        "host": profile.host,
        "install": profile.install,
        "builtin": builtin,
        "verified": verified,
    }


def detection_view(detection: Detection) -> Json:
    return {
        "profile_id": detection.profile_id,
        "installed": detection.installed,
        "path": detection.path,
        "version": detection.version,
        "problem": detection.problem,
    }


def project_view(project: Project) -> Json:
    return {
        "id": project.id,
        "name": project.name,
        "path": project.path.text,
        "remote": str(project.remote),
        "created_at": project.created_at,
    }


def template_view(template: Template) -> Json:
    return {"id": template.id, "version": template.version, "where": template.where}


def session_view(session: TerminalSession) -> Json:
    return {
        "id": session.id,
        "kind": session.kind,
        "status": session.status.phase.value,
        "exit_code": session.status.exit_code,
        "started": iso(session.started_ms * 1000),
    }


def plan_view(plan: LaunchPlan, session: TerminalSession | None) -> Json:
    """What `agent launch` answers. Without a session nothing was started."""
    return {
        "session": session_view(session) if session else None,
        "agent": agent_view(plan.agent),
        "run_dir": plan.run_dir,
        "cwd": plan.spec.cwd,
        "command": plan.spec.command,
        "args": list(plan.spec.args),
        "env": dict(plan.spec.env),
        "files": [f"{plan.run_dir}/{file.path}" for file in plan.files],
        "notes": list(plan.notes),
    }


def contents_view(plan: LaunchPlan) -> Mapping[str, str]:
    """What each file of a plan would say."""
    return {f"{plan.run_dir}/{file.path}": file.text for file in plan.files}


def sync_view(outcome: SyncOutcome) -> Json:
    return {
        "agent": agent_view(outcome.agent),
        "template": template_view(outcome.template),
        "state": outcome.comparison.state.value,
        "template_diff": outcome.comparison.template_diff,
        "hand_diff": outcome.comparison.hand_diff,
        "diff": outcome.comparison.template_diff,
        "applied": outcome.applied,
        "reason": outcome.reason,
    }


def difference_view(found: Difference) -> Json:
    return {
        "branch": found.branch,
        "into": found.into,
        "commits": found.commits,
        "uncommitted": list(found.standing.uncommitted),
        "untracked": list(found.standing.untracked),
        "diff": found.text,
    }


def merged_view(merged: MergeResult) -> Json:
    return {
        "branch": merged.branch,
        "into": merged.into,
        "merged": merged.commits,
        "commit": merged.commit,
    }


def pruned_view(pruned: Pruned, *, dry_run: bool) -> Json:
    return {
        "run_dirs": list(pruned.run_dirs),
        "worktrees": list(pruned.worktrees),
        "worktrees_kept": [{"path": path, "why": why} for path, why in pruned.worktrees_kept],
        "removed": 0 if dry_run else len(pruned.run_dirs) + len(pruned.worktrees),
        "contexts_without_agent": list(pruned.contexts_without_agent),
        "agents_without_context": [agent_view(a) for a in pruned.agents_without_context],
    }
