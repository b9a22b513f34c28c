"""From the filters of a call to the scope of the store, and what is closed to whoever calls."""

from collections.abc import Iterable, Sequence

from iai_mcp.domain.errors import PlaceSilent
from iai_mcp.domain.memories import Memory
from iai_mcp.ports.memories import Memories, Scope
from iai_mcp.ports.surroundings import Projects
from iai_mcp.protocol.params import Params

# No project has this key: a filter that matches nothing must find nothing.
NOWHERE = "\x00nowhere"
# Says that the caller is not the owner of the memory, as commands and hooks are: its place was
# fixed when it connected, and to name another one opens nothing.
VISITOR = "visitor"


def scope_of(
    params: Params,
    memories: Memories,
    projects: Projects,
    *,
    since: str = "since",
    until: str = "until",
    all_of_the_owners: bool = False,
) -> Scope:
    """The scope that the call's filters describe; `project=*` widens to everything.

    A private project is out of it for whoever works elsewhere, even if they name it.
    `all_of_the_owners`: to its owner the call concerns all that is stored, as forgetting does.
    """
    after, before = params.instant(since), params.instant(until)
    as_of = params.instant("as_of")
    named = project_keys(params.text("project", ""), memories, projects)
    open_to_all = all_of_the_owners and not params.flag(VISITOR)
    return Scope(
        projects=named,
        not_projects=() if open_to_all else closed_to(params, memories, projects, named),
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


def closed_to(
    params: Params, memories: Memories, projects: Projects, named: Sequence[str] = ()
) -> tuple[str, ...]:
    """The private projects that this call may not look into: all but the one it comes from.

    An owner who does not say where they are may look into those that they name.
    """
    private = memories.private_projects()
    if not private:
        return ()
    cwd = params.text("cwd", "")
    try:
        here = projects.place_of(cwd)
    except PlaceSilent:
        here = ""
    closed = projects.closed(private, memories.projects(), here)
    asked_by_name = not cwd and not params.flag(VISITOR)
    return tuple(key for key in closed if not (asked_by_name and key in named))


def within_reach(
    found: Iterable[Memory], params: Params, memories: Memories, projects: Projects
) -> list[Memory]:
    """Those that a call may touch by their ids: a visitor's ends where private projects begin."""
    closed = closed_to(params, memories, projects) if params.flag(VISITOR) else ()
    return [memory for memory in found if memory.provenance.project not in closed]
