"""The composition root of the agents half: which adapter serves which port."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from iai_mcp import paths
from iai_mcp.adapters.agent_runtime import LocalRuntime
from iai_mcp.adapters.agent_world import (
    DaemonMemory,
    JournalEventBus,
    SystemMillisecondClock,
    UuidIds,
)
from iai_mcp.adapters.bounded_stat import look_at
from iai_mcp.adapters.files.agent_contexts import FileAgentContextStore
from iai_mcp.adapters.files.documents import FileSkillStore, FileTemplateStore
from iai_mcp.adapters.files.local import LocalFileSystem
from iai_mcp.adapters.files.user_documents import FileProfileStore, FileProjectStore
from iai_mcp.adapters.git_worktrees import GitWorktrees
from iai_mcp.agents.agents import Agents
from iai_mcp.agents.launch import LaunchAgent
from iai_mcp.agents.launch_plan import PlanLaunch
from iai_mcp.agents.launch_records import Launches
from iai_mcp.agents.profiles import Profiles
from iai_mcp.agents.projects import ProjectList, nearest_project
from iai_mcp.agents.removal import DeleteAgent, PruneRuns
from iai_mcp.agents.template_sync import SyncAgent
from iai_mcp.agents.worktrees import AgentWorktrees
from iai_mcp.domain.agents.host_wiring import MemoryWiring
from iai_mcp.domain.errors import NotFound
from iai_mcp.domain.projects.identity import is_elsewhere
from iai_mcp.domain.projects.project import HERE, ProjectPath, RemoteRef
from iai_mcp.hosts import commands
from iai_mcp.hosts.catalogue import PROFILES
from iai_mcp.ports.agent_stores import ProfileStore, ProjectStore, SkillStore, TemplateStore
from iai_mcp.ports.agent_world import AgentRuntime, EventBus
from iai_mcp.ports.file_system import FilesBelow
from iai_mcp.ports.pty import Sessions
from iai_mcp.ports.worktrees import Worktrees
from iai_mcp.terminal.pty import HolderPty

if TYPE_CHECKING:
    from iai_mcp.remote.machine import Machine
    from iai_mcp.remote.pty import RemotePty


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
    projects: ProjectList
    profiles: Profiles
    agents: Agents
    worktrees: AgentWorktrees
    delete: DeleteAgent
    prune: PruneRuns
    sync: SyncAgent
    plan: PlanLaunch
    launch: LaunchAgent
    machine: "Machine | None" = None

    def project(self, named: str | None, cwd: str) -> ProjectPath:
        """The project a person means: the directory they named, else the one around `cwd`.

        Raises:
            NotFound, PlaceSilent: it is not there, or does not answer.
        """
        if self.machine is not None:
            path = RemoteRef.split(named)[1] if named and is_elsewhere(named) else named
            return ProjectPath(str(self.machine.call("project", path=path or "~")))
        return look_at(named or cwd, lambda: self._found(named, cwd))

    def _found(self, named: str | None, cwd: str) -> ProjectPath:
        if named is None:
            return nearest_project(self.files, ProjectPath(str(Path(cwd).resolve())))
        path = Path(cwd, named).expanduser().resolve()
        if not path.is_dir():
            raise NotFound(f"there is no directory {path}: make it, or name another with --project")
        return ProjectPath(str(path))


def workspace_of(project: str | None) -> Workspace:
    """The workspace of the machine that a project is on; `ssh://…` names one on another."""
    if not is_elsewhere(project):
        return open_workspace()
    from iai_mcp.remote.machine import Machine

    return open_workspace(Machine.of(RemoteRef.split(project or "")[0]))


@dataclass(frozen=True, slots=True)
class _Place:
    """What a project's machine offers."""

    files: FilesBelow
    pty: "HolderPty | RemotePty"
    git: Worktrees
    runtime: AgentRuntime
    searched: str
    launches: Launches
    wiring: Callable[[Mapping[str, str]], MemoryWiring]
    name: str  # `ssh://…`; nothing for this machine


def _here() -> _Place:
    own = partial(LocalFileSystem, own=True)
    return _Place(
        files=LocalFileSystem,
        pty=HolderPty(),
        git=GitWorktrees(),
        runtime=LocalRuntime(os.environ),
        searched="your PATH",
        launches=Launches(own, paths.user_data),
        wiring=memory_wiring,
        name="",
    )


def _there(machine: "Machine") -> _Place:
    from iai_mcp.remote.ports import RemoteFiles, RemoteRuntime, RemoteWorktrees
    from iai_mcp.remote.pty import RemotePty

    own = partial(RemoteFiles, machine, own=True)
    return _Place(
        files=partial(RemoteFiles, machine),
        pty=RemotePty(machine),
        git=RemoteWorktrees(machine),
        runtime=RemoteRuntime(machine),
        searched=f"the PATH of your login shell on {machine.remote.machine}",
        # Over there: the hooks of its agents note there which conversation each is in.
        launches=Launches(own, lambda: machine.hello().text("user_data")),
        wiring=partial(far_wiring, machine),
        name=str(machine.remote),
    )


def open_workspace(machine: "Machine | None" = None) -> Workspace:
    """What the environment names, on this machine or another; nothing is read or written yet.

    What is a person's own (profiles, templates, the list of projects) is always here.
    """
    clock, ids = SystemMillisecondClock(), UuidIds()
    place = _here() if machine is None else _there(machine)
    # A project may come from anybody; the user data is this person's alone.
    files, pty, own = place.files, place.pty, partial(LocalFileSystem, own=True)
    events = JournalEventBus(paths.user_data, clock)
    contexts = FileAgentContextStore(files)
    launches, runtime = place.launches, place.runtime
    worktrees = AgentWorktrees(contexts, place.git, files, own, paths.user_data)
    templates = FileTemplateStore(files, own, paths.user_data)
    skills = FileSkillStore(files, own, paths.user_data)
    project_store = FileProjectStore(own, paths.user_data, place.name)
    profile_store = FileProfileStore(own, paths.user_data)
    profiles = Profiles(PROFILES, profile_store, runtime, place.searched)
    return Workspace(
        files=files,
        project_store=project_store,
        profile_store=profile_store,
        templates=templates,
        skills=skills,
        sessions=pty,
        events=events,
        projects=ProjectList(project_store, ids, clock, machine.remote if machine else HERE),
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
            memory=DaemonMemory(place.name),
            ids=ids,
            wiring=place.wiring,
        ),
        launch=LaunchAgent(contexts, runtime, files, launches, worktrees, pty, pty, clock, events),
        machine=machine,
    )


def far_wiring(machine: "Machine", variables: Mapping[str, str]) -> MemoryWiring:
    """The same for a program on another machine: by what runs of us over there."""
    from iai_mcp.remote.json_fields import Fields

    theirs = Fields({"wiring": machine.call("wiring")}).below("wiring")
    env = theirs.strings("env")
    named = {"IAI_MCP_MACHINE": str(machine.remote)}
    return MemoryWiring(theirs.texts("bridge"), theirs.texts("hook"), {**variables, **env, **named})


def memory_wiring(variables: Mapping[str, str]) -> MemoryWiring:
    """How a launched program reaches the memory that this process would reach."""
    ours = commands.current()
    return MemoryWiring(ours.bridge, ours.hook, {**variables, **ours.env})
