"""A project's agents in memory. `fail_on_save` makes the next manifest refuse to land."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from iai_mcp.domain.agents.agent import AgentManifest
from iai_mcp.domain.errors import IoFailed, NotFound
from iai_mcp.domain.projects.project import ProjectPath


class FakeAgentContextStore:
    def __init__(self) -> None:
        self.manifests: dict[str, AgentManifest] = {}
        self.contexts: dict[tuple[str, str], str] = {}
        self.fail_on_save = False
        self._lock = Lock()

    @contextmanager
    def exclusive(self, project: ProjectPath) -> Iterator[None]:
        with self._lock:
            yield

    def load_manifest(self, project: ProjectPath) -> AgentManifest:
        return self.manifests.get(project.text, AgentManifest())

    def save_manifest(self, project: ProjectPath, manifest: AgentManifest) -> None:
        if self.fail_on_save:
            raise IoFailed("the disk is full")
        self.manifests[project.text] = manifest

    def read_context(self, project: ProjectPath, context_path: str) -> str:
        try:
            return self.contexts[project.text, context_path]
        except KeyError as absent:
            raise NotFound(f"there is no file {context_path}") from absent

    def write_context(self, project: ProjectPath, context_path: str, text: str) -> None:
        self.contexts[project.text, context_path] = text

    def remove_context(self, project: ProjectPath, context_path: str) -> None:
        self.contexts.pop((project.text, context_path), None)

    def context_slugs(self, project: ProjectPath) -> frozenset[str]:
        return frozenset(
            path.removeprefix("agents/").removesuffix(".md")
            for root, path in self.contexts
            if root == project.text
        )
