"""Project identity on real git repositories: every way into a project leads to the same one."""

import json
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.git import git, repository
from tests.support.hostile_places import PRETENDING

from iai_mcp import project_aliases
from iai_mcp.domain.errors import InvalidInput, NotFound
from iai_mcp.project import from_argument, project_of


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("IAI_MCP_STORE", raising=False)
    return tmp_path / "home"


@pytest.fixture
def room(tmp_path: Path) -> Path:
    """A scratch directory by its real path (it is a symbolic link on macOS)."""
    return tmp_path.resolve()


def key(path: Path) -> str:
    return project_of(str(path)).key


def test_a_sub_directory_is_its_checkout(room: Path) -> None:
    shop = repository(room / "shop")
    (shop / "src/api").mkdir(parents=True)
    assert key(shop) == key(shop / "src/api") == str(shop)
    assert project_of(str(shop / "src")).name == "shop"


def test_a_linked_worktree_is_the_main_checkout(room: Path) -> None:
    shop = repository(room / "shop")
    git("worktree", "add", "-q", "../shop-feature", cwd=shop)
    git("worktree", "add", "-q", shop / ".worktrees/inner", cwd=shop)
    (room / "shop-feature/deep").mkdir()
    assert key(room / "shop-feature/deep") == str(shop)
    assert key(shop / ".worktrees/inner") == str(shop)


def test_a_worktree_with_relative_pointers_is_the_main_checkout(room: Path) -> None:
    shop = repository(room / "shop")
    git("worktree", "add", "-q", "../shop-feature", cwd=shop)
    (room / "shop-feature/.git").write_text("gitdir: ../shop/.git/worktrees/shop-feature\n")
    assert key(room / "shop-feature") == str(shop)


def test_a_worktree_whose_main_checkout_is_gone_still_names_it(room: Path) -> None:
    shop = repository(room / "shop")
    git("worktree", "add", "-q", "../shop-feature", cwd=shop)
    shop.rename(room / "elsewhere")
    assert key(room / "shop-feature") == str(shop)


def test_a_submodule_is_a_project_of_its_own(room: Path) -> None:
    library = repository(room / "library")
    shop = repository(room / "shop")
    git("submodule", "add", "-q", library, "vendor/library", cwd=shop)
    inside = shop / "vendor/library"
    assert key(inside) == str(inside)
    git("worktree", "add", "-q", room / "library-feature", cwd=inside)
    assert key(room / "library-feature") == str(inside)
    assert key(shop / ".git/modules/vendor/library") == str(inside)


def test_a_bare_repository_and_its_worktrees_are_one_project(room: Path) -> None:
    repository(room / "seed")
    git("clone", "-q", "--bare", room / "seed", room / "shop.git", cwd=room)
    git("worktree", "add", "-q", room / "shop-main", cwd=room / "shop.git")
    assert key(room / "shop.git") == key(room / "shop-main") == str(room / "shop.git")
    assert key(room / "shop.git/refs/heads") == str(room / "shop.git")
    assert project_of(str(room / "shop-main")).name == "shop"


def test_the_layout_of_worktrees_around_a_hidden_bare_repository_is_one_project(room: Path) -> None:
    repository(room / "seed")
    (room / "shop").mkdir()
    git("clone", "-q", "--bare", room / "seed", room / "shop/.bare", cwd=room)
    (room / "shop/.git").write_text("gitdir: ./.bare\n")
    git("worktree", "add", "-q", "feature", cwd=room / "shop")
    assert key(room / "shop") == key(room / "shop/feature") == str(room / "shop")


def test_a_git_directory_elsewhere_leaves_the_project_where_its_files_are(room: Path) -> None:
    (room / "gits").mkdir()
    git("init", "-q", "--separate-git-dir", room / "gits/shop", room / "shop", cwd=room)
    assert key(room / "shop") == str(room / "shop")


def test_the_inside_of_a_git_directory_is_its_checkout(room: Path) -> None:
    shop = repository(room / "shop")
    git("worktree", "add", "-q", "../shop-feature", cwd=shop)
    assert key(shop / ".git/hooks") == str(shop)
    assert key(shop / ".git/worktrees/shop-feature") == str(shop)


def test_git_variables_of_the_environment_are_ignored(
    room: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop, other = repository(room / "shop"), repository(room / "other")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    assert key(shop) == str(shop)


def test_without_git_the_nearest_ideai_directory_decides(room: Path) -> None:
    (room / "notes/.ideai").mkdir(parents=True)
    (room / "notes/2024/june").mkdir(parents=True)
    assert key(room / "notes/2024/june") == str(room / "notes")


def test_git_decides_before_ideai(room: Path) -> None:
    shop = repository(room / "shop")
    (shop / "api/.ideai").mkdir(parents=True)
    assert key(shop / "api") == str(shop)


def test_without_either_a_directory_is_its_own_project(room: Path) -> None:
    (room / "plain/sub").mkdir(parents=True)
    assert key(room / "plain/sub") == str(room / "plain/sub")


def test_an_agents_run_directory_is_the_agents_project(room: Path) -> None:
    shop = repository(room / "shop")
    run = shop / ".ideai/run/0f8fad5b"
    run.mkdir(parents=True)
    assert key(run) == str(shop)
    nested = repository(run / "clone")
    assert key(nested) == str(shop)
    plain = room / "plain/.ideai/run/0f8fad5b"
    plain.mkdir(parents=True)
    assert key(plain) == str(room / "plain")


def test_a_symbolic_link_is_what_it_points_at(room: Path) -> None:
    shop = repository(room / "shop")
    (room / "link").symlink_to(shop)
    assert key(room / "link") == str(shop)


def test_a_loop_of_links_is_still_some_project(room: Path) -> None:
    (room / "loop").symlink_to(room / "loop")
    assert key(room / "loop") == str(room / "loop")


def test_a_path_that_is_gone_belongs_to_the_checkout_it_was_in(room: Path) -> None:
    shop = repository(room / "shop")
    assert key(shop / "removed/deeper") == str(shop)
    assert key(room / "never/was/../there/") == str(room / "never/there")


def test_a_broken_git_pointer_is_no_project(room: Path) -> None:
    shop = repository(room / "shop")
    (shop / "odd").mkdir()
    (shop / "odd/.git").write_text("this is not a pointer")
    assert key(shop / "odd") == str(shop)


@pytest.mark.parametrize("claim", PRETENDING)
def test_what_a_directory_says_about_belonging_elsewhere_needs_the_others_word(
    room: Path, claim: str
) -> None:
    """Anybody can write a pointer; the other end is written by git, in the repository itself."""
    shop = repository(room / "shop")
    git("worktree", "add", "-q", "../feature", cwd=shop)
    thief = repository(room / "thief") / "inside"
    PRETENDING[claim](thief, shop)
    for place in (thief, thief / "deep", thief / "shop"):
        assert key(place).startswith(str(room / "thief"))
    assert key(room / "feature") == str(shop)


def test_a_copy_of_a_worktree_is_a_checkout_of_its_own(room: Path) -> None:
    shop = repository(room / "shop")
    git("worktree", "add", "-q", "../feature", cwd=shop)
    (room / "copy").mkdir()
    (room / "copy/.git").write_bytes((room / "feature/.git").read_bytes())
    assert key(room / "copy") == str(room / "copy")


def test_worktrees_that_git_knows_by_relative_paths_belong_to_their_repository(room: Path) -> None:
    shop = repository(room / "shop")
    git("worktree", "add", "-q", "../shop-feature", cwd=shop)
    known = shop / ".git/worktrees/shop-feature/gitdir"
    known.write_text("../../../../shop-feature/.git\n")
    assert key(room / "shop-feature") == str(shop)


def test_only_what_somebody_confirms_is_proven(room: Path) -> None:
    shop = repository(room / "shop")
    git("worktree", "add", "-q", "../shop-feature", cwd=shop)
    feature = room / "shop-feature"
    assert project_of(str(feature), proven=True).key == str(shop)
    shop.rename(room / "elsewhere")
    assert key(feature) == str(shop)
    assert project_of(str(feature), proven=True).key == str(feature)


def test_a_relative_path_counts_from_the_base_it_is_given(room: Path) -> None:
    shop = repository(room / "shop")
    assert project_of("./src", base=str(shop)).key == str(shop)
    assert project_of("team/shop").key == "team/shop"


def test_what_people_type_as_a_project_reaches_the_daemon_in_full(home: Path) -> None:
    assert from_argument(".", "/srv/shop") == "/srv/shop"
    assert from_argument("../api", "/srv/shop") == "/srv/api"
    assert from_argument("~/shop", "/work") == str(home / "shop")
    assert from_argument("shop", "/work") == "shop"


def test_a_moved_checkout_can_be_mapped_and_unmapped(room: Path, home: Path) -> None:
    shop = repository(room / "shop")
    old = room / "before/shop"
    assert project_aliases.add(str(old), str(shop / "src")) == (str(old), str(shop))
    assert key(old) == key(old / "src/api") == str(shop)

    kept = Path(project_aliases.file_path())
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700
    assert json.loads(kept.read_text())["aliases"] == {str(old): str(shop)}

    assert project_aliases.remove(str(old)) == str(shop)
    assert key(old) == str(old)
    with pytest.raises(NotFound):
        project_aliases.remove(str(old))


def test_a_name_can_be_mapped_to_a_checkout(room: Path) -> None:
    shop = repository(room / "shop")
    project_aliases.add("the-shop", str(shop))
    assert project_of("the-shop").key == str(shop)


def test_a_mapping_onto_itself_or_in_a_circle_is_refused(room: Path) -> None:
    one, two = repository(room / "one"), repository(room / "two")
    with pytest.raises(InvalidInput):
        project_aliases.add(str(one / "src"), str(one))
    project_aliases.add(str(one), str(two))
    with pytest.raises(InvalidInput):
        project_aliases.add(str(two), str(one))


@pytest.mark.parametrize("text", ["{", "[]", '{"aliases": {"/a": 1}}', '{"version": 1}'])
def test_a_damaged_file_of_mappings_stops_nothing_and_is_not_overwritten(
    room: Path, home: Path, text: str
) -> None:
    kept = Path(project_aliases.file_path())
    kept.parent.mkdir(parents=True)
    kept.write_text(text)
    assert key(room) == str(room)
    assert str(kept) in str(project_aliases.problem())
    with pytest.raises(InvalidInput):
        project_aliases.add("/old", "/new")
    assert kept.read_text() == text


def test_hooks_load_nothing_heavy_to_learn_their_project(room: Path) -> None:
    program = (
        "import sys; from iai_mcp.project import project_of; project_of('/');"
        "heavy = {'re', 'json', 'typing', 'dataclasses', 'pathlib', 'subprocess'};"
        "print(*heavy & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", program],
        env={"PYTHONPATH": str(Path(project_aliases.__file__).parents[1]), "HOME": str(room)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == []
