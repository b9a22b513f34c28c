"""Launching an agent: inject, spawn, type, tell. A step that fails takes back those before it."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from iai_mcp.agents.launch_plan import LaunchPlan
from iai_mcp.agents.launch_records import Launches
from iai_mcp.agents.live_sessions import require_at_rest
from iai_mcp.agents.worktrees import AgentWorktrees
from iai_mcp.domain.agents.agent import Agent
from iai_mcp.domain.agents.events import AgentLaunched
from iai_mcp.domain.agents.terminal import (
    SessionLabel,
    SessionPhase,
    SessionStatus,
    TerminalSession,
)
from iai_mcp.domain.errors import IaiError
from iai_mcp.domain.projects.project import ProjectPath, run_path
from iai_mcp.ports.agent_stores import AgentContextStore
from iai_mcp.ports.agent_world import AgentRuntime, EventBus, MillisecondClock
from iai_mcp.ports.file_system import FilesBelow, FileSystem
from iai_mcp.ports.pty import PtyPort, Sessions


@dataclass(frozen=True, slots=True)
class LaunchAgent:
    contexts: AgentContextStore
    runtime: AgentRuntime
    files: FilesBelow
    launches: Launches
    worktrees: AgentWorktrees
    sessions: Sessions
    pty: PtyPort
    clock: MillisecondClock
    events: EventBus

    def __call__(self, plan: LaunchPlan, *, detached: bool = True) -> TerminalSession:
        """Make the plan true. When this raises, no process and no new file is left.

        Raises:
            Busy: the agent runs already, perhaps since the plan was made.
        """
        label = SessionLabel(
            agent_id=plan.agent.id,
            agent_name=plan.agent.name,
            profile_id=plan.profile.id,
            host=plan.host,
            project=plan.project.text,
        )
        with ExitStack() as undo:
            # Under the lock, so that of two launches one sees the other, and an agent deleted meanwhile
            # does not leave a run directory.
            with self.contexts.exclusive(plan.project):
                agent = self.contexts.load_manifest(plan.project).by_id(plan.agent.id)
                require_at_rest(self.sessions, plan.project, agent)
                self._check_out(plan, agent, undo)
                self._inject(plan, undo)
                if plan.trusted:
                    self.runtime.record_trust(plan.profile, plan.project.text)
                session_id = self.pty.spawn(
                    plan.spec, plan.size, session_id=plan.session_id, detached=detached, label=label
                )
            if plan.typed:
                try:
                    self.pty.write(session_id, plan.typed)
                except IaiError:
                    self.pty.kill(session_id)
                    raise
            undo.pop_all()
        session = TerminalSession(
            session_id, label, SessionStatus(SessionPhase.RUNNING), plan.size, self.clock.now_ms()
        )
        self.events.publish(AgentLaunched(plan.agent.id, session_id))
        return session

    def _check_out(self, plan: LaunchPlan, agent: Agent, undo: ExitStack) -> None:
        """Make the agent's worktree where the plan has one, and remember that it has."""
        project, wanted = plan.project, replace(agent, worktree=plan.agent.worktree)
        if self.worktrees.ensure(project, wanted):
            undo.callback(self.worktrees.take_back, project, wanted)
        if wanted != agent:
            self._save(project, wanted)
            undo.callback(self._save, project, agent)

    def _save(self, project: ProjectPath, agent: Agent) -> None:
        manifest = self.contexts.load_manifest(project)
        self.contexts.save_manifest(project, manifest.with_changed(agent))

    def _inject(self, plan: LaunchPlan, undo: ExitStack) -> None:
        """Write the run directory and the record; `undo` takes them back."""
        project, agent_id = plan.project, plan.agent.id
        files = self.files(project.text)
        made: list[str] = []
        earlier = self.launches.last(project, agent_id)

        def take_back() -> None:
            for path in reversed(made):
                files.remove(path)
            if earlier is None:
                self.launches.forget(project, agent_id)
            else:
                self.launches.save(project, agent_id, earlier)

        undo.callback(take_back)
        _fill(files, plan, earlier.files if earlier else (), made)
        self.launches.save(project, agent_id, plan.record)


def _fill(files: FileSystem, plan: LaunchPlan, earlier: Sequence[str], made: list[str]) -> None:
    """Make the run directory what the plan says; what was not there before goes into `made`."""
    run = run_path(plan.agent.id)
    wanted = [file.path for file in plan.files]
    _note_new(files, run, made)
    files.create_dir_all(run)
    for path in (*wanted, *plan.spec.keeps):
        files.require_plain(f"{run}/{path}")
    # What an earlier launch wrote and this one does not: the profile has changed.
    for path in set(earlier).difference(wanted):
        files.remove(f"{run}/{path}")
    for file in plan.files:
        path = f"{run}/{file.path}"
        files.create_dir_all(path.rpartition("/")[0])
        _note_new(files, path, made)
        files.write(path, file.text.encode())


def _note_new(files: FileSystem, path: str, made: list[str]) -> None:
    if not files.exists(path):
        made.append(path)
