"""Launching an agent from the page, whose process has the environment of the person who opened it."""

from iai_mcp.api.agent_views import plan_view
from iai_mcp.api.agents import plan_of, project_of
from iai_mcp.api.table import Json
from iai_mcp.domain.errors import IaiError
from iai_mcp.domain.projects.project import ProjectPath
from iai_mcp.protocol.params import Params
from iai_mcp.workspace import Workspace


class TrustNeeded(IaiError):
    """The person has not said yet, or has said no, whether they trust the files of the project."""

    code = "TRUST_NEEDED"


def launch(workspace: Workspace, params: Params) -> Json:
    """As `iai-mcp agent launch --detach`; `trust` is the person's yes, which is remembered.

    Raises:
        TrustNeeded: ask them, then call again with `trust`.
    """
    project = project_of(workspace, params)
    if params.flag("trust"):
        workspace.project_store.remember_trust(project, True)
    elif _must_ask(workspace, project, params.text("agent")):
        raise TrustNeeded(f"Do you trust the files in {project}, for all agents you launch there?")
    plan = plan_of(workspace, params, rehearsal=False)
    return plan_view(plan, workspace.launch(plan))


def _must_ask(workspace: Workspace, project: ProjectPath, agent: str) -> bool:
    answer = workspace.project_store.trust(project)
    if answer is not None:
        return not answer
    profile = workspace.profiles.named(workspace.agents.named(project, agent).profile_id)
    return workspace.profiles.runtime.traits(profile).asks_trust
