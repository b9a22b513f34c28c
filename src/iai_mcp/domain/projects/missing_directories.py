"""Directories of a history that are not on this machine: which of its projects they were.

By its name alone a directory can be guessed, to ask a person about: a checkout keeps its name where
it is cloned anew, and worktrees are called after their branch, beside the checkout's name or below it.
A worktree that lies where worktrees of a checkout do, bears its branch's name and holds the same
files is known.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

_JOINTS = "-_.+"
# Directories that worktrees are kept in, which say nothing themselves.
_KEPT_IN = ("worktrees", ".worktrees", ".claude")
_BESIDE = (
    *(".worktrees", "-worktrees", "_worktrees"),
    *("/.worktrees", "/worktrees", "/.claude/worktrees"),
)
# Every repository has these, so a directory of that name is no worktree of a neighbour.
_COMMON = frozenset(
    ("", "HEAD", "main", "master", "trunk", "develop", "development", "dev", "next")
)
_DEEP = 2  # slashes: `src/main.py` is in every other project
_SHARED = 3


@dataclass(frozen=True, slots=True)
class Checkout:
    """What a history tells of a directory: the branches that were checked out, the files worked on."""

    root: str
    branches: Collection[str]
    files: Collection[str]

    @property
    def called_after(self) -> set[str]:
        """What its directory would be called as a worktree of one of its branches."""
        return {name for branch in self.branches for name in _as_directory(branch)}


def worktrees_lie_there(lost: str, root: str) -> bool:
    """Whether `lost` lies where worktrees of a checkout at `root` do."""
    return lost != root and (_lies_below(lost, root) or _parted(lost)[0] == _parted(root)[0] != "")


def worktree_of(lost: Checkout, others: Iterable[Checkout]) -> str | None:
    """The one checkout that `lost` was a worktree of, by its place, its branch and its files."""
    found = [
        one.root
        for one in others
        if worktrees_lie_there(lost.root, one.root)
        and _is_called_so(lost, one.root)
        and _parted(one.root)[1] not in one.called_after  # a worktree itself
        and len(_deep(lost.files) & _deep(one.files)) >= _SHARED
    ]
    return found[0] if len(found) == 1 else None


def _is_called_so(lost: Checkout, root: str) -> bool:
    name, own = _parted(lost.root)[1], _parted(root)[1]
    return _lies_below(lost.root, root) or any(
        name in (branch, *(f"{own}{joint}{branch}" for joint in _JOINTS))
        for branch in lost.called_after
    )


def _lies_below(lost: str, root: str) -> bool:
    return any(lost.startswith(f"{root}{kept}/") for kept in _BESIDE)


def _parted(path: str) -> tuple[str, str]:
    """The directory that it lies in, and its name."""
    parent, _, name = path.rpartition("/")
    return parent, name


def likely(lost: str, branches: Iterable[str], here: Sequence[str]) -> str | None:
    """The one project of `here` that the directory was by its name, or by a branch in its name."""
    names = {name for branch in ("", *branches) for name in _names(lost, branch)}
    found = [root for root in here if root != lost and root.rpartition("/")[2] in names]
    return found[0] if len(found) == 1 else None


def _as_directory(branch: str) -> set[str]:
    """How git, and people, call the directory of a branch."""
    if branch in _COMMON:
        return set()
    return {branch.replace("/", "-"), branch.rpartition("/")[2]} - _COMMON


def _deep(files: Iterable[str]) -> set[str]:
    return {path for path in files if path.count("/") >= _DEEP and not path.startswith("/")}


def _names(lost: str, branch: str) -> set[str]:
    """What the main checkout may be called, if that branch was checked out there."""
    parts = [part for part in lost.split("/") if part and part not in _KEPT_IN]
    if not lost.startswith("/") or not parts:
        return set()
    if not branch:
        return {parts[-1]}
    written = branch.split("/")
    if parts[-len(written) :] == written and len(parts) > len(written):
        return {parts[-len(written) - 1].removesuffix(".worktrees")}
    dashed = "-".join(written)
    if len(parts) > 1 and dashed.endswith(f"-{parts[-1]}"):
        return {parts[-2].removesuffix(".worktrees")}
    name = parts[-1].removesuffix(dashed)
    return {name[:-1]} if name != parts[-1] and name[-1:] in _JOINTS and name[:-1] else set()
