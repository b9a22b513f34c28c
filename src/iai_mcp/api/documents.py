"""Methods about templates and skills."""

from iai_mcp.api.agent_views import template_view
from iai_mcp.api.agents import project_of
from iai_mcp.api.method import Json, Method
from iai_mcp.domain.composing import Skill
from iai_mcp.domain.errors import InvalidInput
from iai_mcp.protocol.params import Params
from iai_mcp.workspace import Workspace


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
    name = params.text("id")
    workspace.skills.delete(project_of(workspace, params), name)
    return {"id": name, "deleted": True}


METHODS: tuple[Method[Workspace], ...] = (
    Method("templates_list", list_templates, page=True),
    Method("templates_show", show_template, page=True),
    Method("templates_save", save_template),
    Method("templates_delete", delete_template),
    Method("skills_list", list_skills, page=True),
    Method("skills_show", show_skill, page=True),
    Method("skills_save", save_skill),
    Method("skills_delete", delete_skill),
)
