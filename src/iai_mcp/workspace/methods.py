"""The agents half as JSON-RPC methods: a table from name to call, for `core.dispatch`."""

from collections.abc import Callable, Mapping

from iai_mcp.memory.params import Params
from iai_mcp.workspace import agent_calls, document_calls, profile_calls, session_calls
from iai_mcp.workspace.root import Workspace, open_workspace
from iai_mcp.workspace.views import Json

CALLS: Mapping[str, Callable[[Workspace, Params], Json]] = {
    "projects_add": profile_calls.add_project,
    "projects_list": profile_calls.list_projects,
    "projects_remove": profile_calls.remove_project,
    "profiles_list": profile_calls.list_profiles,
    "profiles_detect": profile_calls.detect_profiles,
    "profiles_add": profile_calls.add_profile,
    "profiles_edit": profile_calls.edit_profile,
    "profiles_remove": profile_calls.remove_profile,
    "profiles_setup": profile_calls.choose_default,
    "agents_create": agent_calls.create,
    "agents_list": agent_calls.list_all,
    "agents_show": agent_calls.show,
    "agents_edit": agent_calls.edit,
    "agents_delete": agent_calls.delete,
    "agents_sync": agent_calls.sync,
    "agents_prune": agent_calls.prune,
    "agents_launch": agent_calls.launch,
    "sessions_list": session_calls.list_all,
    "sessions_send": session_calls.send,
    "sessions_broadcast": session_calls.broadcast,
    "sessions_logs": session_calls.logs,
    "sessions_kill": session_calls.kill,
    "sessions_wait": session_calls.wait,
    "sessions_write": session_calls.write,
    "sessions_resize": session_calls.resize,
    "sessions_prune": session_calls.prune,
    "templates_list": document_calls.list_templates,
    "templates_show": document_calls.show_template,
    "templates_save": document_calls.save_template,
    "templates_delete": document_calls.delete_template,
    "skills_list": document_calls.list_skills,
    "skills_show": document_calls.show_skill,
    "skills_save": document_calls.save_skill,
    "skills_delete": document_calls.delete_skill,
}


def call(workspace: Workspace, name: str, params: Mapping[str, object]) -> Json:
    """Call by wire name in this process, as the command line does."""
    return CALLS[name](workspace, Params(params))


def _method(function: Callable[[Workspace, Params], Json]) -> Callable[[object, Params], Json]:
    def answer(_store: object, params: Params) -> Json:
        return function(open_workspace(), params)

    return answer


METHODS: Mapping[str, Callable[[object, Params], Json]] = {
    name: _method(function) for name, function in CALLS.items()
}
