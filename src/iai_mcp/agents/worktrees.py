"""Agents that work in a checkout of their own: given, compared, merged, and never lost by accident."""

import fnmatch
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from iai_mcp.domain.agents.agent import Agent, context_path_of
from iai_mcp.domain.agents.worktrees import (
    WORKTREES,
    CheckoutState,
    Difference,
    MergeResult,
    own_branch,
    worktree_path,
)
from iai_mcp.domain.errors import Busy, IaiError, InvalidInput, IoFailed, NotFound
from iai_mcp.domain.foreign_text import branch_name, is_bare_file_name
from iai_mcp.domain.projects.project import ProjectPath
from iai_mcp.ports.agent_stores import AgentContextStore
from iai_mcp.ports.file_system import FilesBelow, FileSystem
from iai_mcp.ports.worktrees import Worktrees

# In the person's own data: a repository must not name files that are copied for its agents.
CARRIED = "worktree-files"


@dataclass(frozen=True, slots=True)
class AgentWorktrees:
    contexts: AgentContextStore
    git: Worktrees
    files: FilesBelow
    own: FilesBelow
    user_data: Callable[[], str]

    def assigned(self, project: ProjectPath, reference: str, branch: str | None) -> Agent:
        """The agent as it would be with a worktree on `branch` (None: one named after it). Pure.

        Raises:
            InvalidInput: it has one on another branch.
        """
        agent = self.contexts.load_manifest(project).named(reference)
        wanted = branch_name(branch) if branch else agent.worktree or own_branch(agent.slug)
        if agent.worktree not in (None, wanted):
            raise InvalidInput(
                f"{agent.name} has a worktree on '{agent.worktree}' already: merge or delete that first"
            )
        return replace(agent, worktree=wanted)

    def assign(self, project: ProjectPath, reference: str, branch: str | None) -> Agent:
        """Give an agent a worktree, and make it."""
        agent = self.assigned(project, reference, branch)
        with self.contexts.exclusive(project):
            made = self.ensure(project, agent)
            try:
                manifest = self.contexts.load_manifest(project)
                self.contexts.save_manifest(project, manifest.with_changed(agent))
            except IaiError:
                if made:
                    self.take_back(project, agent)
                raise
        return agent

    def ensure(self, project: ProjectPath, agent: Agent) -> bool:
        """Make the agent's worktree if it has none on disk; whether it was made now."""
        if agent.worktree is None:
            return False
        files = self.files(project.text)
        files.create_dir_all(worktree_path(agent.slug))  # over no link: git would follow it
        files.write(f"{WORKTREES}/.gitignore", b"*\n")
        made = self.git.prepare(project, worktree_path(agent.slug), agent.worktree)
        if made:
            below = self._below(project, agent)
            for name in self._carried(project):
                _copy(files, name, f"{below}/{name}")
        return made

    def place(self, project: ProjectPath, agent: Agent) -> str:
        """The agent's worktree, or the project itself."""
        return project.text if agent.worktree is None else f"{project}/{worktree_path(agent.slug)}"

    def workplace(self, project: ProjectPath, agent: Agent) -> str:
        """Where the agent changes files: its worktree, or the project itself."""
        if agent.worktree is None:
            return project.text
        return self.git.workplace(project, worktree_path(agent.slug))

    def difference(self, project: ProjectPath, reference: str, into: str | None) -> Difference:
        agent, _ = self._with_worktree(project, reference)
        target = branch_name(into) if into is not None else None
        found = self.git.difference(project, worktree_path(agent.slug), target)
        return replace(found, standing=self._without_carried(project, agent, found.standing))

    def merge(self, project: ProjectPath, reference: str, into: str | None) -> MergeResult:
        """
        Raises:
            Busy: the agent has changes that are not committed: they would be left behind.
            Conflict: both sides changed the same lines.
        """
        agent, branch = self._with_worktree(project, reference)
        target = branch_name(into) if into is not None else None
        with self.contexts.exclusive(project):
            left = replace(self.standing(project, agent), unmerged=0, nested=()).at_risk
            if left is not None:
                raise Busy(f"{agent.name} has {left}: commit them on '{branch}' first")
            return self.git.merge(project, worktree_path(agent.slug), branch, target)

    def standing(self, project: ProjectPath, agent: Agent) -> CheckoutState:
        """What would be lost with the agent's worktree."""
        if agent.worktree is None:
            return CheckoutState()
        found = self.git.standing(project, worktree_path(agent.slug), _own(agent))
        return self._without_carried(project, agent, found)

    def remove(self, project: ProjectPath, agent: Agent, *, force: bool = False) -> None:
        """
        Raises:
            Busy: work would be lost, and `force` was not given.
        """
        if agent.worktree is None:
            return
        at_risk = None if force else self.standing(project, agent).at_risk
        if at_risk is not None:
            name = shlex.quote(agent.slug)
            raise Busy(
                f"the worktree of {agent.name} has {at_risk}: 'iai-mcp agent diff {name}' shows it and "
                f"'iai-mcp agent merge {name}' brings it home; --force removes it"
            )
        try:
            self.git.remove(project, worktree_path(agent.slug), _own(agent))
        except IaiError:
            if not force:
                raise
            self.files(project.text).remove(worktree_path(agent.slug))

    def take_back(self, project: ProjectPath, agent: Agent) -> None:
        """Remove a worktree that was just made. Its branch may be older, and hold work: then both stay."""
        if self.standing(project, agent).at_risk is None:
            self.git.remove(project, worktree_path(agent.slug), _own(agent))

    def orphans(self, project: ProjectPath, entries: Sequence[Agent]) -> Sequence[Agent]:
        """What is left of agents that are gone, as agents of no other use."""
        known = {agent.slug for agent in entries if agent.worktree is not None}
        files = self.files(project.text)
        return [
            Agent("gone", "gone", context_path_of(name), "gone", worktree=own_branch(name))
            for name in files.list(WORKTREES)
            if name not in known
            and is_bare_file_name(name)
            and files.exists(f"{WORKTREES}/{name}/.git")
        ]

    def _below(self, project: ProjectPath, agent: Agent) -> str:
        """Where the project is in the agent's worktree, as a path below the project."""
        return self.workplace(project, agent).removeprefix(f"{project}/")

    def _with_worktree(self, project: ProjectPath, reference: str) -> tuple[Agent, str]:
        agent = self.contexts.load_manifest(project).named(reference)
        if agent.worktree is None:
            raise InvalidInput(
                f"{agent.name} works in the project itself: 'iai-mcp agent launch "
                f"{shlex.quote(agent.slug)} --worktree' gives it a worktree"
            )
        return agent, agent.worktree

    def _carried(self, project: ProjectPath) -> Iterator[str]:
        """The files of the project that the person's list names."""
        try:
            text = self.own(self.user_data()).read(CARRIED).decode(errors="replace")
        except NotFound:
            return
        files = self.files(project.text)
        for line in map(str.strip, text.splitlines()):
            parts = line.split("/")
            if line and not line.startswith(("#", "/")) and ".." not in parts:
                yield from _matching(files, "", parts)

    def _without_carried(
        self, project: ProjectPath, agent: Agent, standing: CheckoutState
    ) -> CheckoutState:
        """What was copied and not changed is no work."""
        if not standing.untracked:
            return standing
        files, below = self.files(project.text), self._below(project, agent)
        inside = below.removeprefix(worktree_path(agent.slug)).lstrip("/")
        same = {
            f"{inside}/{name}".lstrip("/")
            for name in self._carried(project)
            if _bytes(files, name) == _bytes(files, f"{below}/{name}")
        }
        return replace(standing, untracked=tuple(n for n in standing.untracked if n not in same))


def _own(agent: Agent) -> str | None:
    """The branch that goes with the agent; one that the person named is theirs and stays."""
    return agent.worktree if agent.worktree == own_branch(agent.slug) else None


def _matching(files: FileSystem, folder: str, parts: Sequence[str]) -> Iterator[str]:
    for name in files.list(folder):
        if not fnmatch.fnmatchcase(name, parts[0]):
            continue
        path = f"{folder}/{name}" if folder else name
        if len(parts) == 1:
            yield path
        else:
            try:
                yield from _matching(files, path, parts[1:])
            except IoFailed:
                continue  # a link, or a file where the list has a directory


def _bytes(files: FileSystem, path: str) -> bytes | None:
    try:
        return files.read(path)
    except (NotFound, IoFailed):
        return None  # a link, a directory, too large: nothing that is copied


def _copy(files: FileSystem, source: str, target: str) -> None:
    data = _bytes(files, source)
    if data is not None and not files.exists(target):
        files.create_dir_all(target.rpartition("/")[0], private=False)
        files.write(target, data)
