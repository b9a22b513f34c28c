"""Cursor connected (hooks in `hooks.json`, the server in `mcp.json`), and its command line launched
(`.cursor/` in its run directory)."""

import os

from iai_mcp.domain.agents.host_wiring import HostTraits, Invocation, LaunchWiring
from iai_mcp.domain.agents.profile import AgentProfile, ConventionFile
from iai_mcp.hosts.commands import Commands, server_entry
from iai_mcp.hosts.config_files.entries import ConfigFile, Hooks, JsonFile
from iai_mcp.hosts.config_files.jsonc import Json
from iai_mcp.hosts.cursor import HOOKS, HOST, folder, hooks_file
from iai_mcp.hosts.launch import (
    Launchable,
    after_options,
    commands_of,
    in_arrays,
    json_file,
    mcp_servers,
    session_arguments,
)
from iai_mcp.hosts.skill import skill_in


def files(commands: Commands) -> tuple[ConfigFile, ...]:
    hooks = Hooks(("hooks",), _hooks(commands, launched=False))
    server = server_entry(commands, "mcpServers")
    return (
        JsonFile(hooks_file(), hooks=hooks, frame={"version": 1}),
        JsonFile(os.path.join(folder(), "mcp.json"), entries=(server,)),
        skill_in(folder(), "skills"),
    )


def _hooks(commands: Commands, *, launched: bool) -> dict[str, Json]:
    names = HOOKS.timeouts(launched=launched)
    return {name: {"command": commands.hook_line(HOST.id, name)} for name in names}


def launch() -> Launchable:
    return Launchable(
        AgentProfile(
            id=HOST.id,
            name="Cursor CLI",
            command="cursor-agent",
            injection=ConventionFile("AGENTS.md"),
            detect="cursor-agent --version",
            host=HOST.id,
            install="curl https://cursor.com/install -fsS | bash",
        ),
        HostTraits(session_start_hook=True, asks_trust=True),
        _wire,
    )


def _wire(launch: Invocation) -> LaunchWiring:
    hooks = in_arrays(_hooks(commands_of(launch.memory), launched=True))
    return LaunchWiring(
        args=(*session_arguments(launch, latest=("resume",)), *after_options(launch.prompt)),
        files=(
            json_file(".cursor/mcp.json", mcp_servers(launch.memory)),
            json_file(".cursor/hooks.json", {"version": 1, "hooks": hooks}),
        ),
    )
