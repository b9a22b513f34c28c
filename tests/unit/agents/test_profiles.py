"""Choosing among profiles, and knowing which project is meant."""

from dataclasses import replace

import pytest
from tests.fakes.clock import FakeClock
from tests.fakes.file_system import FakeDisk
from tests.fakes.ids import FakeIds
from tests.fakes.projects import FakeProjectStore
from tests.unit.agents.workbench import BY_FILE, Workbench

from iai_mcp.agents.profiles import NewProfile
from iai_mcp.agents.projects import ProjectList, nearest_project
from iai_mcp.domain.agents.profile import ConventionFile, Stdin
from iai_mcp.domain.errors import AlreadyExists, InvalidInput, NotFound
from iai_mcp.domain.projects.project import ProjectPath


@pytest.fixture
def bench() -> Workbench:
    return Workbench()


def test_a_profile_of_one_s_own_is_listed_after_the_built_in_ones(bench: Workbench) -> None:
    added = bench.profiles.add(NewProfile("My Tool!", "tool", ConventionFile("T.md"), ("-x",)))

    assert added.id == "my-tool"
    assert list(bench.profiles.all())[-1] == added
    assert bench.profiles.named("my tool!") == added


def test_a_name_that_is_taken_is_refused(bench: Workbench) -> None:
    bench.profiles.add(NewProfile("Mine", "tool", Stdin()))
    for name in ("Mine", "By file"):
        with pytest.raises(AlreadyExists, match="profile edit"):
            bench.profiles.add(NewProfile(name, "tool", Stdin()))


def test_a_changed_built_in_profile_takes_its_place_until_removed(bench: Workbench) -> None:
    bench.profiles.edit(replace(BY_FILE, args=("--search",)))
    assert bench.profiles.named("by-file").args == ("--search",)
    assert len(bench.profiles.all()) == len(bench.profiles.builtin)

    bench.profiles.remove("by-file")
    assert bench.profiles.named("by-file") == BY_FILE


def test_a_built_in_profile_can_not_be_removed(bench: Workbench) -> None:
    with pytest.raises(InvalidInput, match="built in"):
        bench.profiles.remove("by-file")


def test_an_unknown_profile_is_not_found(bench: Workbench) -> None:
    with pytest.raises(NotFound, match="profile list"):
        bench.profiles.named("ghost")
    with pytest.raises(NotFound):
        bench.profiles.remove("ghost")


def test_without_a_default_one_has_to_say_which_profile(bench: Workbench) -> None:
    with pytest.raises(InvalidInput, match="--profile"):
        bench.profiles.default()
    bench.profile_store.mark_configured("by-flag")

    assert bench.profiles.default().id == "by-flag"


def test_detecting_asks_every_profile(bench: Workbench) -> None:
    found = bench.profiles.detect()

    assert [d.profile_id for d in found] == [p.id for p in bench.profiles.all()]


@pytest.mark.parametrize(
    ("markers", "root"),
    [
        (["/w/p/.ideai", "/w/p/a/.git"], "/w/p"),
        (["/w/.git", "/w/p/.git"], "/w/p"),
        (["/w/.ideai", "/w/p/.ideai"], "/w/p"),
        ([], "/w/p/a/b"),
    ],
)
def test_the_nearest_project_wins_and_its_own_mark_beats_git(markers: list[str], root: str) -> None:
    files = FakeDisk()
    for marker in markers:
        files.make(marker)

    assert nearest_project(files, ProjectPath("/w/p/a/b")).text == root


def test_a_project_is_added_once_and_removed_by_name_path_or_id() -> None:
    projects = ProjectList(FakeProjectStore(), FakeIds(), FakeClock())
    first = projects.add(ProjectPath("/w/shop"))
    assert projects.add(ProjectPath("/w/shop")) == first
    assert projects.add(ProjectPath("/w/shop"), "Shop").id == first.id
    projects.add(ProjectPath("/w/other"), "Shop")

    with pytest.raises(InvalidInput, match="by its path"):
        projects.remove("Shop")
    projects.remove("/w/shop")
    projects.remove("Shop")
    assert list(projects.list()) == []
    with pytest.raises(NotFound):
        projects.remove("Shop")
