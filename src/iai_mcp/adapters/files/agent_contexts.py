"""`AgentContextStore` in `<project>/.ideai`: made to be read, diffed and committed.

`agents.json` is turned into a value and back without losing what others put there.
"""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager

from iai_mcp.adapters.files import json_text
from iai_mcp.domain.agents.agent import (
    CONTEXTS,
    MANIFEST_VERSION,
    Agent,
    AgentManifest,
    FromTemplate,
    Origin,
    Scratch,
    first_repeated,
)
from iai_mcp.domain.errors import IaiError, InvalidInput, IoFailed, NotFound
from iai_mcp.domain.foreign_text import is_bare_file_name, quoted
from iai_mcp.domain.projects.project import PROJECT_DATA, RUNS, ProjectPath
from iai_mcp.ports.file_system import FilesBelow, FileSystem

_MANIFEST = f"{PROJECT_DATA}/agents.json"
_IGNORED = b"run/\n"
_ENTRY_KEYS = {
    *("agent_id", "name", "md_path", "profile_id", "origin", "synchronized", "skills"),
    "worktree",
}


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
        return _parse(data, f"{project}/{_MANIFEST}")

    def save_manifest(self, project: ProjectPath, manifest: AgentManifest) -> None:
        data = _dump(manifest)
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


def _parse(data: bytes, path: str) -> AgentManifest:
    """
    Raises:
        InvalidInput: with the file and the line of what can not be understood.
    """
    document = json_text.parse_object(data, path)
    version = document.get("version", MANIFEST_VERSION)
    if version != MANIFEST_VERSION or isinstance(version, bool):
        raise InvalidInput(
            f"{path} has version {quoted(str(version))} and this iai-mcp knows "
            f"{MANIFEST_VERSION}: update iai-mcp"
        )
    raw = json_text.objects_field(document, "entries", path)
    entries: list[Agent] = []
    for value in raw:
        try:
            entries.append(_agent(json_text.as_object(value)))
        except IaiError as error:
            line = json_text.line_of(data, "entries", len(entries))
            raise json_text.at_line(error, path, line) from error
    extra = {key: value for key, value in document.items() if key not in ("version", "entries")}
    try:
        return AgentManifest(tuple(entries), extra=extra)
    except IaiError as error:
        repeated = first_repeated(entries)
        line = json_text.line_of(data, "entries", repeated.number) if repeated else 1
        raise json_text.at_line(error, path, line) from error


def _agent(entry: Mapping[str, object]) -> Agent:
    return Agent(
        id=json_text.text_field(entry, "agent_id"),
        name=json_text.text_field(entry, "name"),
        context_path=json_text.text_field(entry, "md_path"),
        profile_id=json_text.text_field(entry, "profile_id"),
        origin=_origin(entry.get("origin", "scratch")),
        synchronized=json_text.flag_field(entry, "synchronized"),
        skills=json_text.texts_field(entry, "skills"),
        worktree=json_text.text_field(entry, "worktree") if entry.get("worktree") else None,
        extra={key: value for key, value in entry.items() if key not in _ENTRY_KEYS},
    )


def _origin(value: object) -> Origin:
    if value == "scratch":
        return Scratch()
    if isinstance(value, dict) and isinstance(value.get("template"), dict):
        template = value["template"]
        return FromTemplate(
            json_text.text_field(template, "id"), json_text.whole_field(template, "version")
        )
    raise InvalidInput("""'origin' has to be "scratch" or {"template": {"id": …, "version": …}}""")


def _dump(manifest: AgentManifest) -> bytes:
    entries = [_entry_of(agent) for agent in manifest.entries]
    return json_text.dump({"version": manifest.version, "entries": entries, **manifest.extra})


def _entry_of(agent: Agent) -> dict[str, object]:
    entry: dict[str, object] = {
        "agent_id": agent.id,
        "name": agent.name,
        "md_path": agent.context_path,
        "profile_id": agent.profile_id,
        "origin": _origin_json(agent.origin),
        "synchronized": agent.synchronized,
    }
    if agent.skills:
        entry["skills"] = list(agent.skills)
    if agent.worktree is not None:
        entry["worktree"] = agent.worktree
    return {**entry, **agent.extra}


def _origin_json(origin: Origin) -> object:
    if isinstance(origin, Scratch):
        return "scratch"
    return {"template": {"id": origin.id, "version": origin.version}}
