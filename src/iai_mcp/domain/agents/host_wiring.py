"""What the wiring of one launch is made from, and what it gives back. Pure values.

A host's wiring is a function `wire(launch: Invocation) -> LaunchWiring`: which arguments, variables
and files make that program start with this agent's context and the shared memory.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from iai_mcp.domain.agents.launch import RunFile
from iai_mcp.domain.errors import InvalidInput
from iai_mcp.domain.foreign_text import is_seen, quoted

_NO_ENV: Mapping[str, str] = MappingProxyType({})
# Hosts name their conversations by UUIDs or short words of this kind; never an option.
_CONVERSATION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}\Z")
# What programs put something else in place of when they read their own configuration: variables,
# what a command prints, another file ($NAME, ${NAME}, $(command), `command`, {env:…}, {file:…}).
_REPLACED = re.compile(r"\$[\w({]|`|\{(?:env|file):")


def is_conversation(text: str) -> bool:
    """Whether `text` can be a host's id of a conversation, safe in any place of a command line."""
    return _CONVERSATION.match(text) is not None


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

    def __post_init__(self) -> None:
        for given in (self.host_session_id, self.assigned_id):
            if given is not None and not is_conversation(given):
                raise InvalidInput(f"{quoted(given)} can not be the id of a conversation")


@dataclass(frozen=True, slots=True)
class NothingSaid:
    """The conversation is known and empty: a host keeps none of those, so a new one is the same."""


def conversation_in(notes: str, session: str) -> "str | NothingSaid | None":
    """Which conversation a terminal session was in last, by its hooks' notes; None: they told nothing.

    One line each: the session, the conversation, and whether it had only `begun` or something was
    `said` in it.
    """
    found: str | NothingSaid | None = None
    for line in notes.splitlines():
        words = line.split()
        if len(words) != 3 or words[0] != session or not is_conversation(words[1]):
            continue
        if words[2] == "said":
            found = words[1]
        elif found is None:
            found = NothingSaid()
    return found


@dataclass(frozen=True, slots=True)
class Invocation:
    """One launch as a host's wiring sees it. `trusted`: the person said so for this project.

    `workplace` is where the agent changes files, if that is not the project itself.

    Name and project may be of somebody else's choosing, and both end up in a program's configuration
    or on its command line: whatever would mean something there is refused.
    """

    agent_id: str
    agent_name: str
    session_id: str
    project: str
    run_dir: str
    memory: MemoryWiring
    prompt: str | None = None
    resume: Resume | None = None
    trusted: bool = False
    workplace: str | None = None

    def __post_init__(self) -> None:
        for what, value in (
            ("an agent's name", self.agent_name),
            ("a project's path", self.project),
        ):
            if not is_seen(value) or _REPLACED.search(value):
                raise InvalidInput(
                    f"{quoted(value)} can not be {what}: programs would put something else in its "
                    "place, so rename it"
                )
        if not self.project.startswith("/") or not self.run_dir.startswith("/"):
            raise InvalidInput(f"a project's path is absolute, and {quoted(self.project)} is not")

    @property
    def place(self) -> str:
        """Where the agent changes files."""
        return self.workplace or self.project

    def in_run_dir(self, path: str) -> str:
        return f"{self.run_dir}/{path}"


@dataclass(frozen=True, slots=True)
class LaunchWiring:
    """What a host's wiring adds to the profile's own command.

    `types_prompt`: the program takes no first prompt by itself, so it is typed into the terminal.
    `keeps`: what the program is told to keep in the run directory itself.
    """

    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=lambda: _NO_ENV)
    files: tuple[RunFile, ...] = ()
    types_prompt: bool = False
    keeps: tuple[str, ...] = ()


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
