"""The use cases of the agents half on fakes."""

from typing import Any

from tests.fakes.agent_contexts import FakeAgentContextStore
from tests.fakes.agent_runtime import FakeRuntime
from tests.fakes.clock import FakeClock
from tests.fakes.documents import FakeSkillStore, FakeTemplateStore
from tests.fakes.event_bus import FakeEventBus
from tests.fakes.file_system import FakeDisk
from tests.fakes.ids import FakeIds
from tests.fakes.profiles import FakeProfileStore
from tests.fakes.pty import FakePty
from tests.fakes.shared_memory import FakeSharedMemory

from iai_mcp.adapters.git_worktrees import GitWorktrees
from iai_mcp.agents.agents import Agents, NewAgent
from iai_mcp.agents.launch import LaunchAgent
from iai_mcp.agents.launch_plan import LaunchPlan, LaunchRequest, PlanLaunch
from iai_mcp.agents.launch_records import Launches
from iai_mcp.agents.profiles import Profiles
from iai_mcp.agents.removal import DeleteAgent, PruneRuns
from iai_mcp.agents.template_sync import SyncAgent
from iai_mcp.agents.worktrees import AgentWorktrees
from iai_mcp.domain.agents.agent import Agent
from iai_mcp.domain.agents.host_wiring import HostTraits, MemoryWiring
from iai_mcp.domain.agents.profile import AgentProfile, ConventionFile, EnvVariable, Flag, Stdin
from iai_mcp.domain.agents.terminal import TerminalSession
from iai_mcp.domain.projects.project import ProjectPath

PROJECT = ProjectPath("/p")
BY_FILE = AgentProfile(
    "by-file", "By file", "tool", ConventionFile("TOOL.md"), install="get the tool"
)
BY_FLAG = AgentProfile("by-flag", "By flag", "tool", Flag("--read"))
BY_ENV = AgentProfile("by-env", "By env", "tool", EnvVariable("CTX"))
BY_STDIN = AgentProfile("by-stdin", "By stdin", "tool", Stdin())
AT_ROOT = AgentProfile(
    "at-root", "At root", "tool", ConventionFile("TOOL.md"), cwd_template="{projectRoot}"
)


class Workbench:
    """Every fake and every use case; `launch` plans and executes."""

    def __init__(self, *, traits: HostTraits | None = None) -> None:
        self.contexts = FakeAgentContextStore()
        self.templates, self.skills = FakeTemplateStore(), FakeSkillStore()
        self.files, self.pty = FakeDisk(), FakePty()
        self.events, self.ids, self.clock = FakeEventBus(), FakeIds("id"), FakeClock()
        self.memory = FakeSharedMemory()
        self.runtime = FakeRuntime(traits=traits)
        self.profile_store = FakeProfileStore()
        builtin = (BY_FILE, BY_FLAG, BY_ENV, BY_STDIN, AT_ROOT)
        self.profiles = Profiles(builtin, self.profile_store, self.runtime, "your PATH")
        self.agents = Agents(self.contexts, self.templates, self.skills, self.ids, self.events)
        self.launches = Launches(self.files, lambda: "/data")
        # No agent here has a worktree: git is never asked.
        self.worktrees = AgentWorktrees(
            self.contexts, GitWorktrees(), self.files, self.files, lambda: "/data"
        )
        self.delete = DeleteAgent(
            *(self.contexts, self.files, self.launches, self.worktrees),
            *(self.pty, self.pty, self.events),
        )
        self.prune = PruneRuns(self.contexts, self.files, self.launches, self.worktrees, self.pty)
        self.sync = SyncAgent(self.contexts, self.templates, self.events)
        self.plan = PlanLaunch(
            contexts=self.contexts,
            profiles=self.profiles,
            skills=self.skills,
            templates=self.templates,
            runtime=self.runtime,
            launches=self.launches,
            worktrees=self.worktrees,
            sessions=self.pty,
            memory=self.memory,
            ids=self.ids,
            wiring=lambda env: MemoryWiring(("py", "bridge"), ("py", "hook"), env),
        )
        self.execute = LaunchAgent(
            self.contexts,
            self.runtime,
            self.files,
            self.launches,
            self.worktrees,
            self.pty,
            self.pty,
            self.clock,
            self.events,
        )
        self.files.make("/p")

    def agent(
        self, name: str = "Ada", *, profile: str = "by-file", context: str = "I am Ada.\n"
    ) -> Agent:
        return self.agents.create(PROJECT, NewAgent(name, profile, context))

    def planned(self, agent: Agent, **more: Any) -> LaunchPlan:
        return self.plan(LaunchRequest(PROJECT, agent.id, **more))

    def launch(self, agent: Agent, **more: object) -> TerminalSession:
        return self.execute(self.planned(agent, **more))

    def run_once(self, agent: Agent, **more: object) -> None:
        """Launched, and ended again."""
        self.pty.kill(self.launch(agent, **more).id)
