"""How this person calls us: our texts say `iai-mcp`, and where that is unknown they have to know what works."""

import os
import shutil
import sys


def command() -> str:
    """By name where it is on the PATH, else by its place."""
    if shutil.which("iai-mcp"):
        return "iai-mcp"
    script = _script()
    if not os.path.exists(script):
        return f"{sys.executable} -m iai_mcp.cli"
    near = os.path.relpath(script)
    return script if near.startswith("..") else near


def advice() -> str:
    """What to tell somebody whose shell does not know the name; empty if it does."""
    if command() == "iai-mcp":
        return ""
    script = _script()
    said = f"your shell does not know 'iai-mcp' yet: say {command()} instead"
    if os.path.exists(os.path.expanduser("~/.local/bin/iai-mcp")):  # pipx and uv put it there
        said += ", or put ~/.local/bin on your PATH"
    elif os.path.exists(script):
        said += f", or put it on your PATH: ln -s {script} ~/.local/bin/"
    return said


def _script() -> str:
    return os.path.join(os.path.dirname(sys.executable), "iai-mcp")
