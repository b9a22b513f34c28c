"""The need to keep what belongs to agents: their contexts, a person's profiles and projects, Markdown."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from iai_mcp.domain.agents.agent import AgentManifest
from iai_mcp.domain.agents.context_document import Skill
from iai_mcp.domain.agents.profile import AgentProfile
from iai_mcp.domain.agents.templates import Template
from iai_mcp.domain.projects.project import Project, ProjectPath


class AgentContextStore(Protocol):
    """A project's agents: one manifest, and one context per agent.

    Reading needs no lock. Whoever changes something does it inside `exclusive`."""

    def exclusive(self, project: ProjectPath) -> AbstractContextManager[None]:
        """Nobody else changes this project's agents meanwhile, in no process.

        Raises:
            Busy: somebody held it for longer than a person would wait.
            IoFailed: the project can not be written to.
        """
        ...

    def load_manifest(self, project: ProjectPath) -> AgentManifest:
        """The agents; none if there is no manifest yet.

        Raises:
            InvalidInput: the file was damaged; the sentence names the line, the file stays.
        """
        ...

    def save_manifest(self, project: ProjectPath, manifest: AgentManifest) -> None:
        """Replace the manifest in one step, with the keys others put into it."""
        ...

    def read_context(self, project: ProjectPath, context_path: str) -> str:
        """
        Raises:
            NotFound: the file is gone.
            InvalidInput: it is not UTF-8.
        """
        ...

    def write_context(self, project: ProjectPath, context_path: str, text: str) -> None: ...

    def remove_context(self, project: ProjectPath, context_path: str) -> None:
        """Gone already is fine."""
        ...

    def context_slugs(self, project: ProjectPath) -> frozenset[str]:
        """The slugs that have a context file, with or without an agent."""
        ...


class ProfileStore(Protocol):
    """A person's own profiles; the built-in ones are not kept here."""

    def list(self) -> Sequence[AgentProfile]:
        """In the order they were first saved.

        Raises:
            InvalidInput: the file was damaged; the sentence names the line, the file stays.
        """
        ...

    def save(self, profile: AgentProfile) -> None:
        """Add it, or replace the one with its id."""
        ...

    def delete(self, profile_id: str) -> None:
        """
        Raises:
            NotFound: there is none with this id.
        """
        ...

    def is_configured(self) -> bool:
        """Whether the first-use walk through the profiles has been done."""
        ...

    def default_profile(self) -> str | None:
        """The profile a new agent gets when none is named."""
        ...

    def mark_configured(self, default_profile: str | None = None) -> None: ...


class ProjectStore(Protocol):
    """Which projects a person works on, and which of them they trust."""

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

    def places(self, project: ProjectPath, name: str) -> Sequence[str]:
        """Which of `project` and `user` have one of this name; the first is the one that counts."""
        ...

    def save(self, project: ProjectPath, skill: Skill, *, where: str) -> None: ...

    def delete(self, project: ProjectPath, name: str) -> None:
        """Remove the one that counts.

        Raises:
            NotFound: there is no such skill.
        """
        ...
