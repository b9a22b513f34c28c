"""Qwen Code connected (Gemini CLI's settings file) and launched (workspace settings in its run
directory)."""

import os

from iai_mcp.domain.agents.host_wiring import HostTraits, Invocation, LaunchWiring
from iai_mcp.domain.agents.profile import AgentProfile, ConventionFile
from iai_mcp.hosts.commands import Commands, hook_groups, server_entry
from iai_mcp.hosts.config_files.entries import ConfigFile, Hooks, JsonFile
from iai_mcp.hosts.launch import (
    Launchable,
    grouped_hooks,
    json_file,
    mcp_servers,
    one_of_a_list,
    session_arguments,
)
from iai_mcp.hosts.qwen import HOOKS, HOST, folder
from iai_mcp.hosts.skill import skill_in


def files(commands: Commands) -> tuple[ConfigFile, ...]:
    hooks = Hooks(("hooks",), hook_groups(commands, HOST.id, HOOKS.timeouts(), name="iai-mcp"))
    path = os.path.join(folder(), "settings.json")
    return (
        JsonFile(path, entries=(server_entry(commands, "mcpServers"),), hooks=hooks),
        skill_in(folder(), "skills"),
    )


def launch() -> Launchable:
    return Launchable(
        AgentProfile(
            id=HOST.id,
            name=HOST.title,
            command="qwen",
            injection=ConventionFile("QWEN.md"),
            detect="qwen --version",
            host=HOST.id,
            install="npm install -g @qwen-code/qwen-code",
        ),
        HostTraits(session_start_hook=True, verified=HOST.seen),
        _wire,
        text_flags=frozenset({"--append-system-prompt", "--system-prompt"}),
    )


def _wire(launch: Invocation) -> LaunchWiring:
    timeouts = HOOKS.timeouts(launched=True)
    settings = {
        **mcp_servers(launch.memory),
        "hooks": grouped_hooks(launch.memory, HOST.id, timeouts, name="iai-mcp"),
        "general": {"enableAutoUpdate": False},
    }
    return LaunchWiring(
        args=(
            "--include-directories",
            one_of_a_list(launch.place),
            *session_arguments(launch),
            *(() if launch.prompt is None else (f"--prompt-interactive={launch.prompt}",)),
        ),
        files=(json_file(".qwen/settings.json", settings),),
    )
