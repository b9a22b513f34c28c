"""The need to keep a project's agents: one manifest, and one context per agent."""

from contextlib import AbstractContextManager
from typing import Protocol

from iai_mcp.domain.agents import AgentManifest
from iai_mcp.domain.projects import ProjectPath


class AgentContextStore(Protocol):
    """Reading needs no lock. Whoever changes something does it inside `exclusive`."""

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
