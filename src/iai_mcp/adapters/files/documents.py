"""`TemplateStore` and `SkillStore` as Markdown files: the project's own first, then the person's.

<project>/.ideai/templates/reviewer.md             the text people edit
<project>/.ideai/templates/.versions/reviewer/1.md what version 1 said
<user data>/templates/…                            the same, for every project
<project>/.ideai/skills/testing.md, <user data>/skills/…
"""

from collections.abc import Callable, Sequence

from iai_mcp.domain.composing import Skill
from iai_mcp.domain.errors import InvalidInput, NotFound
from iai_mcp.domain.launching import bare_file_name
from iai_mcp.domain.projects import ProjectPath
from iai_mcp.domain.templates import Template
from iai_mcp.ports.file_system import FileSystem

PROJECT = "project"
USER = "user"


class _Shelf:
    """Markdown files of one kind in two directories."""

    def __init__(self, files: FileSystem, user_data: Callable[[], str], kind: str) -> None:
        self.files = files
        self._user_data = user_data
        self._kind = kind

    def directory(self, project: ProjectPath, where: str) -> str:
        base = project.data if where == PROJECT else self._user_data()
        return f"{base}/{self._kind}"

    def names(self, project: ProjectPath) -> list[str]:
        found: set[str] = set()
        for where in (PROJECT, USER):
            names = self.files.list(self.directory(project, where))
            found |= {n.removesuffix(".md") for n in names if n.endswith(".md") and n[0] != "."}
        return sorted(found)

    def where(self, project: ProjectPath, name: str) -> str:
        bare_file_name(name)
        for where in (PROJECT, USER):
            if self.files.exists(f"{self.directory(project, where)}/{name}.md"):
                return where
        known = ", ".join(self.names(project)) or "there are none yet"
        raise NotFound(f"there is no {self._kind.removesuffix('s')} '{name}' ({known})")

    def read(self, path: str) -> str:
        try:
            return self.files.read(path).decode()
        except UnicodeDecodeError as error:
            raise InvalidInput(f"{path} is not UTF-8; save it as UTF-8") from error

    def write(self, project: ProjectPath, where: str, relative: str, text: str) -> None:
        path = f"{self.directory(project, where)}/{relative}"
        private = where == USER
        if private:
            self.files.create_dir_all(self._user_data())
        self.files.create_dir_all(path.rpartition("/")[0], private=private)
        self.files.write(path, text.encode(), private=private)


def _versions(files: FileSystem, directory: str) -> list[int]:
    stems = (name.removesuffix(".md") for name in files.list(directory))
    return sorted(int(stem) for stem in stems if stem.isdecimal() and int(stem) > 0)


class FileTemplateStore:
    def __init__(self, files: FileSystem, user_data: Callable[[], str]) -> None:
        self._shelf = _Shelf(files, user_data, "templates")

    def list(self, project: ProjectPath) -> Sequence[Template]:
        return [self.current(project, name) for name in self._shelf.names(project)]

    def current(self, project: ProjectPath, template_id: str) -> Template:
        where = self._shelf.where(project, template_id)
        directory = self._shelf.directory(project, where)
        text = self._shelf.read(f"{directory}/{template_id}.md")
        versions = _versions(self._shelf.files, f"{directory}/.versions/{template_id}")
        if not versions:
            return Template(template_id, 1, text, where)
        latest = versions[-1]
        same = self._shelf.read(f"{directory}/.versions/{template_id}/{latest}.md") == text
        return Template(template_id, latest if same else latest + 1, text, where)

    def record(self, project: ProjectPath, template: Template) -> None:
        relative = f".versions/{template.id}/{template.version}.md"
        path = f"{self._shelf.directory(project, template.where)}/{relative}"
        if not self._shelf.files.exists(path):
            self._shelf.write(project, template.where, relative, template.text)

    def version_text(self, project: ProjectPath, template_id: str, version: int) -> str | None:
        bare_file_name(template_id)
        for where in (PROJECT, USER):
            directory = self._shelf.directory(project, where)
            try:
                return self._shelf.read(f"{directory}/.versions/{template_id}/{version}.md")
            except NotFound:
                continue
        return None

    def save(self, project: ProjectPath, template_id: str, text: str, *, where: str) -> Template:
        bare_file_name(template_id)
        self._shelf.write(project, where, f"{template_id}.md", text)
        template = self.current(project, template_id)
        self.record(project, template)
        return template

    def delete(self, project: ProjectPath, template_id: str) -> None:
        where = self._shelf.where(project, template_id)
        # Its versions stay: agents made from it can still be told apart from hand edits.
        self._shelf.files.remove(f"{self._shelf.directory(project, where)}/{template_id}.md")


class FileSkillStore:
    def __init__(self, files: FileSystem, user_data: Callable[[], str]) -> None:
        self._shelf = _Shelf(files, user_data, "skills")

    def list(self, project: ProjectPath) -> Sequence[Skill]:
        return [self.get(project, name) for name in self._shelf.names(project)]

    def get(self, project: ProjectPath, name: str) -> Skill:
        where = self._shelf.where(project, name)
        return Skill(name, self._shelf.read(f"{self._shelf.directory(project, where)}/{name}.md"))

    def save(self, project: ProjectPath, skill: Skill, *, where: str) -> None:
        bare_file_name(skill.name)
        self._shelf.write(project, where, f"{skill.name}.md", skill.text)

    def delete(self, project: ProjectPath, name: str) -> None:
        where = self._shelf.where(project, name)
        self._shelf.files.remove(f"{self._shelf.directory(project, where)}/{name}.md")
