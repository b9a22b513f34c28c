"""The need for shared Markdown: templates with their versions, and skills."""

from collections.abc import Sequence
from typing import Protocol

from iai_mcp.domain.composing import Skill
from iai_mcp.domain.projects import ProjectPath
from iai_mcp.domain.templates import Template


class TemplateStore(Protocol):
    """Templates of the person and of the project; where both have one, the project's counts.

    People edit templates with any editor. Whenever one is looked at and its text is not that of
    its last version, that is a new version, and all versions are kept.
    """

    def list(self, project: ProjectPath) -> Sequence[Template]:
        """By id."""
        ...

    def current(self, project: ProjectPath, template_id: str) -> Template:
        """
        Raises:
            NotFound: there is no such template.
        """
        ...

    def record(self, project: ProjectPath, template: Template) -> None:
        """Keep the text of this version, so that it can be compared with later ones."""
        ...

    def version_text(self, project: ProjectPath, template_id: str, version: int) -> str | None:
        """The text of an earlier version; None if it was not kept."""
        ...

    def save(
        self, project: ProjectPath, template_id: str, text: str, *, where: str
    ) -> Template: ...

    def delete(self, project: ProjectPath, template_id: str) -> None: ...


class SkillStore(Protocol):
    """Skills of the person and of the project; where both have one, the project's counts."""

    def list(self, project: ProjectPath) -> Sequence[Skill]:
        """By name."""
        ...

    def get(self, project: ProjectPath, name: str) -> Skill:
        """
        Raises:
            NotFound: there is no such skill.
        """
        ...

    def save(self, project: ProjectPath, skill: Skill, *, where: str) -> None: ...

    def delete(self, project: ProjectPath, name: str) -> None: ...
