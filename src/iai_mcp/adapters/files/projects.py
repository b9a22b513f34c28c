"""`ProjectStore` in `<user data>/projects.json`."""

from collections.abc import Callable, Mapping, Sequence

from iai_mcp.adapters.files import json_text
from iai_mcp.adapters.files.user_document import UserDocument, put, without
from iai_mcp.domain.errors import NotFound
from iai_mcp.domain.projects import Project, ProjectPath, RemoteRef
from iai_mcp.ports.file_system import FilesBelow


class FileProjectStore:
    def __init__(self, files: FilesBelow, user_data: Callable[[], str]) -> None:
        self._document = UserDocument(files, user_data, "projects.json")

    def list(self) -> Sequence[Project]:
        return self._document.entries("projects", _project)

    def save(self, project: Project) -> None:
        self.list()
        self._document.change(
            lambda old: {
                **old,
                "projects": put(
                    json_text.objects_field(old, "projects", ""), project_json(project)
                ),
            }
        )

    def delete(self, project_id: str) -> None:
        def edit(old: dict[str, object]) -> Mapping[str, object]:
            left = without(json_text.objects_field(old, "projects", ""), project_id)
            if left is None:
                raise NotFound(
                    f"there is no project '{project_id}': 'iai-mcp project list' shows them"
                )
            return {**old, "projects": left}

        self._document.change(edit)

    def trust(self, path: ProjectPath) -> bool | None:
        kept = self._document.read().get("trust")
        answer = kept.get(path.text) if isinstance(kept, dict) else None
        return answer if isinstance(answer, bool) else None

    def remember_trust(self, path: ProjectPath, trusted: bool) -> None:
        def edit(old: dict[str, object]) -> Mapping[str, object]:
            kept = old.get("trust")
            return {
                **old,
                "trust": {**(kept if isinstance(kept, dict) else {}), path.text: trusted},
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


def project_json(project: Project) -> dict[str, object]:
    return {
        "id": project.id,
        "name": project.name,
        "path": project.path.text,
        "remote": str(project.remote),
        "created_at": project.created_at,
    }
