"""Claude Code's plugin, in a marketplace of its own: `claude plugin marketplace add DIR`."""

from iai_mcp.hosts.claude_code import HOOKS
from iai_mcp.hosts.claude_code.wiring import hooks
from iai_mcp.hosts.editing.jsonc import Json
from iai_mcp.hosts.launching import in_arrays
from iai_mcp.hosts.packages import (
    ABOUT,
    FOLDER,
    PEOPLE,
    PORTABLE,
    SKILL,
    as_json,
    manifest,
    servers,
)
from iai_mcp.hosts.wiring import SERVER


def package() -> dict[str, str]:
    listed: Json = {"name": SERVER, "source": f"./{FOLDER}", "description": ABOUT}
    return {
        ".claude-plugin/marketplace.json": as_json(
            {
                "name": SERVER,
                "owner": {"name": PEOPLE},
                "metadata": {"description": ABOUT},
                "plugins": [listed],
            }
        ),
        f"{FOLDER}/.claude-plugin/plugin.json": as_json(manifest()),
        f"{FOLDER}/hooks/hooks.json": as_json(
            {"hooks": in_arrays(hooks(PORTABLE, HOOKS.timeouts()))}
        ),
        f"{FOLDER}/.mcp.json": as_json(servers()),
        f"{FOLDER}/skills/recall/SKILL.md": SKILL,
    }
