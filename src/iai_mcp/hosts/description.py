"""What we know about one host's configuration, as a value: where it lives and what goes into it."""

import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from iai_mcp import paths
from iai_mcp.hosts.editing.jsonc import Json
from iai_mcp.hosts.editing.wanted import Entry, WantedFile
from iai_mcp.hosts.wiring import SERVER, Wiring


@dataclass(frozen=True, slots=True)
class HostConfig:
    """`folders` are places only this host makes; `files` is what should stand in its files.

    `hooks` says whether it captures and injects by itself; without, it has the MCP tools only.
    `seen` is the version we watched doing it; empty means: from the vendor's documentation.
    """

    id: str
    title: str
    binaries: tuple[str, ...]
    folders: Callable[[], tuple[str, ...]]
    files: Callable[[Wiring], tuple[WantedFile, ...]]
    hooks: bool
    seen: str = ""
    note: str = ""

    def found(self) -> str | None:
        """The program or folder that shows that this host is on the machine, or None."""
        for binary in self.binaries:
            path = shutil.which(binary)
            if path:
                return path
        return next((folder for folder in self.folders() if os.path.isdir(folder)), None)


def in_home(*parts: str) -> str:
    return os.path.join(paths.home(), *parts)


def folder_from(variable: str, *default: str) -> str:
    """The folder that `variable` names, else the one in the home directory."""
    named = os.environ.get(variable)
    return os.path.abspath(named) if named else in_home(*default)


def xdg_config(*parts: str) -> str:
    return os.path.join(folder_from("XDG_CONFIG_HOME", ".config"), *parts)


def application_support(*parts: str) -> str:
    """Where desktop programs keep their settings: macOS has its own place, others follow XDG."""
    if os.uname().sysname == "Darwin":
        return in_home("Library", "Application Support", *parts)
    return xdg_config(*parts)


def server_entry(wiring: Wiring, *root: str, **more: Json) -> Entry:
    """The MCP entry in the shape that most hosts share."""
    value: dict[str, Json] = {
        **more,
        "command": wiring.bridge[0],
        "args": list(wiring.bridge[1:]),
    }
    if wiring.env:
        value["env"] = dict(wiring.env)
    return Entry((*root, SERVER), value)


def hook_groups(
    wiring: Wiring, host: str, timeouts: Mapping[str, int], **more: Json
) -> dict[str, Json]:
    """Claude Code's shape, which others took over: an event's groups, each with its hooks."""
    return {
        event: {
            "hooks": [
                {
                    **more,
                    "type": "command",
                    "command": wiring.hook_line(host, event),
                    "timeout": timeout,
                }
            ]
        }
        for event, timeout in timeouts.items()
    }
