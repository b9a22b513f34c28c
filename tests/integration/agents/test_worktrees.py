"""`--worktree`: agents that work in checkouts of their own, with real git."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.integration.agents.conftest import Machine
from tests.integration.agents.test_launch import TELLER, session_of, told  # noqa: F401 - a fixture

from iai_mcp.project import project_of

WaitFor = Callable[[Callable[[], bool]], None]


def git(at: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=at, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def repo(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project with one commit, and a person who has a name."""
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Ann")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "ann@example.org")
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", "/dev/null")
    (machine.project / "a.txt").write_text("one\ntwo\nthree\n")
    (machine.project / ".gitignore").write_text(".env\n")
    git(machine.project, "checkout", "-q", "-b", "main")
    git(machine.project, "add", "a.txt", ".gitignore")
    git(machine.project, "commit", "-q", "-m", "first")
    return machine.project


def hired(machine: Machine, name: str, *more: str) -> Path:
    """An agent with a worktree; where that is."""
    words = ("agent", "create", name, "--profile", "claude-code", *more)
    made = machine.json(*words, "--worktree")["agent"]
    assert isinstance(made, dict)
    place = machine.project / ".ideai" / "worktrees" / str(made["slug"])
    assert (made["worktree"], place.is_dir()) == (f"agent/{made['slug']}", True)
    return place


def commit(at: Path, name: str, text: str) -> None:
    (at / name).write_text(text)
    git(at, "add", name)
    git(at, "commit", "-q", "-m", f"change {name}")


def standing(repo: Path) -> tuple[str, ...]:
    """All that a refused merge must leave alone."""
    shown = [git(repo, *w.split()) for w in ("status --porcelain", "branch -v", "worktree list")]
    return (*shown, (repo / "a.txt").read_text(), str((repo / ".git" / "MERGE_HEAD").exists()))


def test_an_agent_works_in_a_checkout_of_its_own_and_the_project_stays_the_same(
    machine: Machine,
    repo: Path,
    told: Path,  # noqa: F811 - the fixture
    wait_for: WaitFor,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine.program("claude", TELLER)
    place = hired(machine, "Ada")
    assert git(place, "branch", "--show-current") == "agent/ada"
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "agents")
    assert git(repo, "ls-files", ".ideai/worktrees") == ""

    launched = machine.json("agent", "launch", "ada", "--detach")
    wait_for(told.exists)
    args = launched["args"]
    assert isinstance(args, list)
    assert args[args.index("--add-dir") + 1] == str(place)
    seen = json.loads(told.read_text())
    assert seen["env"]["IAI_MCP_PROJECT"] == str(repo)
    context = (Path(seen["cwd"]) / "CLAUDE.md").read_text()
    assert f"`{place}`" in context
    assert "agent/ada" in context
    # Memory and commands see one project, wherever one stands.
    assert project_of(str(place)).key == project_of(str(repo)).key
    monkeypatch.chdir(hired(machine, "Ben"))
    assert Path(".ideai/agents.json").exists()
    assert machine.json("agent", "list")["project"] == str(repo)


def test_the_default_is_the_project_itself(machine: Machine, repo: Path) -> None:
    machine.json("agent", "create", "Ada", "--profile", "claude-code")

    args = machine.json("agent", "launch", "ada", "--print-only")["args"]

    assert isinstance(args, list)
    assert args[args.index("--add-dir") + 1] == str(repo)
    assert not (repo / ".ideai" / "worktrees").exists()


def test_a_launch_gives_an_agent_its_worktree_and_makes_it_anew_when_it_is_gone(
    machine: Machine, repo: Path
) -> None:
    machine.program("claude", TELLER)
    machine.json("agent", "create", "Ada", "--profile", "claude-code")
    place = repo / ".ideai" / "worktrees" / "ada"
    preview = machine.json("agent", "launch", "ada", "--worktree", "topic", "--print-only")
    assert (str(place) in json.dumps(preview["args"]), place.exists()) == (True, False)

    def launched(*more: str) -> dict[str, object]:
        result = machine.json("agent", "launch", "ada", "--detach", *more)
        machine.json("session", "kill", str(session_of(result)["id"]))
        return result

    launched("--worktree", "topic")
    assert git(place, "branch", "--show-current") == "topic"
    commit(place, "a.txt", "mine\n")
    git(repo, "worktree", "remove", str(place))
    launched()
    assert (place / "a.txt").read_text() == "mine\n"
    refused = machine.error("agent", "launch", "ada", "--worktree", "elsewhere", "--detach")
    assert "topic" in refused["message"]


def test_a_launch_that_fails_leaves_no_worktree(machine: Machine, repo: Path) -> None:
    machine.program("claude", "no program")
    machine.json("agent", "create", "Ada", "--profile", "claude-code")

    assert machine.error("agent", "launch", "ada", "--detach", "--worktree")["code"] == "PTY"
    assert not (repo / ".ideai" / "worktrees" / "ada").exists()
    assert git(repo, "branch", "--format=%(refname:short)") == "main"
    listed = machine.json("agent", "list")["agents"]
    assert isinstance(listed, list)
    assert listed[0]["worktree"] is None


def test_a_launch_that_fails_does_not_take_back_work_that_was_there_before(
    machine: Machine, repo: Path
) -> None:
    machine.program("claude", "no program")
    ada = hired(machine, "Ada")
    commit(ada, "a.txt", "hers\n")
    git(repo, "worktree", "remove", str(ada))

    assert machine.error("agent", "launch", "ada", "--detach")["code"] == "PTY"
    assert git(repo, "show", "agent/ada:a.txt") == "hers"


def test_two_agents_change_one_file_and_both_are_merged(machine: Machine, repo: Path) -> None:
    ada, ben = hired(machine, "Ada"), hired(machine, "Ben")
    commit(ada, "a.txt", "ONE\ntwo\nthree\n")
    commit(ben, "a.txt", "one\ntwo\nthree\nfour\n")
    (ben / "new.txt").write_text("untracked\n")
    (ben / "a.txt").write_text("one\ntwo\nthree\nfour\nfive\n")

    shown = machine.json("agent", "diff", "ben")
    assert (shown["branch"], shown["into"], shown["commits"]) == ("agent/ben", "main", 1)
    assert (shown["uncommitted"], shown["untracked"]) == (["a.txt"], ["new.txt"])
    assert "+four" in str(shown["diff"])
    assert "+five" in str(shown["diff"])
    assert "-ONE" not in str(shown["diff"])

    assert machine.json("agent", "merge", "ada")["merged"] == 1
    assert "a.txt" in machine.error("agent", "merge", "ben")["message"]  # not committed yet
    (ben / "new.txt").unlink()
    git(ben, "commit", "-q", "-a", "-m", "five")
    assert machine.json("agent", "merge", "ben")["merged"] == 2
    assert (repo / "a.txt").read_text() == "ONE\ntwo\nthree\nfour\nfive\n"
    assert machine.json("agent", "merge", "ben")["merged"] == 0


def test_a_merge_that_conflicts_says_where_and_changes_nothing(
    machine: Machine, repo: Path
) -> None:
    ada = hired(machine, "Ada")
    commit(ada, "a.txt", "hers\n")
    commit(repo, "a.txt", "mine\n")
    git(repo, "branch", "other")
    before = standing(repo)

    for into in ([], ["--into", "other"]):
        refused = machine.error("agent", "merge", "ada", *into)
        assert refused["code"] == "CONFLICT"
        assert "a.txt" in refused["message"]
    assert standing(repo) == before


def test_a_merge_never_writes_over_what_is_not_committed_in_the_project(
    machine: Machine, repo: Path
) -> None:
    ada = hired(machine, "Ada")
    commit(ada, "a.txt", "hers\n")
    (repo / "a.txt").write_text("in the middle of it\n")
    before = standing(repo)

    assert machine.error("agent", "merge", "ada")["code"] == "BUSY"
    assert standing(repo) == before


def test_a_merge_goes_into_a_branch_that_nobody_has_checked_out(
    machine: Machine, repo: Path
) -> None:
    git(repo, "branch", "next")
    ada = hired(machine, "Ada")
    commit(ada, "a.txt", "hers\n")

    assert machine.json("agent", "merge", "ada", "--into", "next")["into"] == "next"
    assert git(repo, "show", "next:a.txt") == "hers"
    assert (repo / "a.txt").read_text() == "one\ntwo\nthree\n"
    assert machine.error("agent", "merge", "ada", "--into", "none")["code"] == "NOT_FOUND"
    assert machine.error("agent", "merge", "ada", "--into=-x")["code"] == "INVALID"


def test_an_agent_with_work_that_would_be_lost_is_deleted_only_by_force(
    machine: Machine, repo: Path
) -> None:
    ada = hired(machine, "Ada")
    (ada / "note.txt").write_text("not committed")
    refused = machine.error("agent", "delete", "ada")
    assert (refused["code"], "note.txt" in refused["message"]) == ("BUSY", True)
    commit(ada, "note.txt", "committed, not merged")
    assert "not merged" in machine.error("agent", "delete", "ada")["message"]
    assert (ada / "note.txt").exists()

    machine.json("agent", "merge", "ada")
    machine.json("agent", "delete", "ada")
    assert not ada.exists()
    assert git(repo, "branch", "--format=%(refname:short)") == "main"
    ben = hired(machine, "Ben")
    commit(ben, "lost.txt", "on purpose")
    machine.json("agent", "delete", "ben", "--force")
    assert not ben.exists()
    assert git(repo, "worktree", "list").count("\n") == 0


def test_a_branch_of_the_persons_own_stays_when_its_agent_goes(
    machine: Machine, repo: Path
) -> None:
    machine.json("agent", "create", "Ada", "--profile", "claude-code", "--worktree", "topic")
    commit(repo / ".ideai" / "worktrees" / "ada", "a.txt", "hers\n")

    machine.json("agent", "delete", "ada")

    assert git(repo, "show", "topic:a.txt") == "hers"


def test_pruning_keeps_the_work_of_agents_that_are_gone(machine: Machine, repo: Path) -> None:
    places = [hired(machine, name) for name in ("Ada", "Ben", "Cleo")]
    (places[0] / "note.txt").write_text("not committed")
    commit(places[1], "b.txt", "not merged")
    (repo / ".ideai" / "agents.json").unlink()

    would = machine.json("agent", "prune", "--dry-run")
    assert would["worktrees"] == [str(places[2])]
    found = machine.json("agent", "prune")
    assert found["worktrees"] == [str(places[2])]
    kept = found["worktrees_kept"]
    assert isinstance(kept, list)
    assert [entry["path"] for entry in kept] == [str(places[0]), str(places[1])]
    assert [place.exists() for place in places] == [True, True, False]
    machine.json("agent", "prune", "--force")
    assert not any(place.exists() for place in places)


def test_files_that_the_person_listed_come_along(machine: Machine, repo: Path) -> None:
    machine.store.mkdir(exist_ok=True)
    (machine.store / "worktree-files").write_text(
        "# mine\n.env\nconf/*.local\n../out\n/etc/hosts\n"
    )
    (repo / ".ideai").mkdir(exist_ok=True)
    (repo / ".ideai" / "worktree-files").write_text("secret\n")
    (repo / "conf").mkdir()
    for name in (".env", "conf/db.local", "secret", "conf/db.shared"):
        (repo / name).write_text(name)
    (repo / "conf" / "link.local").symlink_to(machine.root / "home")
    (machine.root / "out").write_text("outside")

    place = hired(machine, "Ada")

    assert (place / ".env").read_text() == ".env"
    assert (place / ".env").stat().st_mode & 0o777 == 0o600
    assert (place / "conf" / "db.local").read_text() == "conf/db.local"
    assert [p.name for p in (place / "conf").iterdir()] == ["db.local"]
    assert not (place / "secret").exists()
    # What was only copied is no work: the agent can go.
    machine.json("agent", "delete", "ada")
    (repo / ".env").unlink()


HOSTILE = {
    "hooks": ("core.hooksPath", "{hooks}"),
    "fsmonitor": ("core.fsmonitor", "{program}"),
    "editor": ("core.editor", "{program}"),
    "signing": ("gpg.program", "{program}"),
    "pager": ("core.pager", "{program}"),
    "diff": ("diff.external", "{program}"),
}


@pytest.mark.parametrize("how", HOSTILE)
def test_nothing_that_a_repository_configures_is_run(
    machine: Machine, repo: Path, how: str
) -> None:
    ran = machine.root / "ran"
    program = machine.program("evil", f"#!/bin/sh\necho {how} >> {ran}\n")
    hooks = machine.root / "hooks"
    hooks.mkdir()
    for name in (
        "post-checkout",
        "post-merge",
        "pre-merge-commit",
        "commit-msg",
        "reference-transaction",
    ):
        for folder in (hooks, repo / ".git" / "hooks"):
            (folder / name).write_text(f"#!/bin/sh\necho {name} >> {ran}\n")
            (folder / name).chmod(0o755)
    key, value = HOSTILE[how]
    ada = hired(machine, "Ada")
    (ada / "a.txt").write_text("ONE\ntwo\nthree\n")
    quiet = ("-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", "x")
    git(ada, *quiet, "-a")
    (repo / "b.txt").write_text("b")
    git(repo, "add", "b.txt")
    git(repo, *quiet)
    git(repo, "config", "commit.gpgSign", "true")
    git(repo, "config", key, value.format(hooks=hooks, program=program))

    machine.json("agent", "diff", "ada")
    machine.json("agent", "merge", "ada")
    hired(machine, "Ben")
    machine.json("agent", "delete", "ada")

    assert not ran.exists(), ran.read_text()


@pytest.mark.parametrize(
    ("key", "attribute"),
    [
        ("filter.evil.smudge", "*.txt filter=evil"),
        ("filter.evil.process", "*.txt filter=evil"),
        ("merge.evil.driver", "*.txt merge=evil"),
        ("core.worktree", ""),
    ],
)
def test_a_repository_whose_own_configuration_changes_files_is_refused(
    machine: Machine, repo: Path, key: str, attribute: str
) -> None:
    ran = machine.root / "ran"
    program = machine.program("evil", f"#!/bin/sh\ntouch {ran}\ncat\n")
    (repo / ".gitattributes").write_text(attribute + "\n")
    ada = hired(machine, "Ada")
    git(repo, "config", key, str(machine.root / "home") if key == "core.worktree" else str(program))

    for words in (
        ("agent", "create", "Ben", "--profile", "shell", "--worktree"),
        ("agent", "merge", "ada"),
        ("agent", "diff", "ada"),
        ("agent", "delete", "ada"),
    ):
        assert key in machine.error(*words)["message"], words
    assert not ran.exists()
    assert ada.exists()
    assert len(machine.json("agent", "list")["agents"]) == 1
    # What the person has configured for everything they do is theirs.
    if key.startswith("filter.evil.smudge"):
        git(repo, "config", "--global", key, str(program))
        hired(machine, "Ben")


def test_a_worktree_that_came_with_the_project_is_not_taken_for_one_of_its_own(
    machine: Machine, repo: Path
) -> None:
    """Its git directory, and so its configuration, is wherever its maker wants it to be."""
    ran = machine.root / "ran"
    program = machine.program("evil", f"#!/bin/sh\ntouch {ran}\ncat\n")
    place = repo / ".ideai" / "worktrees" / "ada"
    hidden = repo / "hidden"
    hidden.mkdir()
    git(hidden, "init", "-q")
    git(hidden, "config", "filter.evil.clean", str(program))
    (hidden / "x").write_text("*.txt filter=evil\n")
    git(hidden, "-c", "filter.evil.clean=cat", "add", "x")
    git(hidden, "commit", "-q", "-m", "x")
    place.mkdir(parents=True)
    (place / ".git").write_text(f"gitdir: {hidden / '.git'}\n")
    (place / ".gitattributes").write_text("* filter=evil\n")
    (place / "x").write_text("changed, so that git has to look\n")

    words = ("agent", "create", "Ada", "--profile", "shell", "--worktree")
    assert "no worktree of this repository" in machine.error(*words)["message"]
    found = machine.json("agent", "prune")
    assert (found["worktrees"], len(found["worktrees_kept"])) == ([], 1)
    assert not ran.exists()


def test_a_project_whose_git_directory_is_another_project_s_is_refused(
    machine: Machine, repo: Path
) -> None:
    stranger = machine.root / "stranger"
    stranger.mkdir()
    words = ("agent", "create", "Ada", "--profile", "shell", "--worktree")
    for lead in (
        lambda: (stranger / ".git").write_text(f"gitdir: {repo / '.git'}\n"),
        lambda: (stranger / ".git").symlink_to(repo / ".git"),
    ):
        (stranger / ".git").unlink(missing_ok=True)
        lead()
        assert ".git" in machine.error(*words, "--project", str(stranger))["message"]
    assert git(repo, "branch", "--format=%(refname:short)") == "main"
    # A worktree that the person made is a place to work like any other.
    git(repo, "worktree", "add", "-q", str(machine.root / "beside"))
    machine.json(*words, "--project", str(machine.root / "beside"))


@pytest.mark.parametrize("place", ["worktrees", "worktrees/ada"])
def test_a_link_in_the_place_of_the_worktrees_is_refused(
    machine: Machine, repo: Path, place: str
) -> None:
    (repo / ".ideai" / place).parent.mkdir(parents=True)
    (repo / ".ideai" / place).symlink_to(machine.root / "home")
    before = os.listdir(machine.root / "home")

    refused = machine.error("agent", "create", "Ada", "--profile", "shell", "--worktree")

    assert "link" in refused["message"]
    assert os.listdir(machine.root / "home") == before
    assert machine.json("agent", "list")["agents"] == []


@pytest.mark.parametrize("branch", ["-x", "a..b", "a b", "x.lock", "/x", "a~1", "@", "x\x1b[m"])
def test_what_can_not_be_a_branch_is_refused(machine: Machine, repo: Path, branch: str) -> None:
    words = ("agent", "create", "Ada", "--profile", "shell", f"--worktree={branch}")
    assert machine.error(*words)["code"] == "INVALID"

    machine.json("agent", "create", "Ada", "--profile", "shell")
    manifest = repo / ".ideai" / "agents.json"
    kept = json.loads(manifest.read_text())
    kept["entries"][0]["worktree"] = branch
    manifest.write_text(json.dumps(kept))
    assert machine.error("agent", "launch", "ada", "--detach")["code"] == "INVALID"


def test_a_branch_that_is_checked_out_elsewhere_and_a_project_without_git_are_told(
    machine: Machine, repo: Path
) -> None:
    words = ("agent", "create", "Ada", "--profile", "shell", "--worktree")
    assert "main" in machine.error(*words, "main")["message"]
    assert machine.json("agent", "list")["agents"] == []
    for name in ("diff", "merge"):
        machine.json("agent", "create", f"Plain {name}", "--profile", "shell")
        assert "--worktree" in machine.error("agent", name, f"plain-{name}")["message"]

    bare = machine.root / "bare"
    bare.mkdir()
    assert "git" in machine.error(*words, "--project", str(bare))["message"]
    git(bare, "init", "-q")
    assert "commit" in machine.error(*words, "--project", str(bare))["message"]


def test_an_agent_that_left_its_branch_is_told_apart(machine: Machine, repo: Path) -> None:
    ada = hired(machine, "Ada")
    git(ada, "checkout", "-q", "-b", "sideways")
    commit(ada, "a.txt", "hers\n")

    assert machine.json("agent", "diff", "ada")["branch"] == "sideways"
    refused = machine.error("agent", "merge", "ada")
    assert "'sideways'" in refused["message"]
    assert "'agent/ada'" in refused["message"]
    git(ada, "checkout", "-q", "--detach")
    commit(ada, "a.txt", "on no branch\n")
    assert "not merged" in machine.error("agent", "delete", "ada")["message"]


def test_the_worktree_of_an_agent_that_is_gone_and_still_runs_is_not_pruned(
    machine: Machine,
    repo: Path,
    told: Path,  # noqa: F811 - the fixture
) -> None:
    machine.program("claude", TELLER)
    ada = hired(machine, "Ada")
    machine.json("agent", "launch", "ada", "--detach")
    (repo / ".ideai" / "agents.json").unlink()

    for more in ([], ["--force"]):
        assert machine.json("agent", "prune", *more)["worktrees"] == []
    assert ada.exists()
    machine.json("session", "kill", "Ada")
    assert machine.json("agent", "prune")["worktrees"] == [str(ada)]
