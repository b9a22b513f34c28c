"""The table of hosts that can be wired to the memory, and the doing of it.

`detected()` is which of them are on this machine; `install` and `remove` do one host at a time:
all of its files are read and planned before the first one is written.
"""

import importlib
from collections.abc import Sequence
from dataclasses import dataclass

from iai_mcp.domain.errors import IaiError, NotFound
from iai_mcp.hosts import wiring
from iai_mcp.hosts.description import HostConfig
from iai_mcp.hosts.editing import edits, receipts
from iai_mcp.hosts.editing.edits import Edit

_PACKAGES = (
    "claude_code",
    "codex",
    "gemini",
    "cursor",
    "opencode",
    "copilot",
    "qwen",
    "vscode",
    "claude_desktop",
    "windsurf",
    "zed",
)
# Hosts we know whose configuration we do not write.
_UNWIRED = {
    "aider": "Aider has neither hooks nor MCP servers",
    "goose": "Goose keeps its extensions in YAML that only it writes: use 'goose configure'",
    "kimi": "Kimi CLI takes MCP servers per start: --mcp-config-file",
    "amp": "Amp is wired per project when an agent is launched",
    "crush": "Crush is wired per project when an agent is launched",
    "chatgpt": "ChatGPT has no configuration here: import its export with 'iai-mcp import'",
    "claude-ai": "Claude.ai has no configuration here: import its export with 'iai-mcp import'",
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What happened (or would happen) to one host's files; `error` if it was left alone."""

    host: HostConfig
    edits: tuple[Edit, ...] = ()
    error: IaiError | None = None

    @property
    def changes(self) -> bool:
        return any(edit.changes for edit in self.edits)


def hosts() -> tuple[HostConfig, ...]:
    """Every host that can be wired, the most used first."""
    modules = (importlib.import_module(f"iai_mcp.hosts.{name}.config") for name in _PACKAGES)
    return tuple(module.CONFIG for module in modules)


def host(name: str) -> HostConfig:
    """The host of that id.

    Raises:
        NotFound: with a sentence that names the ones there are.
    """
    for config in hosts():
        if config.id == name:
            return config
    if name in _UNWIRED:
        raise NotFound(f"nothing to install for '{name}': {_UNWIRED[name]}")
    known = ", ".join(config.id for config in hosts())
    raise NotFound(f"there is no host '{name}'; choose from {known}")


def detected() -> tuple[HostConfig, ...]:
    """The hosts that are on this machine: their program on PATH, or their folder at home."""
    return tuple(config for config in hosts() if config.found())


def missing() -> tuple[HostConfig, ...]:
    """Detected hosts that are not fully wired: what `iai-mcp up` offers on first use."""
    return tuple(config for config in detected() if status(config) != "installed")


def status(config: HostConfig) -> str:
    """ "installed", "outdated" (an older installation of ours), "partly", "absent" or "broken"."""
    try:
        states = {edits.state(wanted) for wanted in config.files(wiring.current())}
    except IaiError:
        return "broken"
    if len(states) == 1:
        return states.pop()
    return "outdated" if "outdated" in states else "partly"


def plan_install(config: HostConfig) -> Outcome:
    """What installing would do; nothing is written."""
    return _planned(config, install=True)


def plan_remove(config: HostConfig) -> Outcome:
    """What removing would do; nothing is written."""
    return _planned(config, install=False)


def install(configs: Sequence[HostConfig]) -> list[Outcome]:
    """Wire these hosts. One that can not be wired keeps its files and its error; the rest go on."""
    with receipts.turnstile():
        return [_done(config, install=True) for config in configs]


def remove(configs: Sequence[HostConfig]) -> list[Outcome]:
    """Take everything of ours out of these hosts' files again."""
    with receipts.turnstile():
        return [_done(config, install=False) for config in configs]


def _planned(config: HostConfig, *, install: bool) -> Outcome:
    plan = edits.plan_install if install else edits.plan_remove
    try:
        return Outcome(config, tuple(plan(wanted) for wanted in config.files(wiring.current())))
    except IaiError as error:
        return Outcome(config, error=error)


def _done(config: HostConfig, *, install: bool) -> Outcome:
    planned = _planned(config, install=install)
    if planned.error is not None:
        return planned
    do = edits.install if install else edits.remove
    files = config.files(wiring.current())
    done: list[Edit] = []
    try:
        # Backwards when removing: the folders were made for the first file and go with it.
        for wanted in files if install else reversed(files):
            done.append(do(wanted))
    except IaiError as error:
        return Outcome(config, tuple(done), error)
    return Outcome(config, tuple(done))
