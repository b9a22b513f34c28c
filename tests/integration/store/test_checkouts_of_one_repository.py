"""Clones, moved checkouts and worktrees of one repository share what is not private."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.git import git, repository

from iai_mcp.adapters.repositories import read_identities
from iai_mcp.core import dispatch
from iai_mcp.store import MemoryStore

SAID = "the heron is the mascot of the shop"
URL = "https://github.com/ann/shop.git"


@pytest.fixture
def store(opened: Callable[[], MemoryStore]) -> MemoryStore:
    return opened()


@pytest.fixture
def room(tmp_path: Path) -> Path:
    return tmp_path.resolve()


def shop(path: Path, remote: str = "") -> Path:
    made = repository(path)
    (made / "readme").write_text(f"made in {path}")
    git("add", ".", cwd=made)
    git("commit", "-q", "--amend", "-m", "first", cwd=made)
    git("commit", "-q", "--allow-empty", "-m", "second", cwd=made)
    if remote:
        git("remote", "add", "origin", remote, cwd=made)
    return made


def tell(store: MemoryStore, where: Path, text: str = SAID) -> None:
    events = [{"text": text, "id": f"{where}{text}"}]
    dispatch(store, "capture_events", {"session_id": "s", "cwd": str(where), "events": events})


def told(store: MemoryStore, where: Path) -> set[str]:
    """By which ways somebody who works there is told of it."""
    asked: dict[str, dict[str, object]] = {
        "session_start_payload": {"cwd": str(where)},
        "memory_timeline": {"project": str(where)},
        "memory_recall": {"cue": "heron mascot", "project": str(where), "cwd": str(where)},
    }
    return {name for name, params in asked.items() if SAID in repr(dispatch(store, name, params))}


EVERY_WAY = {"session_start_payload", "memory_timeline", "memory_recall"}


def test_a_local_clone_is_the_same_project(store: MemoryStore, room: Path) -> None:
    first = shop(room / "a/shop")
    tell(store, first)
    git("clone", "-q", str(first), str(room / "b"), cwd=room)
    assert told(store, room / "b") == EVERY_WAY


def test_clones_of_one_remote_are_one_project_however_it_is_written(
    store: MemoryStore, room: Path
) -> None:
    tell(store, shop(room / "a", URL))
    assert told(store, shop(room / "b", "git@GitHub.com:ann/shop")) == EVERY_WAY
    assert told(store, shop(room / "c", "git@github.com:bob/shop")) == set()


def test_a_moved_checkout_is_known_by_how_it_began(store: MemoryStore, room: Path) -> None:
    before = shop(room / "before")
    tell(store, before)
    before.rename(room / "after")
    assert told(store, room / "after") == EVERY_WAY
    git("gc", "-q", cwd=room / "after")
    assert read_identities(str(room / "after"))


def test_what_was_seen_of_a_checkout_is_known_when_it_is_gone(
    opened: Callable[[], MemoryStore], room: Path
) -> None:
    store = opened()
    tell(store, shop(room / "a", URL))
    shutil.rmtree(room / "a")
    store.close()
    assert told(opened(), shop(room / "b", URL)) == EVERY_WAY
    assert "github" not in (room / "store/repositories.json").read_text()


def test_a_transcript_tells_where_a_directory_that_is_gone_came_from(
    store: MemoryStore, room: Path
) -> None:
    gone = "/home/somebody/elsewhere/shop"
    event = {"text": SAID, "id": "1", "cwd": gone, "repository": "git@github.com:ann/shop.git"}
    dispatch(store, "capture_events", {"session_id": "s", "events": [event]})
    assert told(store, shop(room / "b", URL)) == EVERY_WAY


def test_repositories_without_anything_in_common_stay_apart(store: MemoryStore, room: Path) -> None:
    tell(store, shop(room / "a"))
    assert told(store, shop(room / "b")) == set()
    tell(store, repository(room / "empty one"))
    assert told(store, repository(room / "empty two")) == set()


def test_forgetting_a_checkout_leaves_the_others(store: MemoryStore, room: Path) -> None:
    first, second = shop(room / "a", URL), shop(room / "b", URL)
    tell(store, first)
    tell(store, second, "said in the clone")
    assert dispatch(store, "memory_forget", {"project": str(second)})["forgotten"] == 1
    assert told(store, first) == EVERY_WAY


@pytest.mark.parametrize("claim", ["clone", "remote", "copy"])
def test_a_clone_of_a_private_project_is_told_nothing_of_it(
    store: MemoryStore, room: Path, claim: str
) -> None:
    private = shop(room / "private", URL)
    tell(store, private)
    dispatch(store, "project_privacy", {"project": str(private), "private": True})
    other = room / "other"
    if claim == "clone":
        git("clone", "-q", str(private), str(other), cwd=room)
    elif claim == "remote":
        shop(other, URL)
    else:
        shutil.copytree(private, other)
    tell(store, other, "said in the clone")
    assert told(store, other) == set()
    for params in ({"project": str(other)}, {"project": str(other), "visitor": True}):
        assert SAID not in repr(dispatch(store, "memory_recall", {"cue": "heron", **params}))
    assert told(store, private) == EVERY_WAY


@pytest.mark.parametrize(
    "trick", ["pipe", "link", "huge", "traversal", "bomb", "loop", "garbage", "pointer"]
)
def test_whatever_lies_in_a_git_directory_is_read_at_once_or_not_at_all(
    room: Path, trick: str
) -> None:
    made = shop(room / "a", URL)
    dot_git = made / ".git"
    (head,) = (dot_git / "refs/heads").iterdir()
    commit = head.read_text().strip()
    loose = dot_git / "objects" / commit[:2] / commit[2:]
    if trick == "pipe":
        for name in ("config", "HEAD", "packed-refs"):
            (dot_git / name).unlink(missing_ok=True)
            os.mkfifo(dot_git / name)
    elif trick == "link":
        other = shop(room / "b", "https://github.com/ann/other")
        (dot_git / "config").unlink()
        (dot_git / "config").symlink_to(other / ".git/config")
        (dot_git / "HEAD").unlink()
    elif trick == "huge":
        with (dot_git / "config").open("ab") as file:
            file.truncate(1 << 40)
    elif trick == "traversal":
        (dot_git / "HEAD").write_text("ref: refs/../../../b/.git/HEAD\n")
    elif trick in ("bomb", "loop", "garbage"):
        import zlib

        loose.chmod(0o600)
        body = f"tree {'1' * 40}\nparent {commit}\n\nx".encode()
        content = {
            "bomb": zlib.compress(b"commit 1\0" + b"\0" * (1 << 26)),
            "loop": zlib.compress(b"commit %d\0" % len(body) + body),
            "garbage": b"\xff" * 100,
        }
        loose.write_bytes(content[trick])
    else:
        shutil.rmtree(dot_git)
        dot_git.write_text(f"gitdir: {'/../' * 500}\n")
    found = read_identities(str(made))
    assert all(one.startswith(("remote:", "root:")) for one in found)
    if trick in ("pipe", "link", "huge", "pointer"):
        assert not any(one.startswith("remote:") for one in found)
