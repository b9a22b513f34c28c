"""Copilot CLI connected (hooks in `settings.json`, the server in `mcp-config.json`) and launched (a
server file by flag)."""

import os

from iai_mcp.domain.agents.host_wiring import HostTraits, Invocation, LaunchWiring
from iai_mcp.domain.agents.profile import AgentProfile, ConventionFile
from iai_mcp.hosts.commands import Commands, server_entry
from iai_mcp.hosts.config_files.entries import ConfigFile, Hooks, JsonFile
from iai_mcp.hosts.config_files.jsonc import Json
from iai_mcp.hosts.copilot import HOOKS, HOST, folder
from iai_mcp.hosts.host import in_home
from iai_mcp.hosts.launch import Launchable, json_file, mcp_servers
from iai_mcp.hosts.skill import skill_in

_SERVERS = "copilot-mcp.json"


def files(commands: Commands) -> tuple[ConfigFile, ...]:
    items = {name: _hook(commands, name, timeout) for name, timeout in HOOKS.timeouts().items()}
    server = server_entry(commands, "mcpServers", type="local", tools=["*"])
    return (
        JsonFile(os.path.join(folder(), "settings.json"), hooks=Hooks(("hooks",), items)),
        JsonFile(os.path.join(folder(), "mcp-config.json"), entries=(server,)),
        skill_in(in_home(".agents"), "skills"),
    )


def _hook(commands: Commands, name: str, timeout: int) -> Json:
    return {"type": "command", "bash": commands.hook_line(HOST.id, name), "timeoutSec": timeout}


def launch() -> Launchable:
    return Launchable(
        AgentProfile(
            id=HOST.id,
            name=HOST.title,
            command="copilot",
            injection=ConventionFile("AGENTS.md"),
            detect="copilot --version",
            host=HOST.id,
            install="npm install -g @github/copilot",
        ),
        HostTraits(asks_trust=True, verified=HOST.seen),
        _wire,
    )


def _wire(launch: Invocation) -> LaunchWiring:
    return LaunchWiring(
        args=(
            "--additional-mcp-config",
            f"@{launch.in_run_dir(_SERVERS)}",
            "--add-dir",
            launch.place,
            *_session(launch),
            *(() if launch.prompt is None else (f"--interactive={launch.prompt}",)),
        ),
        env={"COPILOT_AUTO_UPDATE": "false"},
        files=(json_file(_SERVERS, mcp_servers(launch.memory, type="local", tools=["*"])),),
    )


def _session(launch: Invocation) -> tuple[str, ...]:
    if launch.resume is None:
        return (f"--session-id={launch.session_id}",)
    # `--continue` would take the latest session of any directory, another agent's too.
    known = launch.resume.host_session_id or launch.resume.assigned_id
    return (f"--resume={known}",) if known else ("--resume",)
