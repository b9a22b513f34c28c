"""A person's projects in memory."""

from collections.abc import Sequence

from iai_mcp.domain.errors import NotFound
from iai_mcp.domain.projects.project import Project, ProjectPath


class FakeProjectStore:
    def __init__(self) -> None:
        self._projects: dict[str, Project] = {}
        self._trust: dict[str, bool] = {}

    def list(self) -> Sequence[Project]:
        return tuple(self._projects.values())

    def save(self, project: Project) -> None:
        self._projects[project.id] = project

    def delete(self, project_id: str) -> None:
        if self._projects.pop(project_id, None) is None:
            raise NotFound(f"there is no project '{project_id}'")

    def trust(self, path: ProjectPath) -> bool | None:
        return self._trust.get(path.text)

    def remember_trust(self, path: ProjectPath, trusted: bool) -> None:
        self._trust[path.text] = trusted
