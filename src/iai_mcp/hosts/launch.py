"""`Launchable`, a host that agents can be launched on, and helpers for its arguments. Pure."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from iai_mcp.domain.agents.host_wiring import HostTraits, Invocation, LaunchWiring, MemoryWiring
from iai_mcp.domain.agents.launch import RunFile
from iai_mcp.domain.agents.profile import AgentProfile
from iai_mcp.domain.errors import InvalidInput
from iai_mcp.domain.foreign_text import quoted
from iai_mcp.hosts.commands import SERVER, Commands, hook_groups
from iai_mcp.hosts.config_files.jsonc import Json


@dataclass(frozen=True, slots=True)
class Launchable:
    """One host as it can be launched.

    `file_flags`: flags of its own that take a text, each with the variant that takes a file.
    `text_flags`: flags that take nothing but the text itself, where everybody could read it.
    """

    profile: AgentProfile
    traits: HostTraits
    wire: Callable[[Invocation], LaunchWiring]
    record_trust: Callable[[str], None] | None = None
    file_flags: Mapping[str, str] = field(default_factory=dict)
    text_flags: frozenset[str] = frozenset()


def json_file(path: str, value: Mapping[str, object]) -> RunFile:
    return RunFile(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def commands_of(memory: MemoryWiring) -> Commands:
    """The same as the hosts' own configuration takes it."""
    return Commands(memory.hook, memory.bridge, dict(memory.env))


def stdio_server(memory: MemoryWiring) -> dict[str, object]:
    """The bridge as most hosts write it: command, arguments, environment."""
    command, *args = memory.bridge
    return {"command": command, "args": args, "env": dict(memory.env)}


def mcp_servers(memory: MemoryWiring, **more: object) -> dict[str, object]:
    """`{"mcpServers": {"iai-mcp": …}}`, the shape most hosts share."""
    return {"mcpServers": {SERVER: {**stdio_server(memory), **more}}}


def in_arrays(items: Mapping[str, Json]) -> dict[str, Json]:
    """One hook per event, each alone in its event's array."""
    return {event: [item] for event, item in items.items()}


def grouped_hooks(
    memory: MemoryWiring, host: str, timeouts: Mapping[str, int], **more: Json
) -> dict[str, Json]:
    """A whole `hooks` object in Claude Code's shape."""
    return in_arrays(hook_groups(commands_of(memory), host, timeouts, None, **more))


def one_of_a_list(directory: str) -> str:
    """A directory for an option that takes several with commas between them."""
    if "," in directory:
        raise InvalidInput(
            f"{quoted(directory)} has a comma, and this program would take it for two directories: "
            "rename it, or give the agent another profile"
        )
    return directory


def after_options(prompt: str | None) -> tuple[str, ...]:
    """A positional prompt, safe behind options that take several values."""
    return () if prompt is None else ("--", prompt)


def session_arguments(
    launch: Invocation,
    *,
    by_id: tuple[str, ...] = ("--resume",),
    latest: tuple[str, ...] = ("--continue",),
    new: tuple[str, ...] = (),
) -> tuple[str, ...]:
    """The arguments that choose a session: a new one, the one to resume by its id, or the latest.

    The latest is the agent's own: hosts look in the working directory, which is this agent's alone.
    """
    if launch.resume is None:
        return new
    if launch.resume.host_session_id:
        return (*by_id, launch.resume.host_session_id)
    return latest
