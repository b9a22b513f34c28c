"""The composition root of the agents half: which adapter serves which port."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from iai_mcp import paths
from iai_mcp.adapters.agent_runtime import LocalRuntime
from iai_mcp.adapters.agent_world import DaemonMemory, JournalEventBus, SystemClock, UuidIds
from iai_mcp.adapters.files.agent_contexts import FileAgentContextStore
from iai_mcp.adapters.files.documents import FileSkillStore, FileTemplateStore
from iai_mcp.adapters.files.local import LocalFileSystem
from iai_mcp.adapters.files.user_documents import FileProfileStore, FileProjectStore
from iai_mcp.adapters.git_worktrees import GitWorktrees
from iai_mcp.adapters.looks import look_at
from iai_mcp.agents.agents import Agents
from iai_mcp.agents.launch import LaunchAgent
from iai_mcp.agents.launch_plan import PlanLaunch
from iai_mcp.agents.launches import Launches
from iai_mcp.agents.profiles import Profiles
from iai_mcp.agents.projects import Projects, nearest_project
from iai_mcp.agents.removal import DeleteAgent, PruneRuns
from iai_mcp.agents.synchronizing import SyncAgent
from iai_mcp.agents.worktrees import AgentWorktrees
from iai_mcp.domain.errors import NotFound
from iai_mcp.domain.invocations import MemoryWiring
from iai_mcp.domain.projects import ProjectPath
from iai_mcp.hosts import wiring
from iai_mcp.hosts.catalogue import PROFILES
from iai_mcp.ports.agent_stores import ProfileStore, ProjectStore, SkillStore, TemplateStore
from iai_mcp.ports.agent_world import EventBus
from iai_mcp.ports.file_system import FilesBelow
from iai_mcp.ports.pty import Sessions
from iai_mcp.terminal.pty import HolderPty


@dataclass(frozen=True, slots=True)
class Workspace:
    """Every use case of the agents half, ready to be called."""

    files: FilesBelow
    project_store: ProjectStore
    profile_store: ProfileStore
    templates: TemplateStore
    skills: SkillStore
    sessions: Sessions
    events: EventBus
    projects: Projects
    profiles: Profiles
    agents: Agents
    worktrees: AgentWorktrees
    delete: DeleteAgent
    prune: PruneRuns
    sync: SyncAgent
    plan: PlanLaunch
    launch: LaunchAgent

    def project(self, named: str | None, cwd: str) -> ProjectPath:
        """The project a person means: the directory they named, else the one around `cwd`.

        Raises:
            NotFound, PlaceSilent: it is not there, or does not answer.
        """
        return look_at(named or cwd, lambda: self._found(named, cwd))

    def _found(self, named: str | None, cwd: str) -> ProjectPath:
        if named is None:
            return nearest_project(self.files, ProjectPath(str(Path(cwd).resolve())))
        path = Path(cwd, named).expanduser().resolve()
        if not path.is_dir():
            raise NotFound(f"there is no directory {path}: make it, or name another with --project")
        return ProjectPath(str(path))


def open_workspace(environ: Mapping[str, str] | None = None) -> Workspace:
    """What the environment names; nothing is read or written yet."""
    surroundings = os.environ if environ is None else environ
    clock, ids, pty = SystemClock(), UuidIds(), HolderPty()
    # A project may come from anybody; the user data is this person's alone.
    files, own = LocalFileSystem, partial(LocalFileSystem, own=True)
    events = JournalEventBus(paths.user_data, clock)
    contexts = FileAgentContextStore(files)
    launches = Launches(own, paths.user_data)
    worktrees = AgentWorktrees(contexts, GitWorktrees(), files, own, paths.user_data)
    templates = FileTemplateStore(files, own, paths.user_data)
    skills = FileSkillStore(files, own, paths.user_data)
    project_store = FileProjectStore(own, paths.user_data)
    profile_store = FileProfileStore(own, paths.user_data)
    runtime = LocalRuntime(surroundings)
    profiles = Profiles(PROFILES, profile_store, runtime)
    return Workspace(
        files=files,
        project_store=project_store,
        profile_store=profile_store,
        templates=templates,
        skills=skills,
        sessions=pty,
        events=events,
        projects=Projects(project_store, ids, clock),
        profiles=profiles,
        agents=Agents(contexts, templates, skills, ids, events),
        worktrees=worktrees,
        delete=DeleteAgent(contexts, files, launches, worktrees, pty, pty, events),
        prune=PruneRuns(contexts, files, launches, worktrees, pty),
        sync=SyncAgent(contexts, templates, events),
        plan=PlanLaunch(
            contexts=contexts,
            profiles=profiles,
            skills=skills,
            templates=templates,
            runtime=runtime,
            launches=launches,
            worktrees=worktrees,
            sessions=pty,
            memory=DaemonMemory(),
            ids=ids,
            wiring=memory_wiring,
        ),
        launch=LaunchAgent(contexts, runtime, files, launches, worktrees, pty, pty, clock, events),
    )


def memory_wiring(variables: Mapping[str, str]) -> MemoryWiring:
    """How a launched program reaches the memory that this process would reach."""
    ours = wiring.current()
    return MemoryWiring(ours.bridge, ours.hook, {**variables, **ours.env})
