"""The calls about templates and skills, by their wire names."""

from iai_mcp.domain.composing import Skill
from iai_mcp.domain.errors import InvalidInput
from iai_mcp.memory.params import Params
from iai_mcp.workspace.agent_calls import project_of
from iai_mcp.workspace.params import optional_text
from iai_mcp.workspace.root import Workspace
from iai_mcp.workspace.views import Json, template_view


def _where(params: Params) -> str:
    where = optional_text(params, "where") or "project"
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
