"""A repository runs nothing: nested repositories, includes, linked worktrees, merge options."""

import re
from pathlib import Path

import pytest
from tests.integration.agents.conftest import Machine
from tests.integration.agents.test_worktrees import commit, git, hired, repo

__all__ = ["repo"]

FILTER = "* filter=canary\n"
QUIET = ("-c", "core.hooksPath=/dev/null")


class Canary:
    """A program that notes each run. Git would start it from the configuration it is planted in."""

    def __init__(self, machine: Machine) -> None:
        self.notes = machine.root / "canary-ran"
        script = f'#!/bin/sh\necho "$0 $*" >> {self.notes}\ncat\nexit 0\n'
        self.program = machine.program("canary", script)

    def plant(self, config: Path) -> None:
        """Add every setting that makes git run a program to a configuration file."""
        with config.open("a") as file:
            file.write(
                f"[core]\n\tfsmonitor = {self.program}\n\tsshCommand = {self.program}\n"
                f"\thooksPath = {config.parent}/planted-hooks\n\tpager = {self.program}\n"
                f'[filter "canary"]\n\tclean = {self.program}\n\tsmudge = {self.program}\n'
                f'[diff "canary"]\n\tcommand = {self.program}\n\ttextconv = {self.program}\n'
                f"[diff]\n\texternal = {self.program}\n\tsubmodule = diff\n"
                f"[status]\n\tsubmoduleSummary = true\n[credential]\n\thelper = !{self.program}\n"
                f"[alias]\n\tstatus = !{self.program}\n\tdiff = !{self.program}\n"
            )

    @property
    def runs(self) -> str:
        return self.notes.read_text() if self.notes.exists() else ""


@pytest.fixture
def canary(machine: Machine) -> Canary:
    return Canary(machine)


def nested(parent: Path, name: str = "nested") -> Path:
    """A populated gitlink: a repository of its own that the parent has committed as one entry."""
    place = parent / name
    place.mkdir()
    git(place, "init", "-q")
    (place / "x").write_text("x\n")
    git(place, "add", "x")
    git(place, "commit", "-q", "-m", "x")
    git(parent, *QUIET, "add", name)
    git(parent, *QUIET, "commit", "-q", "-m", f"add {name}")
    return place


def armed(place: Path, canary: Canary, *, included: bool = False) -> None:
    """Give a nested repository programs to run, and changes that make git look."""
    if included:
        planted = place / ".git" / "more"
        canary.plant(planted)
        with (place / ".git" / "config").open("a") as file:
            file.write("[include]\n\tpath = more\n")
    else:
        canary.plant(place / ".git" / "config")
    (place / ".git" / "info").mkdir(exist_ok=True)
    (place / ".git" / "info" / "attributes").write_text("* filter=canary diff=canary\n")
    (place / "x").write_text("y\n")
    (place / "z").write_text("z\n")


def use_every_command(machine: Machine, name: str) -> None:
    machine.json("agent", "list")
    machine.json("agent", "diff", name)
    machine.json("agent", "merge", name)
    machine.json("agent", "prune")
    machine.json("agent", "delete", name, "--force")


@pytest.mark.parametrize("included", [False, True])
def test_a_nested_repository_in_an_agents_worktree_runs_nothing(
    machine: Machine, repo: Path, canary: Canary, included: bool
) -> None:
    ada = hired(machine, "Ada")
    inner = nested(ada)
    deeper = nested(inner, "deeper")
    commit(ada, "a.txt", "ONE\ntwo\nthree\n")
    armed(inner, canary, included=included)
    armed(deeper, canary, included=included)

    shown = machine.json("agent", "diff", "ada")
    assert "+ONE" in str(shown["diff"])
    machine.json("agent", "merge", "ada")
    # The gitlink is merged: the nested repository of the target checkout is armed, too.
    ben = hired(machine, "Ben")
    commit(ben, "a.txt", "TWO\n")
    machine.json("agent", "merge", "ben")
    use_every_command(machine, "ada")
    assert canary.runs == ""


def test_a_nested_repository_in_the_target_of_a_merge_runs_nothing(
    machine: Machine, repo: Path, canary: Canary
) -> None:
    inner = nested(repo)
    ada = hired(machine, "Ada")
    commit(ada, "a.txt", "ONE\n")
    commit(repo, "b.txt", "b\n")
    armed(inner, canary)

    use_every_command(machine, "ada")

    assert canary.runs == ""
    assert (repo / "a.txt").read_text() == "ONE\n"


def test_a_changed_gitlink_is_merged_and_the_nested_repositories_stay_as_they_were(
    machine: Machine, repo: Path, canary: Canary
) -> None:
    inner = nested(repo)
    ada = hired(machine, "Ada")
    git(ada, "clone", "-q", str(inner), "nested")
    there = ada / "nested"
    commit(there, "x", "changed\n")
    git(ada, *QUIET, "commit", "-q", "-a", "-m", "move the gitlink")
    for place in (inner, there):
        armed(place, canary)

    shown = machine.json("agent", "diff", "ada")
    assert "Subproject commit" in str(shown["diff"])
    machine.json("agent", "merge", "ada")

    assert canary.runs == ""
    assert (inner / "x").read_text() == "y\n"


def test_a_worktree_with_a_nested_repository_is_deleted_only_by_force(
    machine: Machine, repo: Path, canary: Canary
) -> None:
    """Nobody looks into it, so nobody knows whether its work is anywhere else."""
    ada = hired(machine, "Ada")
    inner = nested(ada)
    machine.json("agent", "merge", "ada")
    armed(inner, canary)

    assert "nested" in machine.error("agent", "delete", "ada")["message"]
    assert inner.exists()
    machine.json("agent", "delete", "ada", "--force")
    assert not inner.exists()
    assert canary.runs == ""


def test_a_project_that_is_a_linked_worktree_runs_nothing(
    machine: Machine, repo: Path, canary: Canary
) -> None:
    beside = machine.root / "beside"
    git(repo, "worktree", "add", "-q", str(beside))
    words = ("agent", "create", "Ada", "--profile", "shell", "--worktree")
    machine.json(*words, "--project", str(beside))
    ada = beside / ".ideai" / "worktrees" / "ada"
    inner = nested(ada)
    armed(inner, canary)

    for action in ("diff", "merge"):
        machine.json("agent", action, "ada", "--project", str(beside))
    machine.json("agent", "delete", "ada", "--force", "--project", str(beside))

    assert canary.runs == ""


@pytest.mark.parametrize("where", ["include", "includeif", "config.worktree"])
def test_a_filter_that_is_included_is_refused(
    machine: Machine, repo: Path, canary: Canary, where: str
) -> None:
    (repo / ".gitattributes").write_text(FILTER)
    git(repo, "add", ".gitattributes")
    git(repo, "commit", "-q", "-m", "attributes")
    ada = hired(machine, "Ada")
    commit(ada, "a.txt", "ONE\n")
    planted = machine.root / "planted"
    planted.write_text(
        f'[filter "canary"]\n\tclean = {canary.program}\n\tsmudge = {canary.program}\n'
    )
    config = repo / ".git" / "config"
    if where == "include":
        git(repo, "config", "include.path", str(planted))
    elif where == "includeif":
        # Holds in worktrees that are not there yet, and nowhere else.
        with config.open("a") as file:
            file.write(f'[includeIf "gitdir:**/worktrees/ben"]\n\tpath = {planted}\n')
    else:
        git(repo, "config", "extensions.worktreeConfig", "true")
        (repo / ".git" / "worktrees" / "ada" / "config.worktree").write_text(planted.read_text())

    machine.run("agent", "create", "Ben", "--profile", "shell", "--worktree", "--json")
    for action in ("diff", "merge", "delete"):
        machine.run("agent", action, "ada", "--json")

    assert canary.runs == ""


def test_a_filter_of_the_checkout_that_is_merged_into_is_refused(
    machine: Machine, repo: Path, canary: Canary
) -> None:
    """The target may be checked out in another worktree, with a configuration of its own."""
    (repo / ".gitattributes").write_text(FILTER)
    git(repo, "add", ".gitattributes")
    git(repo, "commit", "-q", "-m", "attributes")
    git(repo, "worktree", "add", "-q", "-b", "next", str(machine.root / "next"))
    ada = hired(machine, "Ada")
    commit(ada, "a.txt", "ONE\n")
    git(repo, "config", "extensions.worktreeConfig", "true")
    canary.plant(repo / ".git" / "worktrees" / "next" / "config.worktree")

    refused = machine.error("agent", "merge", "ada", "--into", "next")

    assert "filter.canary" in refused["message"]
    assert canary.runs == ""


@pytest.mark.parametrize(
    "settings",
    [
        ("branch.main.mergeOptions=--gpg-sign=x", "gpg.program={canary}"),
        ("branch.main.mergeOptions=--gpg-sign=x", "gpg.format=ssh", "gpg.ssh.program={canary}"),
        ("branch.main.mergeOptions=--verify-signatures", "gpg.program={canary}"),
        ("branch.main.mergeOptions=-s canary",),
        ("pull.twohead=canary",),
        ("core.alternateRefsCommand={canary}",),
        ("core.gitProxy={canary}", "core.askPass={canary}", "sequence.editor={canary}"),
        (
            "extensions.partialClone=origin",
            "remote.origin.promisor=true",
            "remote.origin.url=ext::{canary}",
        ),
        (
            "extensions.partialClone=origin",
            "remote.origin.promisor=true",
            "remote.origin.vcs=canary",
        ),
        ("trace2.eventTarget={canary}", "core.editor={canary}", "interactive.diffFilter={canary}"),
        ("branch.main.mergeOptions=--squash", "merge.autoStash=true", "merge.ff=only"),
    ],
)
def test_no_setting_of_the_repository_runs_a_program_or_changes_a_merge(
    machine: Machine, repo: Path, canary: Canary, settings: tuple[str, ...]
) -> None:
    for name in ("git-merge-canary", "git-remote-canary"):
        machine.program(name, canary.program.read_text())
    ada = hired(machine, "Ada")
    commit(ada, "a.txt", "ONE\n")
    commit(repo, "b.txt", "b\n")
    for setting in settings:
        key, _, value = setting.partition("=")
        git(repo, "config", "--local", key, value.format(canary=canary.program))

    use_every_command(machine, "ada")

    assert canary.runs == ""
    assert (repo / "a.txt").read_text() == "ONE\n"
    assert len(git(repo, "rev-list", "--parents", "-1", "HEAD").split()) == 3


@pytest.mark.parametrize(
    "key",
    [
        "lfs.customtransfer.canary.path",
        "lfs.standalonetransferagent",
        "lfs.https://example.org/x.standalonetransferagent",
        "lfs.extension.canary.clean",
        "FILTER.Canary.CLEAN",
    ],
)
def test_a_setting_with_which_a_persons_own_filter_would_run_a_program_is_refused(
    machine: Machine, repo: Path, canary: Canary, key: str
) -> None:
    hired(machine, "Ada")
    git(repo, "config", "--local", key, str(canary.program))

    assert key.lower()[:4] in machine.error("agent", "diff", "ada")["message"]


def test_a_worktree_whose_git_file_is_exchanged_is_not_followed(
    machine: Machine, repo: Path, canary: Canary
) -> None:
    """The file lies where the agent writes. It is not read once the repository is known."""
    ada = hired(machine, "Ada")
    evil = ada / "evil"
    evil.mkdir()
    git(evil, "init", "-q")
    canary.plant(evil / ".git" / "config")
    (evil / ".git" / "commondir").write_text(f"{repo / '.git'}\n")
    (ada / ".git").write_text(f"gitdir: {evil / '.git'}\n")
    (ada / ".gitattributes").write_text(FILTER)

    machine.run("agent", "diff", "ada", "--json")
    machine.run("agent", "merge", "ada", "--json")

    assert canary.runs == ""


def test_one_module_alone_starts_git() -> None:
    sources = Path(__file__).parents[3] / "src" / "iai_mcp"
    starts = re.compile(r"""[\["']git["']\s*,""")
    found = {
        path.name
        for path in sources.rglob("*.py")
        if "subprocess" in (text := path.read_text()) and starts.search(text)
    }
    assert found <= {"git.py"}
