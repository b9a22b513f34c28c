"""Directories of a history that are not on this machine: which of its projects they may have been.

A guess to ask a person about, never to act upon. A checkout keeps its name where it is cloned anew;
worktrees are called after their branch, beside the checkout's name or below it.
"""

from collections.abc import Iterable, Sequence

_JOINTS = "-_.+"
# Directories that worktrees are kept in, which say nothing themselves.
_KEPT_IN = ("worktrees", ".worktrees", ".claude")


def likely(lost: str, branches: Iterable[str], here: Sequence[str]) -> str | None:
    """The one project of `here` that the directory was by its name, or by a branch in its name."""
    names = {name for branch in ("", *branches) for name in _names(lost, branch)}
    found = [root for root in here if root != lost and root.rpartition("/")[2] in names]
    return found[0] if len(found) == 1 else None


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
