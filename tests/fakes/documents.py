"""Templates and skills in memory."""

from collections.abc import Sequence

from iai_mcp.domain.agents.context_document import Skill
from iai_mcp.domain.agents.templates import Template
from iai_mcp.domain.errors import NotFound
from iai_mcp.domain.projects.project import ProjectPath


class _Shelf:
    """Texts by place and name; the project's own come first."""

    def __init__(self) -> None:
        self.texts: dict[tuple[str, str], str] = {}

    def place(self, project: ProjectPath, where: str) -> str:
        return project.text if where == "project" else "user"

    def names(self, project: ProjectPath) -> list[str]:
        return sorted({name for place, name in self.texts if place in (project.text, "user")})

    def find(self, project: ProjectPath, name: str) -> tuple[str, str]:
        for where in ("project", "user"):
            text = self.texts.get((self.place(project, where), name))
            if text is not None:
                return where, text
        raise NotFound(f"there is no '{name}'")


class FakeTemplateStore:
    def __init__(self) -> None:
        self._shelf = _Shelf()
        self._versions: dict[tuple[str, str], dict[int, str]] = {}

    def list(self, project: ProjectPath) -> Sequence[Template]:
        return [self.current(project, name) for name in self._shelf.names(project)]

    def current(self, project: ProjectPath, template_id: str) -> Template:
        where, text = self._shelf.find(project, template_id)
        kept = self._versions.get((self._shelf.place(project, where), template_id), {})
        latest = max(kept, default=0)
        same = latest > 0 and kept[latest] == text
        return Template(template_id, latest if same else latest + 1, text, where)

    def record(self, project: ProjectPath, template: Template) -> None:
        key = (self._shelf.place(project, template.where), template.id)
        self._versions.setdefault(key, {}).setdefault(template.version, template.text)

    def version_text(self, project: ProjectPath, template_id: str, version: int) -> str | None:
        for where in ("project", "user"):
            kept = self._versions.get((self._shelf.place(project, where), template_id), {})
            if version in kept:
                return kept[version]
        return None

    def save(self, project: ProjectPath, template_id: str, text: str, *, where: str) -> Template:
        self._shelf.texts[self._shelf.place(project, where), template_id] = text
        template = self.current(project, template_id)
        self.record(project, template)
        return template

    def edit_by_hand(self, project: ProjectPath, template_id: str, text: str) -> None:
        where, _ = self._shelf.find(project, template_id)
        self._shelf.texts[self._shelf.place(project, where), template_id] = text

    def forget_versions(self) -> None:
        self._versions.clear()

    def delete(self, project: ProjectPath, template_id: str) -> None:
        where, _ = self._shelf.find(project, template_id)
        del self._shelf.texts[self._shelf.place(project, where), template_id]


class FakeSkillStore:
    def __init__(self) -> None:
        self._shelf = _Shelf()

    def list(self, project: ProjectPath) -> Sequence[Skill]:
        return [self.get(project, name) for name in self._shelf.names(project)]

    def get(self, project: ProjectPath, name: str) -> Skill:
        return Skill(name, self._shelf.find(project, name)[1])

    def places(self, project: ProjectPath, name: str) -> Sequence[str]:
        both = ("project", "user")
        return [w for w in both if (self._shelf.place(project, w), name) in self._shelf.texts]

    def save(self, project: ProjectPath, skill: Skill, *, where: str) -> None:
        self._shelf.texts[self._shelf.place(project, where), skill.name] = skill.text

    def delete(self, project: ProjectPath, name: str) -> None:
        where, _ = self._shelf.find(project, name)
        del self._shelf.texts[self._shelf.place(project, where), name]
