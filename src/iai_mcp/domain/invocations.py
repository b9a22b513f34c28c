"""What the wiring of one launch is made from, and what it gives back. Pure values.

A host's wiring is a function `wire(launch: Invocation) -> LaunchWiring`: which arguments, variables
and files make that program start with this agent's context and the shared memory.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from iai_mcp.domain.launching import RunFile

_NO_ENV: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class MemoryWiring:
    """How this machine's memory is reached.

    `bridge` starts the MCP server; `hook` starts a hook, given the host and the event as its last
    words; `env` is what both need to find the same memory, and to know who speaks.
    """

    bridge: tuple[str, ...]
    hook: tuple[str, ...]
    env: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Resume:
    """Take up the last conversation.

    `host_session_id` is the host's own id of it, as its hooks last reported it. `assigned_id` is
    the one the last launch gave; the host may have moved on from it since.
    """

    host_session_id: str | None = None
    assigned_id: str | None = None


@dataclass(frozen=True, slots=True)
class Invocation:
    """One launch as a host's wiring sees it. `trusted`: the person said so for this project."""

    agent_id: str
    agent_name: str
    session_id: str
    project: str
    run_dir: str
    memory: MemoryWiring
    prompt: str | None = None
    resume: Resume | None = None
    trusted: bool = False

    def in_run_dir(self, path: str) -> str:
        return f"{self.run_dir}/{path}"


@dataclass(frozen=True, slots=True)
class LaunchWiring:
    """What a host's wiring adds to the profile's own command.

    `types_prompt`: the program takes no first prompt by itself, so it is typed into the terminal.
    """

    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=lambda: _NO_ENV)
    files: tuple[RunFile, ...] = ()
    types_prompt: bool = False


@dataclass(frozen=True, slots=True)
class HostTraits:
    """What a launch has to know about a host beforehand.

    `session_start_hook`: what was remembered comes in by it, so the context need not carry it.
    `asks_trust`: it asks whether to trust a directory it has not seen.
    `verified`: the version whose flags were checked against the real program.
    """

    session_start_hook: bool = False
    asks_trust: bool = False
    verified: str | None = None
    untrusted: str | None = None
