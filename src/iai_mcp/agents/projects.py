"""Which project a person means, and which ones they work on."""

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass

from iai_mcp.domain.errors import InvalidInput, NotFound
from iai_mcp.domain.projects.identity import outside_run_directory
from iai_mcp.domain.projects.project import HERE, PROJECT_DATA, Project, ProjectPath, RemoteRef
from iai_mcp.ports.agent_stores import ProjectStore
from iai_mcp.ports.agent_world import IdGenerator, MillisecondClock
from iai_mcp.ports.file_system import FilesBelow


def nearest_project(files: FilesBelow, start: ProjectPath) -> ProjectPath:
    """The nearest directory upward with `.ideai`, else the git root, else `start` itself.

    An agent's worktree is no project of its own, though it may hold a `.ideai` that was committed.
    """
    upward = [outside_run_directory(start.text)]
    while upward[-1] != "/":
        upward.append(posixpath.dirname(upward[-1]))
    for marker in (PROJECT_DATA, ".git"):
        for directory in upward:
            if files(directory).exists(marker):
                return ProjectPath(directory)
    return start


@dataclass(frozen=True, slots=True)
class ProjectList:
    """The list of projects: a convenience, nothing needs it."""

    store: ProjectStore
    ids: IdGenerator
    clock: MillisecondClock
    remote: RemoteRef = HERE

    def add(self, path: ProjectPath, name: str | None = None) -> Project:
        """Remember a project. One that is known keeps its id, and takes a new name if given."""
        here = (p for p in self.store.list() if p.remote == self.remote)
        known = next((p for p in here if p.path == path), None)
        if known is not None and name in (None, known.name):
            return known
        project = Project(
            id=known.id if known else self.ids.new(),
            name=name if name is not None else posixpath.basename(path.text) or "root",
            path=path,
            created_at=known.created_at if known else self.clock.now_ms(),
            remote=self.remote,
        )
        self.store.save(project)
        return project

    def list(self) -> Sequence[Project]:
        return self.store.list()

    def remove(self, reference: str) -> Project:
        """Forget a project by id, path or unambiguous name. Its files stay."""
        known = self.store.list()
        found = [p for p in known if reference in (p.id, p.address)]
        found = found or [p for p in known if p.name == reference]
        if not found:
            raise NotFound(f"there is no project '{reference}': 'iai-mcp project list' shows them")
        if len(found) > 1:
            paths = ", ".join(p.address for p in found)
            raise InvalidInput(
                f"{len(found)} projects are called '{reference}': name one by its path ({paths})"
            )
        self.store.delete(found[0].id)
        return found[0]
