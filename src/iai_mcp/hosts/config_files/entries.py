"""The desired content of a host's files, as values.

Three kinds of file: JSON that belongs to others and gets our hooks and entries, TOML that
belongs to others and gets our entries, and a file that is ours alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from iai_mcp.hosts.config_files.jsonc import Json


@dataclass(frozen=True, slots=True)
class Entry:
    """A member that is ours by its name, such as `mcpServers.iai-mcp`."""

    path: tuple[str, ...]
    value: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Hooks:
    """Our items in the arrays below `root`, one array per event, ours by their command."""

    root: tuple[str, ...]
    items: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class JsonFile:
    path: str
    entries: tuple[Entry, ...] = ()
    hooks: Hooks | None = None
    # Members a host insists on in its own file (a format version); they go only with the file.
    frame: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TomlFile:
    path: str
    entries: tuple[Entry, ...] = ()


@dataclass(frozen=True, slots=True)
class OwnFile:
    """A file that is wholly ours (a plugin). A `shared` one stays while another host needs it."""

    path: str
    text: str
    shared: bool = False


ConfigFile: TypeAlias = JsonFile | TomlFile | OwnFile
