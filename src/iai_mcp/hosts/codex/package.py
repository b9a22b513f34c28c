"""Codex's plugin, in a marketplace of its own: `codex plugin marketplace add DIR`."""

from iai_mcp.hosts.codex import HOOKS, HOST
from iai_mcp.hosts.editing.ownership import OUR_VARIABLES
from iai_mcp.hosts.launching import in_arrays
from iai_mcp.hosts.packages import FOLDER, PORTABLE, SKILL, as_json, manifest, servers
from iai_mcp.hosts.wiring import SERVER, hook_groups


def package() -> dict[str, str]:
    hooks = hook_groups(PORTABLE, HOST.id, HOOKS.timeouts(), HOOKS.matchers)
    said = manifest(skills="./skills/", mcpServers="./.mcp.json", hooks="./hooks/hooks.json")
    return {
        ".agents/plugins/marketplace.json": as_json(
            {
                "name": SERVER,
                "interface": {"displayName": SERVER},
                "plugins": [
                    {
                        "name": SERVER,
                        "source": {"source": "local", "path": f"./{FOLDER}"},
                        "policy": {"installation": "AVAILABLE", "authentication": "ON_INSTALL"},
                        "category": "Productivity",
                    }
                ],
            }
        ),
        f"{FOLDER}/.codex-plugin/plugin.json": as_json(said),
        f"{FOLDER}/hooks/hooks.json": as_json({"hooks": in_arrays(hooks)}),
        # Codex hands servers few variables; these lead to a store that is not at the usual place.
        f"{FOLDER}/.mcp.json": as_json(servers(env_vars=list(OUR_VARIABLES))),
        f"{FOLDER}/skills/recall/SKILL.md": SKILL,
    }
