"""Launching an agent: inject, spawn, type, tell. A step that fails takes back those before it."""

from collections.abc import Callable
from dataclasses import dataclass

from iai_mcp.agents.launch_plan import LaunchPlan, last_launch
from iai_mcp.domain.agent_events import AgentLaunched
from iai_mcp.domain.errors import IaiError
from iai_mcp.domain.terminals import Phase, SessionLabel, SessionStatus, TerminalSession
from iai_mcp.ports.agent_contexts import AgentContextStore
from iai_mcp.ports.agent_runtime import AgentRuntime
from iai_mcp.ports.clock import Clock
from iai_mcp.ports.event_bus import EventBus
from iai_mcp.ports.file_system import FileSystem
from iai_mcp.ports.pty import PtyPort


@dataclass(frozen=True, slots=True)
class LaunchAgent:
    contexts: AgentContextStore
    runtime: AgentRuntime
    files: FileSystem
    pty: PtyPort
    clock: Clock
    events: EventBus

    def __call__(self, plan: LaunchPlan, *, detached: bool = True) -> TerminalSession:
        """Make the plan true. When this raises, no process and no new file is left."""
        undo = self._inject(plan)
        label = SessionLabel(
            agent_id=plan.agent.id,
            agent_name=plan.agent.name,
            profile_id=plan.profile.id,
            host=plan.host,
            project=plan.project.text,
        )
        try:
            if plan.trusted:
                self.runtime.record_trust(plan.profile, plan.project.text)
            session_id = self.pty.spawn(
                plan.spec, plan.size, session_id=plan.session_id, detached=detached, label=label
            )
        except IaiError:
            undo()
            raise
        if plan.typed:
            try:
                self.pty.write(session_id, plan.typed)
            except IaiError:
                self.pty.kill(session_id)
                undo()
                raise
        session = TerminalSession(
            session_id, label, SessionStatus(Phase.RUNNING), plan.size, self.clock.now_ms()
        )
        self.events.publish(AgentLaunched(plan.agent.id, session_id))
        return session

    def _inject(self, plan: LaunchPlan) -> Callable[[], None]:
        """Write the run directory; returns what takes it back."""
        made: list[str] = []

        def undo() -> None:
            for path in reversed(made):
                self.files.remove(path)

        # Under the lock, so that an agent deleted meanwhile does not leave a run directory.
        with self.contexts.exclusive(plan.project):
            self.contexts.load_manifest(plan.project).by_id(plan.agent.id)
            try:
                if not self.files.exists(plan.run_dir):
                    made.append(plan.run_dir)
                self.files.create_dir_all(plan.run_dir)
                self._clear_stale(plan)
                for file in plan.files:
                    self._write(f"{plan.run_dir}/{file.path}", file.text, made)
                self._write(plan.project.launch_record(plan.agent.id), plan.record, made)
            except IaiError:
                undo()
                raise
        return undo

    def _clear_stale(self, plan: LaunchPlan) -> None:
        """Files of an earlier launch that this one does not write: the profile has changed."""
        record = last_launch(self.files, plan.project, plan.agent.id) or {}
        earlier = record.get("files")
        wanted = {file.path for file in plan.files}
        for path in earlier if isinstance(earlier, list) else []:
            if isinstance(path, str) and path not in wanted and not _leaves(path):
                self.files.remove(f"{plan.run_dir}/{path}")

    def _write(self, path: str, text: str, made: list[str]) -> None:
        self.files.create_dir_all(path.rpartition("/")[0])
        if not self.files.exists(path):
            made.append(path)
        self.files.write(path, text.encode())


def _leaves(path: str) -> bool:
    """Whether a recorded path, which anybody may have edited, would leave the run directory."""
    return path.startswith("/") or any(part in ("", ".", "..") for part in path.split("/"))
