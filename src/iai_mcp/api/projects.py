"""Methods about projects and profiles."""

from dataclasses import replace

from iai_mcp.agents.profiles import NewProfile
from iai_mcp.api.agent_views import detection_view, profile_view, project_view
from iai_mcp.api.table import Json, Method
from iai_mcp.domain.agents.profile import AgentProfile, parse_injection
from iai_mcp.domain.projects.project import ProjectPath
from iai_mcp.protocol.params import Params
from iai_mcp.workspace import Workspace


def add_project(workspace: Workspace, params: Params) -> Json:
    path = workspace.project(params.text("path"), "/")
    project = workspace.projects.add(path, params.optional_text("name"))
    return {"project": project_view(project)}


def list_projects(workspace: Workspace, _params: Params) -> Json:
    return {"projects": [project_view(project) for project in workspace.projects.list()]}


def remove_project(workspace: Workspace, params: Params) -> Json:
    named = params.text("project")
    reference = ProjectPath(named).text if named.startswith("/") else named
    return {"project": project_view(workspace.projects.remove(reference)), "removed": True}


def _view(workspace: Workspace, profile: AgentProfile) -> Json:
    builtin = workspace.profiles.is_builtin(profile)
    verified = workspace.profiles.runtime.traits(profile).verified if builtin else None
    return profile_view(profile, builtin=builtin, verified=verified)


def list_profiles(workspace: Workspace, _params: Params) -> Json:
    return {
        "profiles": [_view(workspace, profile) for profile in workspace.profiles.all()],
        "default": workspace.profile_store.default_profile(),
        "configured": workspace.profile_store.is_configured(),
    }


def detect_profiles(workspace: Workspace, params: Params) -> Json:
    named = params.optional_texts("profiles")
    wanted = [workspace.profiles.named(each) for each in named] if named else None
    profiles = wanted or workspace.profiles.all()
    names = {profile.id: profile.name for profile in profiles}
    found = workspace.profiles.detect(profiles)
    return {"profiles": [{**detection_view(d), "name": names[d.profile_id]} for d in found]}


def add_profile(workspace: Workspace, params: Params) -> Json:
    profile = workspace.profiles.add(
        NewProfile(
            name=params.text("name"),
            command=params.text("command"),
            injection=parse_injection(params.text("injection")),
            args=params.optional_texts("args") or (),
            detect=params.optional_text("detect"),
            cwd_template=params.optional_text("cwd_template"),
            host=params.optional_text("host"),
        )
    )
    return {"profile": _view(workspace, profile)}


def edit_profile(workspace: Workspace, params: Params) -> Json:
    profile = workspace.profiles.named(params.text("profile"))
    injection = params.optional_text("injection")
    args = params.optional_texts("args")
    changed = replace(
        profile,
        name=params.optional_text("name") or profile.name,
        command=params.optional_text("command") or profile.command,
        injection=parse_injection(injection) if injection else profile.injection,
        args=profile.args if args is None else args,
        detect=params.optional_text("detect") or profile.detect,
        cwd_template=params.optional_text("cwd_template") or profile.cwd_template,
        host=params.optional_text("host") or profile.host,
    )
    return {"profile": _view(workspace, workspace.profiles.edit(changed))}


def remove_profile(workspace: Workspace, params: Params) -> Json:
    profile = workspace.profiles.remove(params.text("profile"))
    return {"profile": profile_view(profile, builtin=False, verified=None), "removed": True}


def choose_default(workspace: Workspace, params: Params) -> Json:
    """Ends the first-use walk; `profile` becomes the one that new agents get."""
    chosen = params.optional_text("profile")
    profile = workspace.profiles.named(chosen) if chosen else None
    workspace.profile_store.mark_configured(profile.id if profile else None)
    return {"configured": True, "default": workspace.profile_store.default_profile()}


METHODS: tuple[Method[Workspace], ...] = (
    Method("projects_add", add_project),
    Method("projects_list", list_projects, page=True),
    Method("projects_remove", remove_project),
    Method("profiles_list", list_profiles, page=True),
    Method("profiles_detect", detect_profiles),
    Method("profiles_add", add_profile),
    Method("profiles_edit", edit_profile),
    Method("profiles_remove", remove_profile),
    Method("profiles_setup", choose_default),
)
