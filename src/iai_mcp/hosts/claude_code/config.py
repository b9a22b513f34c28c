"""Claude Code connected and launched.

Connected: hooks in `settings.json`, the server in `.claude.json`. A launched one gets settings and
servers of its own, by flags that add to the person's `~/.claude`, which stays untouched.
"""

import os

from iai_mcp.domain.agents.host_wiring import HostTraits, Invocation, LaunchWiring
from iai_mcp.domain.agents.profile import AgentProfile, ConventionFile
from iai_mcp.domain.errors import Busy
from iai_mcp.hosts.claude_code import HOOKS, HOST, folder
from iai_mcp.hosts.commands import SERVER, Commands, server_entry
from iai_mcp.hosts.config_files import files as edited
from iai_mcp.hosts.config_files import json_text
from iai_mcp.hosts.config_files.entries import ConfigFile, Hooks, JsonFile
from iai_mcp.hosts.config_files.jsonc import Json, parse
from iai_mcp.hosts.host import in_home
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
from iai_mcp.paths import home

# Reading our own memory is what the person asked for by launching; nothing that writes is here.
_READ_ONLY_TOOLS = ("memory_recall", "memory_timeline")

_SETTINGS = "claude-settings.json"
_SERVERS = "claude-mcp.json"
_ATTEMPTS = 5


def files(commands: Commands) -> tuple[ConfigFile, ...]:
    settings = os.path.join(folder(), "settings.json")
    return (
        JsonFile(settings, hooks=Hooks(("hooks",), hooks(commands, HOOKS.timeouts()))),
        # Without alwaysLoad the model sees our tools' names only, until it searches for tools.
        JsonFile(
            _global_file(),
            entries=(server_entry(commands, "mcpServers", type="stdio", alwaysLoad=True),),
        ),
        skill_in(folder(), "skills"),
    )


def has_plugin() -> bool:
    """Whether our plugin is installed and not turned off, by the person's own settings."""
    from iai_mcp.hosts.config_files import (
        edits,  # late: it needs tomlkit, which other machines lack
    )

    settings = edits.data_of(JsonFile(os.path.join(folder(), "settings.json")))
    enabled = settings.get("enabledPlugins")
    names = enabled.items() if isinstance(enabled, dict) else ()
    return any(name.partition("@")[0] == SERVER and on is True for name, on in names)


def launch() -> Launchable:
    return Launchable(
        AgentProfile(
            id=HOST.id,
            name=HOST.title,
            command="claude",
            injection=ConventionFile("CLAUDE.md"),
            detect="claude --version",
            host=HOST.id,
            install="npm install -g @anthropic-ai/claude-code",
        ),
        HostTraits(session_start_hook=True, asks_trust=True, verified=HOST.seen),
        _wire,
        record_trust=_accept,
        # No text of a context is to stand in the process list.
        file_flags={flag: f"{flag}-file" for flag in ("--append-system-prompt", "--system-prompt")},
    )


def _wire(launch: Invocation) -> LaunchWiring:
    ours = in_arrays(hooks(commands_of(launch.memory), HOOKS.timeouts(launched=True)))
    allowed = [f"mcp__{SERVER}__{tool}" for tool in _READ_ONLY_TOOLS]
    return LaunchWiring(
        args=(
            "--settings",
            launch.in_run_dir(_SETTINGS),
            "--mcp-config",
            launch.in_run_dir(_SERVERS),
            "--add-dir",
            launch.place,
            *session_arguments(launch, new=("--session-id", launch.session_id)),
            *after_options(launch.prompt),
        ),
        env={"DISABLE_AUTOUPDATER": "1"},
        files=(
            json_file(_SETTINGS, {"hooks": ours, "permissions": {"allow": allowed}}),
            json_file(_SERVERS, mcp_servers(launch.memory, alwaysLoad=True)),
        ),
    )


def hooks(commands: Commands, timeouts: dict[str, int]) -> dict[str, Json]:
    """The hooks, each started without a shell (`args` present means: no shell)."""
    items: dict[str, Json] = {}
    for name, timeout in timeouts.items():
        words = commands.hook_words(HOST.id, name)
        hook: Json = {
            "type": "command",
            "command": words[0],
            "args": list(words[1:]),
            "timeout": timeout,
        }
        matcher = HOOKS.matchers.get(name)
        items[name] = {**({"matcher": matcher} if matcher else {}), "hooks": [hook]}
    return items


def _global_file() -> str:
    """`.claude.json` lies beside the folder, or in it when the folder was moved."""
    if os.environ.get("CLAUDE_CONFIG_DIR"):
        return os.path.join(folder(), ".claude.json")
    return in_home(".claude.json")


def _accept(project: str) -> None:
    """Write down that the person trusts `project`, in Claude Code's own record of that.

    It asks about a directory unless that one, its git root or a parent is there; no flag answers
    it. Everything else in the file stays as it is.

    Not for the person's home or what is above it: Claude Code would trust all that ever lies below,
    each later clone too. There it asks by itself.
    """
    if f"{os.path.realpath(home())}/".startswith(f"{project.rstrip('/')}/"):
        return
    path = _global_file()
    where = ("projects", project, "hasTrustDialogAccepted")
    for _ in range(_ATTEMPTS):
        current = edited.read(path)
        text = current.text if current.text and current.text.strip() else "{}\n"
        known = json_text.look(parse(text), where)
        if known is not None and known.data is True:
            return
        try:
            edited.write(path, json_text.put(text, where, True), expected=current.text)
        except edited.Changed:
            continue
        return
    raise Busy(f"{path} keeps changing: another Claude Code is writing it; try again")
