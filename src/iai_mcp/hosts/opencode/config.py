"""OpenCode: a plugin of our own, and the server in its configuration file."""

import json
import os

from iai_mcp.hosts.description import HostConfig, folder_from, xdg_config
from iai_mcp.hosts.editing.jsonc import Json
from iai_mcp.hosts.editing.wanted import Entry, JsonFile, OwnFile, WantedFile
from iai_mcp.hosts.wiring import SERVER, Wiring

ID = "opencode"

# The plugin holds no logic: it hands OpenCode's events to the same hook that other hosts call,
# and appends what the hook prints at a session's start to the system prompt.
_PLUGIN = """// Made by `iai-mcp hosts install opencode`; `iai-mcp hosts remove` takes it away.
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


def plugin(wiring: Wiring) -> str:
    """The plugin's source, with the hook's command line in it."""
    return _PLUGIN.replace("%HOOK%", json.dumps([*wiring.hook, ID], ensure_ascii=False))


def _folder() -> str:
    if os.environ.get("OPENCODE_CONFIG_DIR"):
        return folder_from("OPENCODE_CONFIG_DIR")
    return xdg_config("opencode")


def _settings() -> str:
    """The file that is there: OpenCode reads `.jsonc` as well."""
    named = os.environ.get("OPENCODE_CONFIG")
    if named:
        return os.path.abspath(named)
    with_comments = os.path.join(_folder(), "opencode.jsonc")
    return (
        with_comments if os.path.exists(with_comments) else os.path.join(_folder(), "opencode.json")
    )


def _files(wiring: Wiring) -> tuple[WantedFile, ...]:
    server: dict[str, Json] = {"type": "local", "command": list(wiring.bridge), "enabled": True}
    if wiring.env:
        server["environment"] = dict(wiring.env)
    return (
        OwnFile(os.path.join(_folder(), "plugins", "iai-mcp.js"), plugin(wiring)),
        JsonFile(_settings(), entries=(Entry(("mcp", SERVER), server),)),
    )


CONFIG = HostConfig(
    id=ID,
    title="OpenCode",
    binaries=("opencode",),
    folders=lambda: (_folder(),),
    files=_files,
    hooks=True,
    seen="1.18.33",
)
