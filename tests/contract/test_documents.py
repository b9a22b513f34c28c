"""What every `TemplateStore` and `SkillStore` promises."""

from pathlib import Path

import pytest
from tests.fakes.documents import FakeSkillStore, FakeTemplateStore

from iai_mcp.adapters.files.documents import FileSkillStore, FileTemplateStore
from iai_mcp.adapters.files.local import LocalFileSystem
from iai_mcp.domain.agents.context_document import Skill
from iai_mcp.domain.errors import NotFound
from iai_mcp.domain.projects.project import ProjectPath
from iai_mcp.ports.agent_stores import SkillStore, TemplateStore


@pytest.fixture
def project(tmp_path: Path) -> ProjectPath:
    (tmp_path / "project").mkdir()
    return ProjectPath(str(tmp_path / "project"))


@pytest.fixture(params=["fake", "files"])
def templates(request: pytest.FixtureRequest, tmp_path: Path) -> TemplateStore:
    if request.param == "fake":
        return FakeTemplateStore()
    return FileTemplateStore(LocalFileSystem, LocalFileSystem, lambda: str(tmp_path / "data"))


@pytest.fixture(params=["fake", "files"])
def skills(request: pytest.FixtureRequest, tmp_path: Path) -> SkillStore:
    if request.param == "fake":
        return FakeSkillStore()
    return FileSkillStore(LocalFileSystem, LocalFileSystem, lambda: str(tmp_path / "data"))


def test_a_new_template_has_version_one(templates: TemplateStore, project: ProjectPath) -> None:
    saved = templates.save(project, "reviewer", "Be kind.\n", where="user")

    assert (saved.version, saved.where) == (1, "user")
    assert templates.current(project, "reviewer") == saved


def test_the_same_text_is_the_same_version_and_another_one_the_next(
    templates: TemplateStore, project: ProjectPath
) -> None:
    templates.save(project, "reviewer", "one", where="project")
    again = templates.save(project, "reviewer", "one", where="project")
    changed = templates.save(project, "reviewer", "two", where="project")

    assert (again.version, changed.version) == (1, 2)
    assert templates.version_text(project, "reviewer", 1) == "one"
    assert templates.version_text(project, "reviewer", 2) == "two"
    assert templates.version_text(project, "reviewer", 3) is None


def test_the_project_s_template_counts_before_the_person_s(
    templates: TemplateStore, project: ProjectPath
) -> None:
    templates.save(project, "reviewer", "mine", where="user")
    templates.save(project, "reviewer", "ours", where="project")

    assert templates.current(project, "reviewer").text == "ours"
    assert [t.id for t in templates.list(project)] == ["reviewer"]


def test_a_deleted_template_is_gone_and_its_versions_stay(
    templates: TemplateStore, project: ProjectPath
) -> None:
    templates.save(project, "reviewer", "one", where="project")
    templates.delete(project, "reviewer")

    with pytest.raises(NotFound):
        templates.current(project, "reviewer")
    assert templates.version_text(project, "reviewer", 1) == "one"


def test_a_skill_of_the_project_counts_before_the_person_s(
    skills: SkillStore, project: ProjectPath
) -> None:
    skills.save(project, Skill("testing", "mine"), where="user")
    skills.save(project, Skill("testing", "ours"), where="project")
    skills.save(project, Skill("git", "rebase"), where="user")

    assert list(skills.list(project)) == [Skill("git", "rebase"), Skill("testing", "ours")]
    assert list(skills.places(project, "testing")) == ["project", "user"]
    assert list(skills.places(project, "git")) == ["user"]
    assert list(skills.places(project, "none")) == []


def test_a_deleted_skill_is_gone(skills: SkillStore, project: ProjectPath) -> None:
    skills.save(project, Skill("testing", "x"), where="project")
    skills.delete(project, "testing")

    with pytest.raises(NotFound):
        skills.get(project, "testing")
