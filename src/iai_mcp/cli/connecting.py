"""The one line that adds the bridge to each agent program found on this machine."""

import shlex
import shutil
import sys

# program on PATH -> (what people call it, the words before the bridge's own command)
_LINES = {
    "claude": ("Claude Code", "claude mcp add --scope user iai-mcp -- "),
    "codex": ("Codex", "codex mcp add iai-mcp -- "),
    "gemini": ("Gemini CLI", "gemini mcp add --scope user iai-mcp "),
    "qwen": ("Qwen Code", "qwen mcp add --scope user iai-mcp "),
}


def bridge_command() -> list[str]:
    """How a host starts the bridge: an absolute path, so that no version manager is in between."""
    return [sys.executable, "-m", "iai_mcp.bridge"]


def lines() -> list[str]:
    """What to run, for each program that is here; the general form where none is."""
    from iai_mcp.hosts import registry

    if registry.detected() and not registry.missing():
        return []
    bridge = shlex.join(bridge_command())
    found = [
        f"  {name:<12} {words}{bridge}"
        for program, (name, words) in _LINES.items()
        if shutil.which(program)
    ]
    if not found:
        return [
            "connect an agent program by adding this MCP server to it:",
            f"  iai-mcp      {bridge}",
        ]
    return [
        "connect your agents (capture hooks and memory tools, all at once):",
        "  iai-mcp hosts install",
        "or the memory tools alone:",
        *found,
    ]
