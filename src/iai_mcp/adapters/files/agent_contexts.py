"""`AgentContextStore` in `<project>/.ideai`: made to be read, diffed and committed."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from iai_mcp.adapters.files import locks, manifest_json
from iai_mcp.domain.agents import CONTEXTS, AgentManifest
from iai_mcp.domain.errors import InvalidInput, IoFailed, NotFound
from iai_mcp.domain.projects import ProjectPath
from iai_mcp.ports.file_system import FileSystem

_IGNORED = b"run/\n"


class FileAgentContextStore:
    """One `agents.json`, one Markdown file per agent, one lock for whoever changes them."""

    def __init__(self, files: FileSystem) -> None:
        self._files = files

    def exclusive(self, project: ProjectPath) -> AbstractContextManager[None]:
        return self._exclusive(project)

    @contextmanager
    def _exclusive(self, project: ProjectPath) -> Iterator[None]:
        if not self._files.exists(project.text):
            raise IoFailed(f"there is no directory {project}: make it first, or give --project")
        prepare_project_data(self._files, project)
        with locks.held(f"{project.data}/run/.lock"):
            yield

    def load_manifest(self, project: ProjectPath) -> AgentManifest:
        path = _manifest(project)
        try:
            data = self._files.read(path)
        except NotFound:
            return AgentManifest()
        return manifest_json.parse(data, path)

    def save_manifest(self, project: ProjectPath, manifest: AgentManifest) -> None:
        self._files.write(_manifest(project), manifest_json.dump(manifest), private=False)

    def read_context(self, project: ProjectPath, context_path: str) -> str:
        path = f"{project.data}/{context_path}"
        data = self._files.read(path)
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            line = data[: error.start].count(b"\n") + 1
            raise InvalidInput(
                f"{path}, line {line}: this is not UTF-8; save it as UTF-8"
            ) from error

    def write_context(self, project: ProjectPath, context_path: str, text: str) -> None:
        self._files.create_dir_all(f"{project.data}/{CONTEXTS}", private=False)
        self._files.write(f"{project.data}/{context_path}", text.encode(), private=False)

    def remove_context(self, project: ProjectPath, context_path: str) -> None:
        self._files.remove(f"{project.data}/{context_path}")

    def context_slugs(self, project: ProjectPath) -> frozenset[str]:
        names = self._files.list(f"{project.data}/{CONTEXTS}")
        return frozenset(name.removesuffix(".md") for name in names if name.endswith(".md"))


def _manifest(project: ProjectPath) -> str:
    return f"{project.data}/agents.json"


def prepare_project_data(files: FileSystem, project: ProjectPath) -> None:
    """Make `.ideai` with a private `run/` that git does not see. Rules people added stay."""
    files.create_dir_all(project.data, private=False)
    files.create_dir_all(f"{project.data}/run")
    ignore = f"{project.data}/.gitignore"
    rules = files.read(ignore) if files.exists(ignore) else b""
    if not {b"run/", b"/run/", b"run"} & {line.strip() for line in rules.splitlines()}:
        gap = b"\n" if rules and not rules.endswith(b"\n") else b""
        files.write(ignore, rules + gap + _IGNORED, private=False)
