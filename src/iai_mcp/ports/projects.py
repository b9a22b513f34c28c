"""The need to remember which projects a person works on, and which of them they trust."""

from collections.abc import Sequence
from typing import Protocol

from iai_mcp.domain.projects import Project, ProjectPath


class ProjectStore(Protocol):
    def list(self) -> Sequence[Project]:
        """In the order they were added."""
        ...

    def save(self, project: Project) -> None:
        """Add it, or replace the one with its id."""
        ...

    def delete(self, project_id: str) -> None:
        """
        Raises:
            NotFound: there is none with this id.
        """
        ...

    def trust(self, path: ProjectPath) -> bool | None:
        """Whether the person said that agents may trust this directory; None: never asked."""
        ...

    def remember_trust(self, path: ProjectPath, trusted: bool) -> None: ...
