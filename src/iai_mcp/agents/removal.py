"""Deleting agents, and clearing away what deleted ones left."""

from collections.abc import Sequence
from dataclasses import dataclass

from iai_mcp.agents.launch_records import Launches
from iai_mcp.agents.live_sessions import live_sessions
from iai_mcp.agents.worktrees import AgentWorktrees
from iai_mcp.domain.agents.agent import Agent, context_path_of, is_agent_id
from iai_mcp.domain.agents.events import AgentDeleted
from iai_mcp.domain.agents.worktrees import worktree_path
from iai_mcp.domain.errors import Busy, IaiError
from iai_mcp.domain.projects.project import PROJECT_DATA, RUNS, ProjectPath, run_path
from iai_mcp.ports.agent_stores import AgentContextStore
from iai_mcp.ports.agent_world import EventBus
from iai_mcp.ports.file_system import FilesBelow
from iai_mcp.ports.pty import PtyPort, Sessions


@dataclass(frozen=True, slots=True)
class DeleteAgent:
    """Entry, context, run directory and worktree go."""

    contexts: AgentContextStore
    files: FilesBelow
    launches: Launches
    worktrees: AgentWorktrees
    sessions: Sessions
    pty: PtyPort
    events: EventBus

    def __call__(self, project: ProjectPath, reference: str, *, force: bool = False) -> Agent:
        """
        Raises:
            NotFound: there is no such agent, or no longer.
            Busy: it runs, or has work that is nowhere else, and `force` was not given.
        """
        agent = self.contexts.load_manifest(project).named(reference)
        running = live_sessions(self.sessions, project, agent.id)
        if running and not force:
            raise Busy(
                f"{agent.name} is running (session {running[0].id}): end it with "
                f"'iai-mcp session kill {running[0].id}', or delete with --force"
            )
        for session in running:
            self.pty.kill(session.id)
        with self.contexts.exclusive(project):
            self.worktrees.remove(project, agent, force=force)
            manifest = self.contexts.load_manifest(project)
            self.contexts.save_manifest(project, manifest.without(agent.id))
            self.contexts.remove_context(project, agent.context_path)
            self.files(project.text).remove(run_path(agent.id))
            self.launches.forget(project, agent.id)
        self.events.publish(AgentDeleted(agent.id, project.text))
        return agent


@dataclass(frozen=True, slots=True)
class Pruned:
    """What was found without its counterpart. Only run directories and worktrees are ever removed.

    `worktrees_kept` are those with work that is nowhere else, each with what that is.
    """

    run_dirs: tuple[str, ...]
    worktrees: tuple[str, ...]
    worktrees_kept: tuple[tuple[str, str], ...]
    contexts_without_agent: tuple[str, ...]
    agents_without_context: tuple[Agent, ...]


@dataclass(frozen=True, slots=True)
class PruneRuns:
    """Remove run directories and worktrees of agents that are gone; report what else does not match."""

    contexts: AgentContextStore
    files: FilesBelow
    launches: Launches
    worktrees: AgentWorktrees
    sessions: Sessions

    def __call__(
        self, project: ProjectPath, *, dry_run: bool = False, force: bool = False
    ) -> Pruned:
        """`force`: worktrees go with whatever is in them."""
        entries = self.contexts.load_manifest(project).entries
        files = self.files(project.text)
        if dry_run or not files.exists(PROJECT_DATA):
            return self._find(project, entries, force=force)
        with self.contexts.exclusive(project):
            found = self._find(project, self.contexts.load_manifest(project).entries, force=force)
            for path in found.run_dirs:
                agent_id = path.rpartition("/")[2]
                files.remove(run_path(agent_id))
                self.launches.forget(project, agent_id)
            for gone in self.worktrees.orphans(project, entries):
                if f"{project}/{worktree_path(gone.slug)}" in found.worktrees:
                    self.worktrees.remove(project, gone, force=force)
        return found

    def _find(self, project: ProjectPath, entries: Sequence[Agent], *, force: bool) -> Pruned:
        ids = {agent.id for agent in entries}
        known = ids | {s.label.agent_id or "" for s in self.sessions.all() if s.status.alive}
        slugs = self.contexts.context_slugs(project)
        runs = [n for n in self.files(project.text).list(RUNS) if is_agent_id(n)]
        # By its session nobody can tell which worktree it has: all of them wait for its end.
        running = any(
            session.label.agent_id not in ids
            for session in live_sessions(self.sessions, project)
            if session.label.agent_id
        )
        orphans = {
            f"{project}/{worktree_path(gone.slug)}": "an agent that is gone still runs"
            if running
            else self._at_risk(project, gone, force=force)
            for gone in self.worktrees.orphans(project, entries)
        }
        return Pruned(
            run_dirs=tuple(project.run_dir(n) for n in runs if n not in known),
            worktrees=tuple(path for path, at_risk in orphans.items() if at_risk is None),
            worktrees_kept=tuple((path, why) for path, why in orphans.items() if why is not None),
            contexts_without_agent=tuple(
                context_path_of(slug) for slug in sorted(slugs - {a.slug for a in entries})
            ),
            agents_without_context=tuple(a for a in entries if a.slug not in slugs),
        )

    def _at_risk(self, project: ProjectPath, gone: Agent, *, force: bool) -> str | None:
        if force:
            return None
        try:
            return self.worktrees.standing(project, gone).at_risk
        except IaiError as unknown:
            return unknown.message
