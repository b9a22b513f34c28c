"""`AgentRuntime` for programs on this person's PATH."""

import os
import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from iai_mcp.child_environment import without_secrets
from iai_mcp.domain.agents.host_wiring import HostTraits, Invocation
from iai_mcp.domain.agents.launch import (
    ArgsPlan,
    ContextInjectionPlan,
    EnvPlan,
    FilePlan,
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
from iai_mcp.domain.errors import InvalidInput
from iai_mcp.hosts import catalogue

# Node programs take about a second to say their version, on a loaded machine several.
PATIENCE_SECONDS = 10.0
_VERSION = re.compile(r"\d+(?:\.\d+)+[\w.+-]*")
_CONTEXT = "context.md"


class LocalRuntime:
    """Finds programs the way the person's shell would, in the environment given."""

    def __init__(self, environ: Mapping[str, str], patience: float = PATIENCE_SECONDS) -> None:
        self._environ = environ
        self._patience = patience

    def find(self, profile: AgentProfile) -> str | None:
        return self._which(profile.command)

    def _which(self, command: str) -> str | None:
        found = shutil.which(command, path=self._environ.get("PATH", os.defpath))
        return str(Path(found).absolute()) if found else None

    def detect(self, profiles: Sequence[AgentProfile]) -> Sequence[Detection]:
        if not profiles:
            return []
        with ThreadPoolExecutor(max_workers=len(profiles)) as pool:
            return list(pool.map(self._detect, profiles))

    def _detect(self, profile: AgentProfile) -> Detection:
        path = self.find(profile)
        if path is None:
            return Detection(profile.id, installed=False)
        if profile.detect is None:
            return Detection(profile.id, installed=True, path=path)
        try:
            words = shlex.split(profile.detect)
        except ValueError as error:
            return Detection(profile.id, installed=True, path=path, problem=str(error).lower())
        program = path if words[0] == profile.command else self._which(words[0])
        if program is None:
            return Detection(profile.id, True, path, problem=f"there is no {words[0]} to ask")
        said, problem = self._ask([program, *words[1:]])
        found = _VERSION.search(said)
        return Detection(profile.id, True, path, found.group() if found else None, problem)

    def _ask(self, command: list[str]) -> tuple[str, str | None]:
        """What the program says, and what was wrong with that."""
        try:
            process = subprocess.Popen(
                command,
                env=without_secrets(self._environ),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as refused:
            return "", f"it can not be started ({refused.strerror})"
        with process:
            try:
                output, _ = process.communicate(timeout=self._patience)
            except subprocess.TimeoutExpired:
                # Wrappers leave children that hold the pipe: the whole group has to go.
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
                return "", f"it did not answer within {self._patience:g} s"
        problem = f"it ended with code {process.returncode}" if process.returncode else None
        return output.decode(errors="replace"), problem

    def traits(self, profile: AgentProfile) -> HostTraits:
        return catalogue.launchable(profile).traits

    def types_prompt(self, profile: AgentProfile, launch: Invocation) -> bool:
        return catalogue.launchable(profile).wire(launch).types_prompt

    def prepare_invocation(self, profile: AgentProfile, launch: Invocation, cwd: str) -> SpawnSpec:
        known = catalogue.launchable(profile)
        wiring = known.wire(launch)
        plan = _context_plan(profile, launch)
        # A program nobody knows that is typed at reads no configuration either.
        files = () if known is catalogue.ANY_PROGRAM and plan == StdinPlan() else wiring.files
        context_args = plan.args if isinstance(plan, ArgsPlan) else ()
        context_env = plan.env if isinstance(plan, EnvPlan) else {}
        return SpawnSpec(
            command=profile.command,
            args=(*profile.args, *context_args, *wiring.args),
            cwd=cwd,
            env={**launch.memory.env, **wiring.env, **context_env},
            context_plan=plan,
            files=files,
            keeps=wiring.keeps,
        )

    def record_trust(self, profile: AgentProfile, project: str) -> None:
        record = catalogue.launchable(profile).record_trust
        if record is not None:
            record(project)


def _context_plan(profile: AgentProfile, launch: Invocation) -> ContextInjectionPlan:
    injection = profile.injection
    match injection:
        case ConventionFile(target):
            return FilePlan(target)
        case Flag(flag):
            if catalogue.takes_text(profile, flag):
                raise InvalidInput(
                    f"{profile.name} takes the text of {flag} on its command line, where everybody "
                    "can read it: give the profile a convention_file instead"
                )
            named = catalogue.file_flag(profile, flag)
            return ArgsPlan((named, launch.in_run_dir(_CONTEXT)), _CONTEXT)
        case EnvVariable(var):
            return EnvPlan({var: launch.in_run_dir(_CONTEXT)}, _CONTEXT)
        case Stdin():
            return StdinPlan()
