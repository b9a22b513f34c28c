"""`AgentContextStore` in `<project>/.ideai`: made to be read, diffed and committed."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from iai_mcp.adapters.files import manifest_json
from iai_mcp.domain.agents import CONTEXTS, AgentManifest
from iai_mcp.domain.errors import InvalidInput, IoFailed, NotFound
from iai_mcp.domain.foreign_text import is_bare_file_name
from iai_mcp.domain.projects import PROJECT_DATA, RUNS, ProjectPath
from iai_mcp.ports.file_system import FilesBelow, FileSystem

_MANIFEST = f"{PROJECT_DATA}/agents.json"
_IGNORED = b"run/\n"


class FileAgentContextStore:
    """One `agents.json`, one Markdown file per agent, one lock for whoever changes them."""

    def __init__(self, files: FilesBelow) -> None:
        self._files = files

    def exclusive(self, project: ProjectPath) -> AbstractContextManager[None]:
        return self._exclusive(project)

    @contextmanager
    def _exclusive(self, project: ProjectPath) -> Iterator[None]:
        files = self._files(project.text)
        if not files.exists(""):
            raise IoFailed(f"there is no directory {project}: make it first, or give --project")
        _prepare(files)
        with files.locked(f"{RUNS}/.lock"):
            yield

    def load_manifest(self, project: ProjectPath) -> AgentManifest:
        try:
            data = self._files(project.text).read(_MANIFEST)
        except NotFound:
            return AgentManifest()
        return manifest_json.parse(data, f"{project}/{_MANIFEST}")

    def save_manifest(self, project: ProjectPath, manifest: AgentManifest) -> None:
        data = manifest_json.dump(manifest)
        self._files(project.text).write(_MANIFEST, data, private=False)

    def read_context(self, project: ProjectPath, context_path: str) -> str:
        data = self._files(project.text).read(_inside(context_path))
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            line = data[: error.start].count(b"\n") + 1
            raise InvalidInput(
                f"{project}/{_inside(context_path)}, line {line}: this is not UTF-8; "
                "save it as UTF-8"
            ) from error

    def write_context(self, project: ProjectPath, context_path: str, text: str) -> None:
        files = self._files(project.text)
        files.create_dir_all(_inside(CONTEXTS), private=False)
        files.write(_inside(context_path), text.encode(), private=False)

    def remove_context(self, project: ProjectPath, context_path: str) -> None:
        self._files(project.text).remove(_inside(context_path))

    def context_slugs(self, project: ProjectPath) -> frozenset[str]:
        names = self._files(project.text).list(_inside(CONTEXTS))
        ours = (name for name in names if name.endswith(".md") and is_bare_file_name(name))
        return frozenset(name.removesuffix(".md") for name in ours)


def _inside(path: str) -> str:
    return f"{PROJECT_DATA}/{path}"


def _prepare(files: FileSystem) -> None:
    """Make `.ideai` with a private `run/` that git does not see. Rules people added stay."""
    files.create_dir_all(PROJECT_DATA, private=False)
    files.create_dir_all(RUNS)
    ignore = _inside(".gitignore")
    rules = files.read(ignore) if files.exists(ignore) else b""
    if not {b"run/", b"/run/", b"run"} & {line.strip() for line in rules.splitlines()}:
        gap = b"\n" if rules and not rules.endswith(b"\n") else b""
        files.write(ignore, rules + gap + _IGNORED, private=False)
