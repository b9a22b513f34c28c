"""`Host`: everything we know about one agent program, as one value.

Hooks import this file and one host's package in a process that lives for milliseconds. So these are
plain classes (`dataclasses`, `enum` and `typing` cost more than the rest of a hook), and functions
for reading, connecting and launching are imported when they are called (`lazy`).
"""

import os

from iai_mcp import paths
from iai_mcp.protocol.compact_json import dumps

TYPE_CHECKING = False  # see compact_json
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from iai_mcp.hosts.commands import Commands
    from iai_mcp.hosts.config_files.entries import ConfigFile
    from iai_mcp.hosts.launch import Launchable
    from iai_mcp.hosts.reader import Reading
    from iai_mcp.hosts.turns import Event, Record


class HookEvent:
    """What happens in a session when a hook runs; each host has names of its own for it."""

    START: "HookEvent"
    PROMPT: "HookEvent"
    STOP: "HookEvent"
    SUBAGENT_STOP: "HookEvent"
    COMPACT: "HookEvent"
    END: "HookEvent"
    ATTENTION: "HookEvent"
    TOOL_USED: "HookEvent"
    TOOL_FAILED: "HookEvent"

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


HookEvent.START = HookEvent("start")
HookEvent.PROMPT = HookEvent("prompt")
HookEvent.STOP = HookEvent("stop")
HookEvent.SUBAGENT_STOP = HookEvent("subagent stop")
HookEvent.COMPACT = HookEvent("compact")
HookEvent.END = HookEvent("end")
HookEvent.ATTENTION = HookEvent("attention")
HookEvent.TOOL_USED = HookEvent("tool used")
HookEvent.TOOL_FAILED = HookEvent("tool failed")


def in_hook_output(text: str, name: str) -> str:
    """Injected text in Claude Code's format, which other hosts use too."""
    return dumps({"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}})


class Hooks:
    """The hooks of a host.

    `installed`: hooks in the person's settings; `launched`: hooks only for agents that we launch
    (they report the agent's status). Both map the host's hook name to (event, timeout in the host's
    own unit). `others`: hooks that we understand but do not install.

    `fields`: the host's name of an input field, where it differs from ours.
    `injected`: formats text and the hook's name the way the host reads it from stdout.
    `find_transcript`: finds a session's file where hooks do not name it.
    `await_transcript`: waits a moment until the host has written it.
    `matchers`: the tools that an installed hook applies to, where not all.
    `failed_call`: the command in a hook's input and its output, if that command failed.
    `fork`: the id of a forked session, where the start hook gets only its parent's.
    `borrowed_by`: another host that runs these hooks too, by the input field that shows it.
    `are_installed`: whether our hooks are in the person's settings. Then a borrowed hook, and a
    plugin's hook, leave the work to them.
    """

    def __init__(
        self,
        installed: "Mapping[str, tuple[HookEvent, int]]",
        launched: "Mapping[str, tuple[HookEvent, int]] | None" = None,
        *,
        others: "Mapping[str, HookEvent] | None" = None,
        fields: "Mapping[str, str] | None" = None,
        injected: "Callable[[str, str], str]" = in_hook_output,
        find_transcript: "Callable[[str], str | None] | None" = None,
        await_transcript: "Callable[[str, str], None] | None" = None,
        matchers: "Mapping[str, str] | None" = None,
        failed_call: "Callable[[Record], tuple[str, str] | None]" = lambda _given: None,
        fork: "Callable[[], str]" = lambda: "",
        borrowed_by: "Mapping[str, str] | None" = None,
        are_installed: "Callable[[], bool]" = lambda: False,
    ) -> None:
        self.installed = installed
        self.launched = launched or {}
        self.others = others or {}
        self.fields = fields or {}
        self.injected = injected
        self.find_transcript = find_transcript
        self.await_transcript = await_transcript
        self.matchers = matchers or {}
        self.failed_call = failed_call
        self.fork = fork
        self.borrowed_by = borrowed_by or {}
        self.are_installed = are_installed

    def event_of(self, name: str) -> HookEvent | None:
        """What the hook of that name means, whatever its capitals, hyphens and underscores."""
        wanted = _plain(name)
        known = {name: event for name, (event, _) in self._asked(launched=True).items()}
        for own, event in (known | dict(self.others)).items():
            if _plain(own) == wanted:
                return event
        return None

    def name_of(self, event: HookEvent) -> str:
        """The host's own name for an event; ours where it has none."""
        for name, (known, _) in self._asked(launched=True).items():
            if known is event:
                return name
        return event.name

    def has(self, event: HookEvent) -> bool:
        """Whether an agent of this host that we launched tells of it."""
        return any(known is event for known, _ in self._asked(launched=True).values())

    def timeouts(self, *, launched: bool = False) -> dict[str, int]:
        """The hooks to ask for, and how long each may take."""
        return {name: timeout for name, (_, timeout) in self._asked(launched=launched).items()}

    def _asked(self, *, launched: bool) -> dict[str, tuple[HookEvent, int]]:
        return {**self.installed, **(self.launched if launched else {})}


class Transcript:
    """How a host stores its sessions, and how its files are recognised.

    `walk` reads one file's turns. `appends`: the host only appends, so a later reading can continue
    where the last one ended. `related`: further files of a session (its sub-agents).
    `history`: patterns of all files on this machine.

    If the path does not identify the host, the first bytes do (`magic`), or `is_line` (JSON lines),
    or a key (`document_keys`, a JSON document).
    """

    def __init__(
        self,
        walk: "Callable[[Reading], Iterator[Event]]",
        *,
        appends: bool = False,
        history: "Callable[[], tuple[str, ...]]" = lambda: (),
        related: "Callable[[str], list[str]]" = lambda _path: [],
        magic: bytes | None = None,
        is_line: "Callable[[Record], bool]" = lambda _record: False,
        document_keys: tuple[str, ...] = (),
    ) -> None:
        self.walk = walk
        self.appends = appends
        self.history = history
        self.related = related
        self.magic = magic
        self.is_line = is_line
        self.document_keys = document_keys


class Host:
    """One agent program.

    It is on this machine if one of its `binaries` is on PATH or one of its `folders` exists.
    `files`: what we write into its configuration; if we write nothing, `not_connected` says why.
    `seen`: the version that was tested; empty means: written after the vendor's documentation.
    `note`: shown to a person who connects it. `adds_server`: the host's own command for adding an
    MCP server. A host without hooks has the MCP tools only.
    `is_service`: a web service; its turns come from an export.

    `package`: our plugin or extension, as files by path. `has_plugin`: whether it is installed.
    `drops_plugin`: the host's command that removes it.
    """

    def __init__(
        self,
        id: str,  # noqa: A002 - what everybody calls it
        title: str,
        *,
        binaries: tuple[str, ...] = (),
        folders: "Callable[[], tuple[str, ...]]" = lambda: (),
        files: "Callable[[Commands], tuple[ConfigFile, ...]] | None" = None,
        not_connected: str = "",
        seen: str = "",
        note: str = "",
        adds_server: str = "",
        hooks: Hooks | None = None,
        transcript: Transcript | None = None,
        launch: "Callable[[], Launchable] | None" = None,
        is_service: bool = False,
        package: "Callable[[], Mapping[str, str]] | None" = None,
        has_plugin: "Callable[[], bool]" = lambda: False,
        drops_plugin: str = "",
    ) -> None:
        self.id = id
        self.title = title
        self.binaries = binaries
        self.folders = folders
        self.files = files
        self.not_connected = not_connected
        self.seen = seen
        self.note = note
        self.adds_server = adds_server
        self.hooks = hooks
        self.transcript = transcript
        self.launch = launch
        self.is_service = is_service
        self.package = package
        self.has_plugin = has_plugin
        self.drops_plugin = drops_plugin

    def location(self) -> str | None:
        """The program or folder that shows that this host is on the machine, or None."""
        import shutil

        for binary in self.binaries:
            path = shutil.which(binary)
            if path:
                return path
        return next((folder for folder in self.folders() if os.path.isdir(folder)), None)


def lazy(module: str, name: str) -> "Callable[..., Any]":
    """A function whose module is imported when it is called."""

    def call(*given: "Any") -> "Any":
        return getattr(__import__(module, fromlist=[name]), name)(*given)

    return call


def runs_our_hooks(path: str) -> bool:
    """Whether this settings file has hooks of ours, by a quick look."""
    from iai_mcp import regular_files

    try:
        content = regular_files.read(path, 1 << 20, links=regular_files.ANYWHERE)
    except (OSError, ValueError):
        return False
    return b"iai_mcp.capture" in content or b"iai_mcp/capture" in content


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


def _plain(name: str) -> str:
    return name.replace("-", "").replace("_", "").lower()
