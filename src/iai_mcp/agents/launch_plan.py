"""Planning a launch: everything that can be refused is refused here, before anything is touched."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from iai_mcp.agents.launch_records import Launches, launch_key
from iai_mcp.agents.live_sessions import require_at_rest
from iai_mcp.agents.profiles import Profiles
from iai_mcp.agents.worktrees import AgentWorktrees
from iai_mcp.domain.agents.agent import Agent, FromTemplate
from iai_mcp.domain.agents.context_document import Composition, Skill, compose, typed_persona
from iai_mcp.domain.agents.host_wiring import (
    HostTraits,
    Invocation,
    MemoryWiring,
    NothingSaid,
    Resume,
)
from iai_mcp.domain.agents.launch import (
    ArgsPlan,
    EnvPlan,
    FilePlan,
    LaunchRecord,
    RunFile,
    SpawnSpec,
    StdinPlan,
)
from iai_mcp.domain.agents.profile import AgentProfile
from iai_mcp.domain.agents.terminal import TerminalSize
from iai_mcp.domain.errors import Busy, InvalidInput, NotFound, NotInstalled
from iai_mcp.domain.projects.project import ProjectPath
from iai_mcp.ports.agent_stores import AgentContextStore, SkillStore, TemplateStore
from iai_mcp.ports.agent_world import AgentRuntime, IdGenerator, SharedMemory
from iai_mcp.ports.file_system import LARGEST_FILE
from iai_mcp.ports.pty import Sessions

DAEMON_DOWN = (
    "the memory daemon is not running: the agent starts without what was remembered, and what it "
    "says is kept until 'iai-mcp up'"
)


@dataclass(frozen=True, slots=True)
class LaunchRequest:
    """`worktree`: the branch of a checkout to give to the agent, `""` for one that is named after it.

    `resumed_session`: take up the conversation of that one (the beginning of its id), not the last.

    `rehearsal`: only a plan is wanted, so nobody is asked for anything that leaves a trace.
    """

    project: ProjectPath
    agent: str
    size: TerminalSize = field(default_factory=TerminalSize)
    prompt: str | None = None
    resume: bool = False
    resumed_session: str | None = None
    worktree: str | None = None
    trusted: bool = False
    rehearsal: bool = False


@dataclass(frozen=True, slots=True)
class LaunchPlan:
    """Everything a launch will do. `files` are relative to `run_dir`.

    `record` is what the next launch and `agent resume` have to know of this one.
    """

    project: ProjectPath
    agent: Agent
    profile: AgentProfile
    session_id: str
    run_dir: str
    spec: SpawnSpec
    files: tuple[RunFile, ...]
    record: LaunchRecord
    typed: bytes
    size: TerminalSize
    host: str | None
    trusted: bool
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlanLaunch:
    """Prepare: what to start, write and type for one agent. Reads, and changes nothing."""

    contexts: AgentContextStore
    profiles: Profiles
    skills: SkillStore
    templates: TemplateStore
    runtime: AgentRuntime
    launches: Launches
    worktrees: AgentWorktrees
    sessions: Sessions
    memory: SharedMemory
    ids: IdGenerator
    wiring: Callable[[Mapping[str, str]], MemoryWiring]

    def __call__(self, request: LaunchRequest) -> LaunchPlan:
        """What a launch would start, write and type. Touches nothing.

        Raises:
            NotFound: agent, profile, context or skill is not there.
            NotInstalled: the program is not on the PATH (a rehearsal notes it instead).
            Busy: the agent runs already (a rehearsal notes it instead).
            InvalidInput: the persona can not be given to this program.
        """
        project = request.project
        agent = self.contexts.load_manifest(project).named(request.agent)
        if request.worktree is not None:
            agent = self.worktrees.assigned(project, agent.id, request.worktree or None)
        workplace = self.worktrees.workplace(project, agent)
        profile = self.profiles.named(agent.profile_id)
        persona = self.contexts.read_context(project, agent.context_path)
        run_dir = project.run_dir(agent.id)
        missing = self.profiles.missing(profile)
        if not request.rehearsal:
            if missing:
                raise NotInstalled(missing)
            require_at_rest(self.sessions, project, agent)
        launch = self._invocation(request, agent, profile, run_dir, workplace)
        spec = self.runtime.prepare_invocation(profile, launch, profile.cwd(run_dir, workplace))
        traits = self.runtime.traits(profile)
        typed = self._typed(profile, launch, spec, persona)
        files = (*spec.files, *self._context(request, agent, launch, traits, spec, persona))
        return LaunchPlan(
            project=project,
            agent=agent,
            profile=profile,
            session_id=launch.session_id,
            run_dir=run_dir,
            spec=spec,
            files=files,
            record=LaunchRecord(
                launch.session_id,
                tuple(file.path for file in files),
                launch.resume.host_session_id if launch.resume else None,
            ),
            typed=typed,
            size=request.size,
            host=profile.host,
            trusted=request.trusted,
            notes=self._notes(request, agent, profile, traits, missing, launch),
        )

    def _invocation(
        self,
        request: LaunchRequest,
        agent: Agent,
        profile: AgentProfile,
        run_dir: str,
        workplace: str,
    ) -> Invocation:
        session_id = self.ids.new()
        variables = {
            "IAI_MCP_AGENT_ID": agent.id,
            "IAI_MCP_AGENT_NAME": agent.name,
            "IAI_MCP_PROJECT": request.project.text,
            "IAI_MCP_SESSION_ID": session_id,
            "IAI_MCP_AGENT_PROFILE": profile.id,
            "IAI_MCP_LAUNCH": launch_key(request.project, agent.id),
        }
        if request.prompt is not None:
            variables["IAI_MCP_PROMPTED"] = "1"  # its session is at work from the start
        return Invocation(
            agent_id=agent.id,
            agent_name=agent.name,
            session_id=session_id,
            project=request.project.text,
            run_dir=run_dir,
            workplace=workplace,
            memory=self.wiring(variables),
            prompt=request.prompt,
            resume=self._conversation(request, agent),
            trusted=request.trusted,
        )

    def _conversation(self, request: LaunchRequest, agent: Agent) -> Resume | None:
        """What to take up; None for a new conversation."""
        if not request.resume:
            return None
        wanted = request.resumed_session
        known = self.launches.conversation(request.project, agent.id, wanted)
        if isinstance(known, NothingSaid):
            return None
        last = self.launches.last(request.project, agent.id)
        # Of a session that told nothing, the latest conversation is its own if none came after it.
        if known and last and (known.host_session_id or known.assigned_id == last.session_id):
            return known
        if wanted:
            raise NotFound(
                f"no conversation of a session '{wanted}' of {agent.name} is known: 'iai-mcp agent "
                f"resume {shlex.quote(agent.slug)}' takes up the last one"
            )
        raise NotFound(
            f"you have not launched {agent.name} here yet, so there is nothing to resume: "
            f"'iai-mcp agent launch {shlex.quote(agent.slug)}' starts it"
        )

    def _typed(
        self, profile: AgentProfile, launch: Invocation, spec: SpawnSpec, persona: str
    ) -> bytes:
        typed = typed_persona(persona) if isinstance(spec.context_plan, StdinPlan) else b""
        if launch.prompt is not None and self.runtime.types_prompt(profile, launch):
            typed += typed_persona(launch.prompt) + b"\r"
        return typed

    def _context(
        self,
        request: LaunchRequest,
        agent: Agent,
        launch: Invocation,
        traits: HostTraits,
        spec: SpawnSpec,
        persona: str,
    ) -> tuple[RunFile, ...]:
        plan = spec.context_plan
        if not isinstance(plan, FilePlan | ArgsPlan | EnvPlan):
            return ()
        remembered = None
        if not traits.session_start_hook and not request.rehearsal:
            remembered = self.memory.session_start(launch.project, agent.id, launch.session_id)
        document = compose(
            Composition(
                agent_name=agent.name,
                project=launch.project,
                workplace=launch.place,
                branch=agent.worktree,
                run_dir=launch.run_dir,
                persona=persona,
                skills=self._skills(request.project, agent),
                remembered=remembered,
            )
        )
        return (RunFile(plan.target, document),)

    def _skills(self, project: ProjectPath, agent: Agent) -> Sequence[Skill]:
        found: list[Skill] = []
        left = LARGEST_FILE
        for name in agent.skills:
            found.append(self.skills.get(project, name))
            left -= len(found[-1].text)
            if left < 0:
                raise InvalidInput(
                    f"the skills of {agent.name} are too large together: at most "
                    f"{LARGEST_FILE >> 20} MB can be used"
                )
        return found

    def _notes(
        self,
        request: LaunchRequest,
        agent: Agent,
        profile: AgentProfile,
        traits: HostTraits,
        missing: str | None,
        launch: Invocation,
    ) -> tuple[str, ...]:
        notes = [missing] if missing else []
        if request.resume and launch.resume is None:
            notes.append(
                f"nothing was said in that session: {agent.name} starts a conversation anew"
            )
        elif launch.resume and not launch.resume.host_session_id and traits.session_start_hook:
            notes.append(
                f"{profile.name} did not tell which conversation it was in: it takes up the latest of "
                "the run directory"
            )
        try:
            require_at_rest(self.sessions, request.project, agent)
        except Busy as running:
            notes.append(running.message)
        if not self.memory.is_up():
            notes.append(DAEMON_DOWN)
        if traits.asks_trust and not request.trusted:
            notes.append(
                f"{profile.name} may ask whether to trust the run directory; "
                "--trust answers yes for this project from now on"
                + (f". {traits.untrusted}" if traits.untrusted else "")
            )
        if profile.cwd(request.project.run_dir(agent.id), "") == "":
            notes.append(
                f"{profile.name} starts in the project and does not see the context in the run "
                "directory by itself"
            )
        newer = self._newer_template(request.project, agent)
        return (*notes, newer) if newer else tuple(notes)

    def _newer_template(self, project: ProjectPath, agent: Agent) -> str | None:
        if not agent.synchronized or not isinstance(agent.origin, FromTemplate):
            return None
        try:
            current = self.templates.current(project, agent.origin.id)
        except NotFound:
            return None
        if current.version <= agent.origin.version:
            return None
        return (
            f"template '{current.id}' has version {current.version} and {agent.name} follows "
            f"{agent.origin.version}: 'iai-mcp agent sync {shlex.quote(agent.slug)}' shows the difference"
        )
