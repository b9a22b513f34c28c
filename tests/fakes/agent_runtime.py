"""A runtime for programs that do not exist."""

from collections.abc import Sequence

from iai_mcp.domain.agents.host_wiring import HostTraits, Invocation
from iai_mcp.domain.agents.launch import (
    ArgsPlan,
    ContextInjectionPlan,
    EnvPlan,
    FilePlan,
    RunFile,
    SpawnSpec,
    StdinPlan,
)
from iai_mcp.domain.agents.profile import (
    AgentProfile,
    ConventionFile,
    Detection,
    EnvVariable,
    Flag,
    Stdin,
)


class FakeRuntime:
    """Everything is installed, except the commands in `missing`."""

    def __init__(self, *, missing: Sequence[str] = (), traits: HostTraits | None = None) -> None:
        self.missing = set(missing)
        self.host_traits = traits or HostTraits()
        self.trusted: list[str] = []

    def find(self, profile: AgentProfile) -> str | None:
        return None if profile.command in self.missing else f"/bin/{profile.command}"

    def detect(self, profiles: Sequence[AgentProfile]) -> Sequence[Detection]:
        return [
            Detection(p.id, self.find(p) is not None, self.find(p), "1.0" if p.detect else None)
            for p in profiles
        ]

    def traits(self, profile: AgentProfile) -> HostTraits:
        return self.host_traits

    def types_prompt(self, profile: AgentProfile, launch: Invocation) -> bool:
        return True

    def prepare_invocation(self, profile: AgentProfile, launch: Invocation, cwd: str) -> SpawnSpec:
        plan = _plan(profile, launch)
        return SpawnSpec(
            command=profile.command,
            args=(*profile.args, *(plan.args if isinstance(plan, ArgsPlan) else ())),
            cwd=cwd,
            env={**launch.memory.env, **(plan.env if isinstance(plan, EnvPlan) else {})},
            context_plan=plan,
            files=(RunFile("config/memory.json", "{}\n"),),
        )

    def record_trust(self, profile: AgentProfile, project: str) -> None:
        self.trusted.append(project)


def _plan(profile: AgentProfile, launch: Invocation) -> ContextInjectionPlan:
    match profile.injection:
        case ConventionFile(target):
            return FilePlan(target)
        case Flag(flag):
            return ArgsPlan((flag, launch.in_run_dir("context.md")), "context.md")
        case EnvVariable(var):
            return EnvPlan({var: launch.in_run_dir("context.md")}, "context.md")
        case Stdin():
            return StdinPlan()
