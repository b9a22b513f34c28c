"""A checkout of an agent's own: where it lies, which branch it is on, and what stands there."""

from dataclasses import dataclass

from iai_mcp.domain.agents.agent import slug_of
from iai_mcp.domain.foreign_text import bare_file_name
from iai_mcp.domain.projects.project import PROJECT_DATA

WORKTREES = f"{PROJECT_DATA}/worktrees"

_MOST_NAMED = 5


def worktree_path(slug: str) -> str:
    """Below the project: a directory no other agent shares."""
    return f"{WORKTREES}/{bare_file_name(slug)}"


def own_branch(slug: str) -> str:
    """The branch that is named after an agent, and goes with it."""
    return f"agent/{slug_of(slug)}"


@dataclass(frozen=True, slots=True)
class CheckoutState:
    """What a worktree holds that is nowhere else.

    `uncommitted` are tracked files, `unmerged` the number of commits that no other branch has,
    `nested` repositories inside, which are not examined.
    """

    uncommitted: tuple[str, ...] = ()
    untracked: tuple[str, ...] = ()
    unmerged: int = 0
    nested: tuple[str, ...] = ()

    @property
    def at_risk(self) -> str | None:
        """What would be lost with the worktree and its branch, in words; None: nothing."""
        parts = []
        if files := (*self.uncommitted, *self.untracked):
            parts.append(f"changes that are not committed ({named(files)})")
        if self.unmerged:
            parts.append(f"{self.unmerged} commit{'s'[: self.unmerged != 1]} not merged")
        if self.nested:
            parts.append(f"repositories inside it that were not examined ({named(self.nested)})")
        return " and ".join(parts) or None


@dataclass(frozen=True, slots=True)
class Difference:
    """What an agent changed since its branch left `into`, committed or not."""

    branch: str
    into: str
    commits: int
    standing: CheckoutState
    text: str


@dataclass(frozen=True, slots=True)
class MergeResult:
    """How many commits of `branch` came into `into`; `commit` is where that stands now."""

    branch: str
    into: str
    commits: int
    commit: str


def named(files: tuple[str, ...]) -> str:
    """Some of them, by name."""
    more = f" and {len(files) - _MOST_NAMED} more" if len(files) > _MOST_NAMED else ""
    return ", ".join(files[:_MOST_NAMED]) + more
