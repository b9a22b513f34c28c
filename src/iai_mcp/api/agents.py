"""Methods about agents, and the templates and skills that they are made of."""

from iai_mcp.agents.agents import AgentChange, NewAgent
from iai_mcp.agents.launch_plan import LaunchPlan, LaunchRequest
from iai_mcp.agents.live_sessions import live_sessions
from iai_mcp.api.agent_views import (
    agent_view,
    contents_view,
    difference_view,
    merged_view,
    plan_view,
    pruned_view,
    session_view,
    sync_view,
    template_view,
)
from iai_mcp.api.table import Json, Method
from iai_mcp.domain.agents.context_document import Skill
from iai_mcp.domain.agents.terminal import LARGEST, TerminalSize
from iai_mcp.domain.errors import IaiError, InvalidInput
from iai_mcp.domain.projects.project import ProjectPath
from iai_mcp.protocol.params import Params
from iai_mcp.workspace import Workspace


def project_of(workspace: Workspace, params: Params) -> ProjectPath:
    """`project` as it is, or the project around `cwd`. The caller's, never this process's own."""
    named = params.optional_text("project")
    cwd = params.optional_text("cwd")
    if named is None and cwd is None:
        params.text("project")
    return workspace.project(named, cwd or "/")


def create(workspace: Workspace, params: Params) -> Json:
    wanted = params.optional_text("profile")
    name = params.text("name")
    profile = workspace.profiles.named(wanted) if wanted else workspace.profiles.default()
    project = project_of(workspace, params)
    agent = workspace.agents.create(
        project,
        NewAgent(
            name=name,
            profile_id=profile.id,
            context=params.optional_text("context"),
            template=params.optional_text("template"),
            synchronized=params.flag("synchronized"),
            skills=params.optional_texts("skills") or (),
        ),
    )
    if params.has("worktree"):
        try:
            agent = workspace.worktrees.assign(project, agent.id, params.text("worktree") or None)
        except IaiError:
            workspace.delete(project, agent.id)
            raise
    return {"agent": agent_view(agent)}


def list_all(workspace: Workspace, params: Params) -> Json:
    project = project_of(workspace, params)
    return {
        "agents": [agent_view(agent) for agent in workspace.agents.list(project)],
        "project": project.text,
    }


def show(workspace: Workspace, params: Params) -> Json:
    project = project_of(workspace, params)
    agent = workspace.agents.named(project, params.text("agent"))
    return {
        "agent": {
            **agent_view(agent),
            "context": workspace.agents.persona(project, agent),
            "run_dir": project.run_dir(agent.id),
            "workplace": workspace.worktrees.place(project, agent),
            "sessions": [
                session_view(s) for s in live_sessions(workspace.sessions, project, agent.id)
            ],
        }
    }


def edit(workspace: Workspace, params: Params) -> Json:
    wanted = params.optional_text("profile")
    change = AgentChange(
        name=params.optional_text("name"),
        context=params.optional_text("context"),
        profile_id=workspace.profiles.named(wanted).id if wanted else None,
        synchronized=params.optional_flag("synchronized"),
        skills=params.optional_texts("skills"),
    )
    project = project_of(workspace, params)
    agent = workspace.agents.update(project, params.text("agent"), change)
    return {"agent": agent_view(agent)}


def delete(workspace: Workspace, params: Params) -> Json:
    agent = workspace.delete(
        project_of(workspace, params),
        params.text("agent"),
        force=params.flag("force"),
    )
    return {"agent": agent_view(agent), "deleted": True}


def sync(workspace: Workspace, params: Params) -> Json:
    project, agent = project_of(workspace, params), params.text("agent")
    if params.flag("dry_run"):
        return sync_view(workspace.sync.compare(project, agent))
    return sync_view(workspace.sync(project, agent, merge=params.flag("merge")))


def diff(workspace: Workspace, params: Params) -> Json:
    project, agent = project_of(workspace, params), params.text("agent")
    into = params.optional_text("into")
    return difference_view(workspace.worktrees.difference(project, agent, into))


def merge(workspace: Workspace, params: Params) -> Json:
    project, agent = project_of(workspace, params), params.text("agent")
    return merged_view(workspace.worktrees.merge(project, agent, params.optional_text("into")))


def prune(workspace: Workspace, params: Params) -> Json:
    dry_run, force = params.flag("dry_run"), params.flag("force")
    found = workspace.prune(project_of(workspace, params), dry_run=dry_run, force=force)
    return pruned_view(found, dry_run=dry_run)


def plan_of(workspace: Workspace, params: Params, *, rehearsal: bool) -> LaunchPlan:
    size = TerminalSize()
    project = project_of(workspace, params)
    return workspace.plan(
        LaunchRequest(
            project=project,
            agent=params.text("agent"),
            size=TerminalSize(
                params.integer("rows", size.rows, 1, LARGEST),
                params.integer("cols", size.cols, 1, LARGEST),
            ),
            prompt=params.optional_text("prompt"),
            resume=params.flag("resume"),
            worktree=params.optional_text("worktree"),
            trusted=workspace.project_store.trust(project) is True,
            rehearsal=rehearsal,
        )
    )


def launch(workspace: Workspace, params: Params) -> Json:
    """Over the socket only the plan can be had: a launch belongs to the person's own environment."""
    if not params.flag("print_only"):
        raise InvalidInput(
            "an agent starts in the environment of the person who launches it, not in the daemon's: "
            "run 'iai-mcp agent launch', or ask here with print_only for what it would do"
        )
    plan = plan_of(workspace, params, rehearsal=True)
    return {**plan_view(plan, None), "contents": contents_view(plan)}


def _where(params: Params) -> str:
    where = params.optional_text("where") or "project"
    if where not in ("project", "user"):
        raise InvalidInput("'where' has to be project or user")
    return where


def list_templates(workspace: Workspace, params: Params) -> Json:
    found = workspace.templates.list(project_of(workspace, params))
    return {"templates": [template_view(template) for template in found]}


def show_template(workspace: Workspace, params: Params) -> Json:
    template = workspace.templates.current(project_of(workspace, params), params.text("id"))
    return {"template": {**template_view(template), "text": template.text}}


def save_template(workspace: Workspace, params: Params) -> Json:
    template = workspace.templates.save(
        project_of(workspace, params),
        params.text("id"),
        params.text("text"),
        where=_where(params),
    )
    return {"template": template_view(template)}


def delete_template(workspace: Workspace, params: Params) -> Json:
    template_id = params.text("id")
    workspace.templates.delete(project_of(workspace, params), template_id)
    return {"id": template_id, "deleted": True}


def list_skills(workspace: Workspace, params: Params) -> Json:
    found = workspace.skills.list(project_of(workspace, params))
    return {"skills": [{"id": skill.name, "characters": len(skill.text)} for skill in found]}


def show_skill(workspace: Workspace, params: Params) -> Json:
    skill = workspace.skills.get(project_of(workspace, params), params.text("id"))
    return {"skill": {"id": skill.name, "text": skill.text}}


def save_skill(workspace: Workspace, params: Params) -> Json:
    skill = Skill(params.text("id"), params.text("text"))
    workspace.skills.save(project_of(workspace, params), skill, where=_where(params))
    return {"skill": {"id": skill.name}}


def delete_skill(workspace: Workspace, params: Params) -> Json:
    name, project = params.text("id"), project_of(workspace, params)
    users = workspace.agents.delete_skill(project, name, force=params.flag("force"))
    return {"id": name, "deleted": True, "taken_from": [agent.name for agent in users]}


METHODS: tuple[Method[Workspace], ...] = (
    Method("agents_create", create, page=True),
    Method("agents_list", list_all, page=True),
    Method("agents_show", show, page=True),
    Method("agents_edit", edit, page=True),
    Method("agents_delete", delete),
    Method("agents_sync", sync),
    Method("agents_diff", diff),
    Method("agents_merge", merge),
    Method("agents_prune", prune),
    Method("agents_launch", launch, page=True),
    Method("templates_list", list_templates, page=True),
    Method("templates_show", show_template, page=True),
    Method("templates_save", save_template),
    Method("templates_delete", delete_template),
    Method("skills_list", list_skills, page=True),
    Method("skills_show", show_skill, page=True),
    Method("skills_save", save_skill),
    Method("skills_delete", delete_skill),
)
