"""Codex connected and launched.

Connected: hooks in `hooks.json`, the server in `config.toml`. A launched one gets all of it as one-off
configuration by `-c`; nothing on disk changes.
"""

import hashlib
import json
import os
import re

from iai_mcp.domain.agents.host_wiring import HostTraits, Invocation, LaunchWiring
from iai_mcp.domain.agents.profile import AgentProfile, ConventionFile
from iai_mcp.hosts.codex import HOOKS, HOST, folder
from iai_mcp.hosts.commands import SERVER, Commands, hook_groups, server_entry
from iai_mcp.hosts.config_files.entries import ConfigFile, Hooks, JsonFile, TomlFile
from iai_mcp.hosts.host import in_home
from iai_mcp.hosts.launch import Launchable, after_options, commands_of, session_arguments
from iai_mcp.hosts.skill import skill_in

# Under this name Codex keeps the trust in hooks that came by `-c`.
_FLAGS = "/<session-flags>/config.toml"


def files(commands: Commands) -> tuple[ConfigFile, ...]:
    hooks = Hooks(("hooks",), hook_groups(commands, HOST.id, HOOKS.timeouts(), HOOKS.matchers))
    return (
        JsonFile(os.path.join(folder(), "hooks.json"), hooks=hooks),
        TomlFile(
            os.path.join(folder(), "config.toml"), entries=(server_entry(commands, "mcp_servers"),)
        ),
        skill_in(in_home(".agents"), "skills"),
    )


def has_plugin() -> bool:
    """Whether our plugin is installed and not turned off, by the person's own settings."""
    from iai_mcp.hosts.config_files import (
        edits,  # late: it needs tomlkit, which other machines lack
    )

    table = edits.data_of(TomlFile(os.path.join(folder(), "config.toml"))).get("plugins")
    plugins = table.items() if isinstance(table, dict) else ()
    return any(
        name.partition("@")[0] == SERVER
        and isinstance(plugin, dict)
        and plugin.get("enabled", True) is True
        for name, plugin in plugins
    )


def launch() -> Launchable:
    return Launchable(
        AgentProfile(
            id=HOST.id,
            name=HOST.title,
            command="codex",
            injection=ConventionFile("AGENTS.md"),
            detect="codex --version",
            host=HOST.id,
            install="npm install -g @openai/codex",
        ),
        HostTraits(
            session_start_hook=True,
            asks_trust=True,
            verified=HOST.seen,
            untrusted="Codex asks about the directory and about our hooks, and runs neither before",
        ),
        _wire,
    )


def _wire(launch: Invocation) -> LaunchWiring:
    command, *args = launch.memory.bridge
    server = f"mcp_servers.{SERVER}"
    timeouts = HOOKS.timeouts(launched=True)
    lines = {name: commands_of(launch.memory).hook_line(HOST.id, name) for name in timeouts}
    settings = [
        "check_for_update_on_startup=false",
        f"{server}.command={_toml_text(command)}",
        f"{server}.args={_toml_list(args)}",
        # By name: Codex hands servers few variables, and values would show in the process list.
        f"{server}.env_vars={_toml_list(list(launch.memory.env))}",
        *(f"hooks.{name}={_hook(lines[name], timeouts[name])}" for name in timeouts),
    ]
    if launch.trusted:
        vouched = (_vouched(name, lines[name], timeouts[name]) for name in timeouts)
        settings += [
            f'projects={{{_toml_text(launch.project)}={{trust_level="trusted"}}}}',
            f"hooks.state={{{','.join(vouched)}}}",
        ]
    else:
        # Codex ends at once over an --add-dir in a directory that it may only read, which is what it
        # takes one for that nobody trusts yet. By setting, it asks first.
        settings.append(f"sandbox_workspace_write.writable_roots={_toml_list([launch.place])}")
    overrides = [word for setting in settings for word in ("-c", setting)]
    added = ("--add-dir", launch.place) if launch.trusted else ()
    session = session_arguments(launch, by_id=("resume",), latest=("resume", "--last"))
    return LaunchWiring(args=(*overrides, *added, *session, *after_options(launch.prompt)))


def _hook(line: str, timeout: int) -> str:
    return f'[{{hooks=[{{type="command",command={_toml_text(line)},timeout={timeout}}}]}}]'


def _vouched(event: str, line: str, timeout: int) -> str:
    """Exactly this hook is trusted, by the fingerprint that Codex itself would keep."""
    name = re.sub("(?<!^)(?=[A-Z])", "_", event).lower()
    hook = {"async": False, "command": line, "timeout": timeout, "type": "command"}
    identity = {"event_name": name, "hooks": [hook]}
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return f'{_toml_text(f"{_FLAGS}:{name}:0:0")}={{trusted_hash="sha256:{digest}"}}'


def _toml_text(text: str) -> str:
    """A TOML string: JSON's escapes are a subset of TOML's."""
    return json.dumps(text, ensure_ascii=False)


def _toml_list(texts: list[str]) -> str:
    return "[" + ",".join(_toml_text(text) for text in texts) + "]"
