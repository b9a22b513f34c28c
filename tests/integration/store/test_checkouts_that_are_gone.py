"""Worktrees and clones that are not on this machine: joined by what git said, or not at all."""

from collections.abc import Callable

import pytest

from iai_mcp.core import dispatch
from iai_mcp.store import MemoryStore

SAID = "the heron is the mascot of the shop"
MAIN = "/gone/ann/shop"
FILES = ("src/till/count.py", "src/till/coins.py", "src/door/bell.py", "src/door/lock.py")


@pytest.fixture
def store(opened: Callable[[], MemoryStore]) -> MemoryStore:
    return opened()


def send(store: MemoryStore, where: str, *events: dict[str, object], branch: str = "main") -> None:
    common = {"cwd": where, "branch": branch, "host": "claude-code"}
    given = [{"id": f"{where} {n} {event}", **common, **event} for n, event in enumerate(events)]
    dispatch(store, "capture_events", {"session_id": f"s {where}", "events": given})


def ran(command: str, output: str = "", status: int = 0, cwd: str = "") -> dict[str, object]:
    work = {"command": command, "exit": status, "output": output}
    return {"kind": "command", "role": "tool", "text": command, "work": work | {"cwd": cwd}}


def edited(*paths: str) -> list[dict[str, object]]:
    return [{"kind": "edit", "role": "tool", "text": p, "work": {"path": p}} for p in paths]


def said(text: str = SAID) -> dict[str, object]:
    return {"role": "user", "text": text}


def told(store: MemoryStore, where: str) -> bool:
    return SAID in repr(dispatch(store, "session_start_payload", {"cwd": where}))


@pytest.mark.parametrize(
    ("where", "command", "output"),
    [
        (
            "/gone/ann/bell",
            "git status",
            "interactive rebase in progress\n"
            f"  (see more in file {MAIN}/.git/worktrees/bell/rebase-merge/done)",
        ),
        ("/gone/ann/bell", "git rev-parse --git-dir", f"{MAIN}/.git/worktrees/bell"),
    ],
)
def test_git_tells_in_a_worktree_whose_it_is(
    store: MemoryStore, where: str, command: str, output: str
) -> None:
    send(store, MAIN, said())
    send(store, where, said("ring it"), ran(command, output))
    assert told(store, where)
    assert told(store, MAIN)


@pytest.mark.parametrize(
    "command",
    [
        "git worktree add ../bell",
        "git worktree add -b topic/bell ../bell origin/main",
        "git fetch -q && git worktree add --lock --reason 'a trial' /gone/ann/bell main",
        f"cd {MAIN} && git worktree add ../bell",
    ],
)
def test_who_made_a_worktree_tells_whose_it_is(store: MemoryStore, command: str) -> None:
    where = "/gone/ann" if command.startswith("cd ") else MAIN
    send(store, MAIN, said())
    send(store, where, said("a place to work"), ran(command, "Preparing worktree"))
    send(store, "/gone/ann/bell", said("ring it"))
    assert told(store, "/gone/ann/bell")


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("git push", "To github.com:ann/shop.git\n   1a2b3c4..5d6e7f8  bell -> bell"),
        ("git pull --rebase", "From https://github.com/ann/shop\n   1a2b3c4..5d6e7f8  main"),
        (
            "git remote -v",
            "origin\tgit@github.com:ann/shop.git (fetch)\nup\tgit@x.org:u/p (fetch)",
        ),
        ("git remote get-url origin", "https://github.com/ann/shop.git"),
        ("gh pr create --fill", "Creating pull request\nhttps://github.com/ann/shop/pull/7"),
    ],
)
def test_clones_are_known_by_the_remote_that_git_named(
    store: MemoryStore, command: str, output: str
) -> None:
    send(store, MAIN, said(), ran("git push", "To git@github.com:ann/shop.git\n * main -> main"))
    send(store, "/gone/bob/other", said("ring it"), ran(command, output))
    assert told(store, "/gone/bob/other")


def test_a_clone_is_known_by_what_it_was_cloned_from(store: MemoryStore) -> None:
    send(store, MAIN, said(), ran("git push", "To git@github.com:ann/shop.git\n * main -> main"))
    send(store, "/gone/bob", said("get it"), ran("git clone https://github.com/ann/shop"))
    send(store, "/gone/bob/shop", said("ring it"))
    assert told(store, "/gone/bob/shop")


@pytest.mark.parametrize(
    ("where", "event"),
    [
        ("/gone/bob/shop", ran("git push", "To github.com:bob/shop.git\n * main -> main")),
        ("/gone/bob/shop", ran("cat notes", "To github.com:ann/shop.git")),
        ("/gone/bob/shop", ran("git -C ../other push", "To github.com:ann/shop.git")),
        ("/gone/bob/shop", ran("cd ../other && git push", "To github.com:ann/shop.git")),
        (
            "/gone/bob/shop",
            ran("git fetch git@github.com:ann/shop.git", "From github.com:ann/shop"),
        ),
        ("/gone/bob/shop", ran("gh pr create -R ann/shop", "https://github.com/ann/shop/pull/7")),
        ("/gone/bob/shop", ran("git pull", "Fetching submodule x\nFrom github.com:ann/shop")),
        ("/gone/bob/shop", ran("git status", f"see {MAIN}/.git/worktrees/bell/rebase-merge/done")),
        ("/gone/bob/shop", ran("git worktree add ../shop", "fatal: it exists", status=128)),
        ("/gone/bob/shop", ran("git clone https://github.com/ann/shop", "fatal: no", status=128)),
    ],
)
def test_another_repository_of_the_same_name_stays_apart(
    store: MemoryStore, where: str, event: dict[str, object]
) -> None:
    send(store, MAIN, said(), ran("git push", "To git@github.com:ann/shop.git\n * main -> main"))
    send(store, where, said("ring it"), event, *edited(*FILES))
    assert not told(store, where)


@pytest.mark.parametrize(
    ("where", "branch"),
    [
        ("/gone/ann/bell", "bell"),
        ("/gone/ann/shop-bell", "bell"),
        ("/gone/ann/topic-bell", "topic/bell"),
        ("/gone/ann/shop.worktrees/topic/bell", "topic/bell"),
        ("/gone/ann/shop-worktrees/bell", "ann/bell"),
        ("/gone/ann/shop/.claude/worktrees/quick-fox", "worktree-quick-fox"),
    ],
)
@pytest.mark.parametrize("first", ["main", "worktree"])
def test_a_worktree_is_known_by_its_branch_its_place_and_its_files(
    store: MemoryStore, where: str, branch: str, first: str
) -> None:
    def main() -> None:
        send(store, MAIN, said(), *edited(*FILES))

    if first == "main":
        main()
    send(store, where, said("ring it"), *edited(*FILES[1:], "src/new/one.py"), branch=branch)
    if first == "worktree":
        main()
    assert told(store, where)


@pytest.mark.parametrize(
    ("where", "branch", "files"),
    [
        ("/gone/bob/shop", "main", FILES),  # the same name elsewhere, made from one template
        ("/gone/bob/shop", "topic/bell", FILES),
        ("/gone/ann/blog", "main", FILES),  # a neighbour
        ("/gone/ann/main", "main", FILES),
        ("/gone/ann/bell", "bell", FILES[:2]),  # so few every project has
        ("/gone/ann/bell", "bell", ("README.md", "setup.py", "src/main.py", "tests/main.py")),
        ("/gone/bob/bell", "bell", FILES),  # a worktree of somebody else's
    ],
)
def test_what_is_only_likely_joins_nothing(
    store: MemoryStore, where: str, branch: str, files: tuple[str, ...]
) -> None:
    send(store, MAIN, said(), *edited(*FILES, *files), branch="main")
    send(store, MAIN, said("on with it"), branch="topic/bell")
    send(store, where, said("ring it"), *edited(*files), branch=branch)
    assert not told(store, where)


def test_a_worktree_beside_two_repositories_with_its_files_is_left_alone(
    store: MemoryStore,
) -> None:
    for main in (MAIN, "/gone/ann/fork"):
        send(store, main, said(), *edited(*FILES))
    send(store, "/gone/ann/bell", said("ring it"), *edited(*FILES), branch="bell")
    assert not told(store, "/gone/ann/bell")


def test_what_git_said_counts_more_than_what_files_look_like(store: MemoryStore) -> None:
    pushed = ran("git push", "To github.com:bob/fork.git\n * bell -> bell")
    send(store, MAIN, said(), *edited(*FILES))
    send(store, "/gone/ann/bell", said("ring it"), pushed, *edited(*FILES), branch="bell")
    assert not told(store, "/gone/ann/bell")


def test_a_private_project_is_joined_by_no_guess(store: MemoryStore) -> None:
    send(store, MAIN, said(), *edited(*FILES))
    dispatch(store, "project_privacy", {"project": MAIN, "private": True})
    added = ran("git worktree add ../bell")
    send(store, MAIN, said("a place to work"), added)
    send(store, "/gone/ann/bell", said("ring it"), *edited(*FILES), branch="bell")
    assert not told(store, "/gone/ann/bell")
