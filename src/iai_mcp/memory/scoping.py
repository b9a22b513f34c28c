"""From the filters of a call to the scope of the store."""

from iai_mcp.memory.params import Params
from iai_mcp.ports.memories import Memories, Scope
from iai_mcp.ports.surroundings import Projects

# No project has this key: a filter that matches nothing must find nothing.
NOWHERE = "\x00nowhere"


def scope_of(
    params: Params,
    memories: Memories,
    projects: Projects,
    *,
    since: str = "since",
    until: str = "until",
    owner: bool = False,
) -> Scope:
    """The scope that the call's filters describe; `project=*` widens to everything.

    A private project is out of it for whoever works elsewhere, even if they name it. `owner`:
    the call concerns all that is stored, as forgetting does.
    """
    after, before = params.instant(since), params.instant(until)
    as_of = params.instant("as_of")
    named = project_keys(params.text("project", ""), memories, projects)
    return Scope(
        projects=named,
        not_projects=() if owner else _closed(params, named, memories, projects),
        session_id=params.text("session_id", ""),
        host=params.text("host", ""),
        agent=params.text("agent", ""),
        role=params.text("role", ""),
        since=None if after is None else after.micros,
        until=None if before is None else before.micros,
        known_at=None if as_of is None else as_of.micros,
    )


def project_keys(project: str, memories: Memories, projects: Projects) -> tuple[str, ...]:
    """The stored keys a filter stands for; () for no filter or `*`."""
    if not project or project == "*":
        return ()
    return tuple(projects.matching(project, memories.projects())) or (NOWHERE,)


def _closed(
    params: Params, named: tuple[str, ...], memories: Memories, projects: Projects
) -> tuple[str, ...]:
    """The private projects that this call may not look into."""
    private = memories.private_projects()
    if not private:
        return ()
    here = projects.key_of("", params.text("cwd", ""))
    return tuple(key for key in private if key != here and (here or key not in named))
