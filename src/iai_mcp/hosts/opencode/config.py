"""OpenCode connected (a plugin of our own, and the server in its configuration file) and launched (a
whole configuration in one variable, and the plugin)."""

import json
import os

from iai_mcp.domain.agents.host_wiring import HostTraits, Invocation, LaunchWiring
from iai_mcp.domain.agents.launch import RunFile
from iai_mcp.domain.agents.profile import AgentProfile, ConventionFile
from iai_mcp.hosts.commands import SERVER, Commands
from iai_mcp.hosts.config_files.entries import ConfigFile, Entry, JsonFile, OwnFile
from iai_mcp.hosts.config_files.jsonc import Json
from iai_mcp.hosts.host import in_home
from iai_mcp.hosts.launch import Launchable, commands_of, session_arguments
from iai_mcp.hosts.opencode import HOST, folder
from iai_mcp.hosts.skill import skill_in

_PLUGIN = "opencode-plugin.js"

# The plugin holds no logic: it hands OpenCode's events to the same hook that other hosts call,
# and appends what the hook prints at a session's start to the system prompt.
_PLUGIN_SOURCE = """// Made by `iai-mcp hosts install opencode`; `iai-mcp hosts remove` takes it away.
import { spawnSync } from "node:child_process"

const HOOK = %HOOK%

const run = (event, input) => {
  const [command, ...words] = HOOK
  const options = { input: JSON.stringify(input), encoding: "utf8", timeout: 5000 }
  return spawnSync(command, [...words, event], options).stdout || ""
}

export const IaiMcp = async ({ directory }) => {
  const memories = new Map()
  const about = (session) => ({ session_id: session, cwd: directory })
  const atStart = (session) => {
    if (!memories.has(session)) memories.set(session, run("sessionStart", about(session)))
    return memories.get(session)
  }
  return {
    event: async ({ event }) => {
      const session = event.properties?.sessionID
      if (!session) return
      if (event.type === "session.idle") run("idle", about(session))
      if (event.type === "permission.asked") run("permission", about(session))
      if (event.type === "session.deleted") memories.delete(session)
    },
    "chat.message": async ({ sessionID }) => {
      run("prompt", about(sessionID))
    },
    "experimental.chat.system.transform": async ({ sessionID }, output) => {
      if (!sessionID) return
      const memory = atStart(sessionID)
      if (memory) output.system.push(memory)
    },
  }
}
"""


def files(commands: Commands) -> tuple[ConfigFile, ...]:
    server: dict[str, Json] = {"type": "local", "command": list(commands.bridge), "enabled": True}
    if commands.env:
        server["environment"] = dict(commands.env)
    return (
        OwnFile(os.path.join(folder(), "plugins", "iai-mcp.js"), _plugin(commands)),
        JsonFile(_settings(), entries=(Entry(("mcp", SERVER), server),)),
        skill_in(in_home(".agents"), "skills"),
    )


def _plugin(commands: Commands) -> str:
    """The plugin's source, with the hook's command line in it."""
    hook = json.dumps([*commands.hook, HOST.id], ensure_ascii=False)
    return _PLUGIN_SOURCE.replace("%HOOK%", hook)


def _settings() -> str:
    """The file that is there: OpenCode reads `.jsonc` as well."""
    named = os.environ.get("OPENCODE_CONFIG")
    if named:
        return os.path.abspath(named)
    with_comments = os.path.join(folder(), "opencode.jsonc")
    return (
        with_comments if os.path.exists(with_comments) else os.path.join(folder(), "opencode.json")
    )


def launch() -> Launchable:
    return Launchable(
        AgentProfile(
            id=HOST.id,
            name=HOST.title,
            command="opencode",
            injection=ConventionFile("AGENTS.md"),
            detect="opencode -v",
            host=HOST.id,
            install="npm install -g opencode-ai",
        ),
        HostTraits(session_start_hook=True, verified=HOST.seen),
        _wire,
    )


def _wire(launch: Invocation) -> LaunchWiring:
    config: dict[str, object] = {
        "autoupdate": False,
        "plugin": [f"file://{launch.in_run_dir(_PLUGIN)}"],
        "mcp": {
            SERVER: {
                "type": "local",
                "command": list(launch.memory.bridge),
                "environment": dict(launch.memory.env),
                "enabled": True,
            }
        },
    }
    # A path with such characters would be a pattern for others too: then OpenCode asks instead.
    if not set("*?[]{}") & set(launch.place):
        allowed = {f"{launch.place}/**": "allow"}
        config["permission"] = {"external_directory": allowed}
    prompt = () if launch.prompt is None else (f"--prompt={launch.prompt}",)
    return LaunchWiring(
        args=(*session_arguments(launch, by_id=("--session",)), *prompt),
        env={"OPENCODE_CONFIG_CONTENT": json.dumps(config, ensure_ascii=False)},
        files=(RunFile(_PLUGIN, _plugin(commands_of(launch.memory))),),
    )
