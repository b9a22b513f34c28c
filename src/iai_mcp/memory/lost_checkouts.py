"""Which repository a directory that is gone was of: learned from what was done there."""

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache

from iai_mcp.domain.errors import PlaceSilent
from iai_mcp.domain.projects.git_output import repositories
from iai_mcp.domain.projects.identity import is_path
from iai_mcp.domain.projects.missing_directories import Checkout, worktree_of, worktrees_lie_there
from iai_mcp.domain.work import Command, Edit, Looked, Work
from iai_mcp.ports.memories import Memories, Scope
from iai_mcp.ports.surroundings import Projects
from iai_mcp.ports.works import Works

_LOOKED_THROUGH = 400  # the newest edits and looks of a project
_EVERY = 16  # batches of a project: a history of many is not compared with itself at each of them


@dataclass(frozen=True, slots=True)
class LostCheckouts:
    """Notes where directories come from. One on this machine speaks for itself and is left alone."""

    works: Works
    memories: Memories
    projects: Projects
    _batches: Counter[str] = field(default_factory=Counter)

    def learn(self, done: Sequence[Work]) -> None:
        """What a batch of work tells: git's own words, else place, branch and files together."""
        for work in done:
            if isinstance(work.done, Command):
                with suppress(PlaceSilent):  # what was done there is stored all the same
                    self._take(work.done, work.done.cwd or work.provenance.project)
        for key in {work.provenance.project for work in done}:
            if is_path(key) and self._batches[key] % _EVERY == 0:
                with suppress(PlaceSilent):
                    self._compare(key)
            self._batches[key] += 1

    def _take(self, command: Command, cwd: str) -> None:
        if command.exit or command.failed or command.rejected:
            return
        for place, repository in repositories(command.command, command.output, cwd):
            key = self.projects.key_of("", place)
            at = self.projects.key_of("", repository) if repository.startswith("/") else repository
            if key != at:
                self.projects.comes_from(key, at)

    def _compare(self, key: str) -> None:
        """The project as a worktree of another one, and others as worktrees of it."""
        known = [one for one in self.memories.projects() if is_path(one)]
        checkout = cache(self._checkout)
        for lost in known:
            near = [one for one in known if worktrees_lie_there(lost, one)]
            if key in (lost, *near) and near and not self.projects.is_here(lost):
                main = worktree_of(checkout(lost), map(checkout, near))
                if main is not None:
                    self.projects.comes_from(lost, main, guessed=True)

    def _checkout(self, key: str) -> Checkout:
        newest = self.works.newest(Scope(projects=(key,)), ("edit", "looked"), _LOOKED_THROUGH)
        files: set[str] = set()
        for record in newest:
            match record.done:
                case Edit(path=path):
                    files.add(path)
                case Looked(paths=paths):
                    files.update(paths)
                case Command():
                    pass
        return Checkout(key, {record.provenance.branch for record in newest}, files)
