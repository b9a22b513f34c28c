"""Directories that somebody else made, to keep us waiting or to pass for another project."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

_HEAD = "ref: refs/heads/main\n"


def _bare_with_a_pipe(name: str) -> Callable[[Path], None]:
    """What looks like a bare repository, with a pipe where git has a file."""

    def make(place: Path) -> None:
        (place / "refs").mkdir(parents=True)
        (place / "HEAD").write_text(_HEAD)
        os.mkfifo(place / name)

    return make


def _worktree_with_a_pipe(name: str) -> Callable[[Path], None]:
    def make(place: Path) -> None:
        inner = place / "main/.git/worktrees/feature"
        inner.mkdir(parents=True)
        (place / ".git").write_text(f"gitdir: {inner}\n")
        (inner / "commondir").write_text("../..\n")
        (inner / name).unlink(missing_ok=True)
        os.mkfifo(inner / name)

    return make


def _ignored_by_a_pipe(place: Path) -> None:
    place.mkdir(parents=True)
    os.mkfifo(place / ".iai-ignore")


def _ignored_by_a_terminal(place: Path) -> None:
    place.mkdir(parents=True)
    # A link can be cloned, and this device waits for whoever reads it.
    (place / ".iai-ignore").symlink_to("/dev/ptmx")


def _ignored_by_a_riddle(place: Path) -> None:
    place.mkdir(parents=True)
    (place / ".iai-ignore").write_text("**/" * 24 + "no-such-name\n")


# What keeps whoever looks at it waiting, unless they look with care.
WAITING: Mapping[str, Callable[[Path], None]] = {
    "a pipe as commondir": _bare_with_a_pipe("commondir"),
    "a pipe as config": _bare_with_a_pipe("config"),
    "a pipe behind .git": _worktree_with_a_pipe("commondir"),
    "a pipe as back-link": _worktree_with_a_pipe("gitdir"),
    "a pipe as .iai-ignore": _ignored_by_a_pipe,
    "a device as .iai-ignore": _ignored_by_a_terminal,
    "a riddle as .iai-ignore": _ignored_by_a_riddle,
}


def below(place: Path) -> str:
    """A directory deep inside, where a session might be."""
    return str(place / "/".join("abcdefghijklmnopqrstuvwxyz"))


def _inside_of(place: Path, **files: str) -> None:
    (place / "refs").mkdir(parents=True)
    (place / "HEAD").write_text(_HEAD)
    for name, said in files.items():
        (place / name).write_text(said)


def _pointing(place: Path, target: Path) -> None:
    place.mkdir(parents=True)
    (place / ".git").write_text(f"gitdir: {target}\n")


def _with_a_repository_of_its_own(place: Path, victim: Path) -> None:
    own = place / "own/worktrees/x"
    own.mkdir(parents=True)
    (place / ".git").write_text(f"gitdir: {own}\n")
    (own / "HEAD").write_text(_HEAD)
    (own / "commondir").write_text(f"{victim}/.git\n")
    (own / "gitdir").write_text(f"{place}/.git\n")


# What says of itself that it belongs to another checkout, which has a worktree called `feature`.
PRETENDING: Mapping[str, Callable[[Path, Path], None]] = {
    "commondir": lambda place, of: _inside_of(place, commondir=f"{of}/.git\n"),
    "core.worktree": lambda place, of: _inside_of(place, config=f"[core]\n\tworktree = {of}\n"),
    "a worktree of its own": _with_a_repository_of_its_own,
    "another's worktree": lambda place, of: _pointing(place, of / ".git/worktrees/feature"),
    "a worktree that is not": lambda place, of: _pointing(place, of / ".git/worktrees/none"),
    "its git directory": lambda place, of: _pointing(place, of / ".git"),
    "its name": lambda place, of: (place / of.name / ".git").mkdir(parents=True),
}
