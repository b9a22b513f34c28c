"""The need for checkouts side by side: one repository, a directory and a branch for each agent."""

from typing import Protocol

from iai_mcp.domain.agents.worktrees import CheckoutState, Difference, MergeResult
from iai_mcp.domain.projects.project import ProjectPath


class Worktrees(Protocol):
    """Checkouts below a project, each at a `path` relative to it.

    A repository may come from anybody: nothing that it configures is run. What can not be had without
    running it is refused with an `InvalidInput` that names the setting; what git itself refuses is an
    `IoFailed` with git's own words.
    """

    def workplace(self, project: ProjectPath, path: str) -> str:
        """Where in the checkout at `path` the project is, as an absolute path; it need not be there yet.

        Raises:
            InvalidInput: the project is in no git repository, or one without a commit.
        """
        ...

    def prepare(self, project: ProjectPath, path: str, branch: str) -> bool:
        """Make the checkout, on `branch` (made from where the project stands if there is none).

        Whether it was made now: one that is there stays as it is.

        Raises:
            Busy: the branch is checked out elsewhere.
        """
        ...

    def standing(self, project: ProjectPath, path: str, branch: str | None) -> CheckoutState:
        """What would be lost with the checkout at `path`, and with `branch` if one is named."""
        ...

    def difference(self, project: ProjectPath, path: str, into: str | None) -> Difference:
        """What was changed there since it left `into`; None: the branch that the project itself is on.

        Raises:
            NotFound: there is no such branch.
        """
        ...

    def merge(self, project: ProjectPath, path: str, branch: str, into: str | None) -> MergeResult:
        """Merge `branch`, which is what is checked out at `path` if anything is.

        All or nothing: whatever is refused leaves every branch, checkout and file as it was.

        Raises:
            Conflict: both sides changed the same lines; names the files.
            InvalidInput: something else is checked out there.
            Busy: what is not committed in the checkout of `into` would be written over.
            NotFound: there is no such branch.
        """
        ...

    def remove(self, project: ProjectPath, path: str, branch: str | None) -> None:
        """Remove the checkout with all that is in it, and `branch` if one is named. Gone is fine."""
        ...
