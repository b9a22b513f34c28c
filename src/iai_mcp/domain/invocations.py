"""What the wiring of one launch is made from, and what it gives back. Pure values.

A host's wiring is a function `wire(launch: Invocation) -> Wiring`: which arguments, variables
and files make that program start with this agent's context and the shared memory.
"""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from iai_mcp.domain.launching import RunFile

SERVER_NAME = "iai-mcp"

_NO_ENV: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class MemoryWiring:
    """How this machine's memory is reached: the bridge, the hooks, and the variables they need."""

    python: str
    env: Mapping[str, str]

    @property
    def bridge(self) -> tuple[str, ...]:
        return (self.python, "-m", "iai_mcp.bridge")

    def hook(self, host: str, event: str) -> tuple[str, ...]:
        return (self.python, "-m", "iai_mcp.cli", "hook", host, event)

    def hook_line(self, host: str, event: str) -> str:
        """The hook as one shell command: every version of every host runs those."""
        return shlex.join(self.hook(host, event))


@dataclass(frozen=True, slots=True)
class Invocation:
    """One launch as a host's wiring sees it."""

    agent_id: str
    agent_name: str
    session_id: str
    project: str
    run_dir: str
    context_file: str | None
    memory: MemoryWiring
    prompt: str | None = None
    resume: "Resume | None" = None
    trusted: bool = False

    def in_run_dir(self, path: str) -> str:
        return f"{self.run_dir}/{path}"


@dataclass(frozen=True, slots=True)
class Resume:
    """Take up the last conversation; by the host's own id of it where we know that."""

    host_session_id: str | None = None


@dataclass(frozen=True, slots=True)
class Wiring:
    """What a host's wiring adds to the profile's own command.

    `types_prompt`: the program takes no first prompt by itself, so it is typed into the terminal.
    """

    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=lambda: _NO_ENV)
    files: tuple[RunFile, ...] = ()
    types_prompt: bool = False
    notes: tuple[str, ...] = ()
