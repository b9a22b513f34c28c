"""`TemplateStore` and `SkillStore` as Markdown files: the project's own first, then the person's.

<project>/.ideai/templates/reviewer.md             the text people edit
<project>/.ideai/templates/.versions/reviewer/1.md what version 1 said
<user data>/templates/…                            the same, for every project
<project>/.ideai/skills/testing.md, <user data>/skills/…
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from iai_mcp.domain.agents.context_document import Skill
from iai_mcp.domain.agents.templates import Template
from iai_mcp.domain.errors import InvalidInput, NotFound
from iai_mcp.domain.foreign_text import bare_file_name, is_bare_file_name, quoted
from iai_mcp.domain.projects.project import PROJECT_DATA, ProjectPath
from iai_mcp.ports.file_system import FilesBelow, FileSystem

PROJECT = "project"
USER = "user"

_VERSION = re.compile(r"[1-9][0-9]{0,8}\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class _Place:
    """One directory of Markdown files: `folder` below the root of `files`."""

    files: FileSystem
    folder: str
    private: bool
    shown: str

    def names(self, below: str = "") -> list[str]:
        """The names without `.md`; what could not be named to us is none of ours."""
        found = self.files.list(self.folder + below)
        ours = (n for n in found if n.endswith(".md") and n[0] != "." and is_bare_file_name(n))
        return [name.removesuffix(".md") for name in ours]

    def has(self, path: str) -> bool:
        return self.files.exists(f"{self.folder}/{path}.md")

    def read(self, path: str) -> str:
        try:
            return self.files.read(f"{self.folder}/{path}.md").decode()
        except UnicodeDecodeError as error:
            raise InvalidInput(f"{self.shown}/{path}.md is not UTF-8; save it as UTF-8") from error

    def write(self, path: str, text: str) -> None:
        if self.private:
            self.files.create_dir_all("")
        file = f"{self.folder}/{path}.md"
        self.files.create_dir_all(file.rpartition("/")[0], private=self.private)
        self.files.write(file, text.encode(), private=self.private)

    def remove(self, name: str) -> None:
        self.files.remove(f"{self.folder}/{name}.md")


class _Shelf:
    """Markdown files of one kind in two places."""

    def __init__(
        self, files: FilesBelow, own: FilesBelow, user_data: Callable[[], str], kind: str
    ) -> None:
        self._files = files
        self._own = own
        self._user_data = user_data
        self._kind = kind

    def place(self, project: ProjectPath, where: str) -> _Place:
        if where == USER:
            root = self._user_data()
            return _Place(self._own(root), self._kind, True, f"{root}/{self._kind}")
        folder = f"{PROJECT_DATA}/{self._kind}"
        return _Place(self._files(project.text), folder, False, f"{project}/{folder}")

    def names(self, project: ProjectPath) -> list[str]:
        return sorted({n for where in (PROJECT, USER) for n in self.place(project, where).names()})

    def places(self, project: ProjectPath, name: str) -> list[str]:
        bare_file_name(name)
        return [where for where in (PROJECT, USER) if self.place(project, where).has(name)]

    def where(self, project: ProjectPath, name: str) -> str:
        if places := self.places(project, name):
            return places[0]
        known = ", ".join(self.names(project)) or "there are none yet"
        raise NotFound(f"there is no {self._kind.removesuffix('s')} {quoted(name)} ({known})")


class FileTemplateStore:
    def __init__(self, files: FilesBelow, own: FilesBelow, user_data: Callable[[], str]) -> None:
        self._shelf = _Shelf(files, own, user_data, "templates")

    def list(self, project: ProjectPath) -> Sequence[Template]:
        return [self.current(project, name) for name in self._shelf.names(project)]

    def current(self, project: ProjectPath, template_id: str) -> Template:
        where = self._shelf.where(project, template_id)
        place = self._shelf.place(project, where)
        text = place.read(template_id)
        kept = place.names(f"/.versions/{template_id}")
        latest = max((int(stem) for stem in kept if _VERSION.match(stem)), default=0)
        same = latest > 0 and place.read(f".versions/{template_id}/{latest}") == text
        return Template(template_id, latest if same else latest + 1, text, where)

    def record(self, project: ProjectPath, template: Template) -> None:
        place = self._shelf.place(project, template.where)
        version = f".versions/{template.id}/{template.version}"
        if not place.has(version):
            place.write(version, template.text)

    def version_text(self, project: ProjectPath, template_id: str, version: int) -> str | None:
        bare_file_name(template_id)
        for where in (PROJECT, USER):
            try:
                return self._shelf.place(project, where).read(f".versions/{template_id}/{version}")
            except NotFound:
                continue
        return None

    def save(self, project: ProjectPath, template_id: str, text: str, *, where: str) -> Template:
        bare_file_name(template_id)
        self._shelf.place(project, where).write(template_id, text)
        template = self.current(project, template_id)
        self.record(project, template)
        return template

    def delete(self, project: ProjectPath, template_id: str) -> None:
        where = self._shelf.where(project, template_id)
        # Its versions stay: agents made from it can still be told apart from hand edits.
        self._shelf.place(project, where).remove(template_id)


class FileSkillStore:
    def __init__(self, files: FilesBelow, own: FilesBelow, user_data: Callable[[], str]) -> None:
        self._shelf = _Shelf(files, own, user_data, "skills")

    def list(self, project: ProjectPath) -> Sequence[Skill]:
        return [self.get(project, name) for name in self._shelf.names(project)]

    def get(self, project: ProjectPath, name: str) -> Skill:
        where = self._shelf.where(project, name)
        return Skill(name, self._shelf.place(project, where).read(name))

    def places(self, project: ProjectPath, name: str) -> Sequence[str]:
        return self._shelf.places(project, name)

    def save(self, project: ProjectPath, skill: Skill, *, where: str) -> None:
        bare_file_name(skill.name)
        self._shelf.place(project, where).write(skill.name, skill.text)

    def delete(self, project: ProjectPath, name: str) -> None:
        where = self._shelf.where(project, name)
        self._shelf.place(project, where).remove(name)
