"""Gemini CLI's extension: `gemini extensions install DIR`."""

from iai_mcp import __version__
from iai_mcp.hosts.gemini import HOOKS, HOST
from iai_mcp.hosts.launching import in_arrays
from iai_mcp.hosts.packages import ABOUT, PORTABLE, SKILL, as_json, servers
from iai_mcp.hosts.wiring import SERVER, hook_groups


def package() -> dict[str, str]:
    hooks = hook_groups(PORTABLE, HOST.id, HOOKS.timeouts(), HOOKS.matchers, name=SERVER)
    said = {"name": SERVER, "version": __version__, "description": ABOUT, **servers()}
    return {
        "gemini-extension.json": as_json(said),
        "hooks/hooks.json": as_json({"hooks": in_arrays(hooks)}),
        "skills/recall/SKILL.md": SKILL,
    }
