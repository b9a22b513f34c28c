"""`ProfileStore` and `ProjectStore`, each one JSON file of a person's own in the user data.

Read at once and changed under a lock.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from iai_mcp.adapters.files import json_text
from iai_mcp.domain.agents.profile import RUN_DIR_TEMPLATE, AgentProfile, parse_injection
from iai_mcp.domain.errors import IaiError, NotFound
from iai_mcp.domain.projects.project import Project, ProjectPath, RemoteRef
from iai_mcp.ports.file_system import FilesBelow

Value = TypeVar("Value")


class _UserDocument:
    """`<directory>/<name>`: an object whose keys, also those nobody here knows, are kept.

    The directory is asked for at every use, because the environment may name another one.
    """

    def __init__(self, files: FilesBelow, directory: Callable[[], str], name: str) -> None:
        self._files = files
        self._directory = directory
        self._name = name

    @property
    def path(self) -> str:
        return f"{self._directory()}/{self._name}"

    def read(self) -> dict[str, object]:
        return json_text.parse_object(self._bytes(), self.path)

    def _bytes(self) -> bytes:
        try:
            return self._files(self._directory()).read(self._name)
        except NotFound:
            return b"{}"

    def change(self, edit: Callable[[dict[str, object]], Mapping[str, object]]) -> None:
        """Replace the document by what `edit` makes of it, with nobody else in between."""
        files = self._files(self._directory())
        files.create_dir_all("")
        with files.locked(f".{self._name}.lock"):
            files.write(self._name, json_text.dump({"version": 1, **edit(self.read())}))

    def entries(self, key: str, parse: Callable[[Mapping[str, object]], Value]) -> list[Value]:
        """The list under `key`, each element understood or complained about with its line."""
        data = self._bytes()
        raw = json_text.objects_field(json_text.parse_object(data, self.path), key, self.path)
        values: list[Value] = []
        for value in raw:
            try:
                values.append(parse(json_text.as_object(value)))
            except IaiError as error:
                line = json_text.line_of(data, key, len(values))
                raise json_text.at_line(error, self.path, line) from error
        return values


def _put(entries: list[object], entry: Mapping[str, object]) -> list[object]:
    """`entries` with `entry` in the place of the one with its id, or at the end.

    Keys that the old entry had and nobody here knows are kept.
    """
    result: list[object] = []
    found = False
    for old in entries:
        if isinstance(old, dict) and old.get("id") == entry["id"]:
            result.append({**old, **entry})
            found = True
        else:
            result.append(old)
    return result if found else [*result, dict(entry)]


def _without(entries: list[object], entry_id: str) -> list[object] | None:
    """`entries` without the one of that id; None if there is none."""
    left = [e for e in entries if not (isinstance(e, dict) and e.get("id") == entry_id)]
    return left if len(left) < len(entries) else None


class FileProfileStore:
    """`<user data>/profiles.json`."""

    def __init__(self, files: FilesBelow, user_data: Callable[[], str]) -> None:
        self._document = _UserDocument(files, user_data, "profiles.json")

    def list(self) -> Sequence[AgentProfile]:
        return self._document.entries("profiles", _profile)

    def save(self, profile: AgentProfile) -> None:
        self.list()
        self._document.change(
            lambda old: {
                **old,
                "profiles": _put(
                    json_text.objects_field(old, "profiles", ""), _profile_json(profile)
                ),
            }
        )

    def delete(self, profile_id: str) -> None:
        def edit(old: dict[str, object]) -> Mapping[str, object]:
            left = _without(json_text.objects_field(old, "profiles", ""), profile_id)
            if left is None:
                raise NotFound(
                    f"you have no profile '{profile_id}': 'iai-mcp profile list' shows them"
                )
            return {**old, "profiles": left}

        self._document.change(edit)

    def is_configured(self) -> bool:
        return self._document.read().get("configured") is True

    def default_profile(self) -> str | None:
        named = self._document.read().get("default_profile")
        return named if isinstance(named, str) else None

    def mark_configured(self, default_profile: str | None = None) -> None:
        chosen = {} if default_profile is None else {"default_profile": default_profile}
        self._document.change(lambda old: {**old, "configured": True, **chosen})


def _profile(entry: Mapping[str, object]) -> AgentProfile:
    return AgentProfile(
        id=json_text.text_field(entry, "id"),
        name=json_text.text_field(entry, "name"),
        command=json_text.text_field(entry, "command"),
        injection=parse_injection(json_text.text_field(entry, "injection")),
        args=json_text.texts_field(entry, "args"),
        detect=json_text.optional_text(entry, "detect"),
        cwd_template=json_text.optional_text(entry, "cwd_template") or RUN_DIR_TEMPLATE,
        host=json_text.optional_text(entry, "host"),
        install=json_text.optional_text(entry, "install"),
    )


def _profile_json(profile: AgentProfile) -> dict[str, object]:
    return {
        "id": profile.id,
        "name": profile.name,
        "command": profile.command,
        "args": list(profile.args),
        "injection": str(profile.injection),
        "detect": profile.detect,
        "cwd_template": profile.cwd_template,
        "host": profile.host,
        "install": profile.install,
    }


class FileProjectStore:
    """`<user data>/projects.json`, with what the person said about trust.

    `machine`: where the paths are whose trust is asked for, `ssh://…`; nothing for this one.
    """

    def __init__(self, files: FilesBelow, user_data: Callable[[], str], machine: str = "") -> None:
        self._document = _UserDocument(files, user_data, "projects.json")
        self._machine = machine

    def list(self) -> Sequence[Project]:
        return self._document.entries("projects", _project)

    def save(self, project: Project) -> None:
        self.list()
        self._document.change(
            lambda old: {
                **old,
                "projects": _put(
                    json_text.objects_field(old, "projects", ""), _project_json(project)
                ),
            }
        )

    def delete(self, project_id: str) -> None:
        def edit(old: dict[str, object]) -> Mapping[str, object]:
            left = _without(json_text.objects_field(old, "projects", ""), project_id)
            if left is None:
                raise NotFound(
                    f"there is no project '{project_id}': 'iai-mcp project list' shows them"
                )
            return {**old, "projects": left}

        self._document.change(edit)

    def trust(self, path: ProjectPath) -> bool | None:
        kept = self._document.read().get("trust")
        answer = kept.get(f"{self._machine}{path}") if isinstance(kept, dict) else None
        return answer if isinstance(answer, bool) else None

    def remember_trust(self, path: ProjectPath, trusted: bool) -> None:
        def edit(old: dict[str, object]) -> Mapping[str, object]:
            kept = old.get("trust")
            return {
                **old,
                "trust": {
                    **(kept if isinstance(kept, dict) else {}),
                    f"{self._machine}{path}": trusted,
                },
            }

        self._document.change(edit)


def _project(entry: Mapping[str, object]) -> Project:
    return Project(
        id=json_text.text_field(entry, "id"),
        name=json_text.text_field(entry, "name"),
        path=ProjectPath(json_text.text_field(entry, "path")),
        created_at=json_text.whole_field(entry, "created_at"),
        remote=RemoteRef.parse(json_text.optional_text(entry, "remote") or "local"),
    )


def _project_json(project: Project) -> dict[str, object]:
    return {
        "id": project.id,
        "name": project.name,
        "path": project.path.text,
        "remote": str(project.remote),
        "created_at": project.created_at,
    }
