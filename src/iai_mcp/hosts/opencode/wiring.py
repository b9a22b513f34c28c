"""How a launched OpenCode gets its memory: a whole configuration in one variable, and a plugin."""

import json

from iai_mcp.domain.invocations import HostTraits, Invocation, LaunchWiring
from iai_mcp.domain.launching import RunFile
from iai_mcp.hosts.opencode.config import plugin
from iai_mcp.hosts.run_files import wiring_of
from iai_mcp.hosts.wiring import SERVER

TRAITS = HostTraits(session_start_hook=True, verified="1.18.33")

_PLUGIN = "opencode-plugin.js"


def wire(launch: Invocation) -> LaunchWiring:
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
    if not set("*?[]{}") & set(launch.project):
        allowed = {f"{launch.project}/**": "allow"}
        config["permission"] = {"external_directory": allowed}
    prompt = () if launch.prompt is None else (f"--prompt={launch.prompt}",)
    return LaunchWiring(
        args=(*_conversation(launch), *prompt),
        env={"OPENCODE_CONFIG_CONTENT": json.dumps(config, ensure_ascii=False)},
        files=(RunFile(_PLUGIN, plugin(wiring_of(launch.memory))),),
    )


def _conversation(launch: Invocation) -> tuple[str, ...]:
    if launch.resume is None:
        return ()
    if launch.resume.host_session_id:
        return ("--session", launch.resume.host_session_id)
    return ("--continue",)
