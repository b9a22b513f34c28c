"""Gemini CLI connected (hooks and server in one `settings.json`) and launched (workspace settings in
its run directory)."""

import os

from iai_mcp.domain.agents.host_wiring import HostTraits, Invocation, LaunchWiring
from iai_mcp.domain.agents.launch import RunFile
from iai_mcp.domain.agents.profile import AgentProfile, ConventionFile
from iai_mcp.hosts.commands import Commands, hook_groups, server_entry
from iai_mcp.hosts.config_files.entries import ConfigFile, Hooks, JsonFile
from iai_mcp.hosts.gemini import HOOKS, HOST, folder
from iai_mcp.hosts.host import in_home
from iai_mcp.hosts.launch import (
    Launchable,
    grouped_hooks,
    json_file,
    mcp_servers,
    one_of_a_list,
    session_arguments,
)
from iai_mcp.hosts.skill import skill_in

_TRUST = "gemini-trust.json"


def files(commands: Commands) -> tuple[ConfigFile, ...]:
    hooks = Hooks(
        ("hooks",), hook_groups(commands, HOST.id, HOOKS.timeouts(), HOOKS.matchers, name="iai-mcp")
    )
    path = os.path.join(folder(), "settings.json")
    return (
        JsonFile(path, entries=(server_entry(commands, "mcpServers"),), hooks=hooks),
        skill_in(in_home(".agents"), "skills"),
    )


def launch() -> Launchable:
    return Launchable(
        AgentProfile(
            id=HOST.id,
            name=HOST.title,
            command="gemini",
            injection=ConventionFile("GEMINI.md"),
            detect="gemini -v",
            host=HOST.id,
            install="npm install -g @google/gemini-cli",
        ),
        HostTraits(
            session_start_hook=True,
            asks_trust=True,
            verified=HOST.seen,
            untrusted="Gemini CLI ignores the settings of a directory it does not trust, "
            "memory included",
        ),
        _wire,
    )


def _wire(launch: Invocation) -> LaunchWiring:
    timeouts = HOOKS.timeouts(launched=True)
    settings = {
        **mcp_servers(launch.memory),
        "hooks": grouped_hooks(launch.memory, HOST.id, timeouts, name="iai-mcp"),
        "general": {"enableAutoUpdate": False},
    }
    files: tuple[RunFile, ...] = (json_file(".gemini/settings.json", settings),)
    env: dict[str, str] = {}
    if launch.trusted:
        # `--skip-trust` comes too late for settings and says nothing about included directories.
        files = (*files, json_file(_TRUST, {launch.project: "TRUST_FOLDER"}))
        env = {"GEMINI_CLI_TRUSTED_FOLDERS_PATH": launch.in_run_dir(_TRUST)}
    return LaunchWiring(
        args=(
            "--include-directories",
            one_of_a_list(launch.place),
            *session_arguments(launch, latest=("--resume", "latest")),
            *(() if launch.prompt is None else (f"--prompt-interactive={launch.prompt}",)),
        ),
        env=env,
        files=files,
    )
