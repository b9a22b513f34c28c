"""The hook and bridge commands that are written into hosts' configuration files.

They name this interpreter by its absolute path: a version manager's shim costs 200 ms per call, and a
host's PATH is not the person's. They are isolated (`-I`): hooks run in the project's directory, and a
`json.py` there must not be imported.

The interpreter of an environment keeps its path when iai-mcp is upgraded, and when the environment gets
a newer Python; the package's own path does not, so it is never named where the package is installed.
"""

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

import iai_mcp
from iai_mcp import paths
from iai_mcp.hosts.config_files.entries import Entry, JsonFile
from iai_mcp.hosts.config_files.jsonc import Json

SERVER = "iai-mcp"


@dataclass(frozen=True, slots=True)
class Commands:
    """`hook` and `bridge` are command lines without their last words; `env` is what the bridge
    needs in its environment to find the same store."""

    hook: tuple[str, ...]
    bridge: tuple[str, ...]
    env: dict[str, str] = field(default_factory=dict)

    def hook_words(self, host: str, event: str) -> list[str]:
        """The command of one hook, for hosts that start it without a shell."""
        return [*self.hook, host, event]

    def hook_line(self, host: str, event: str) -> str:
        """The same as one line, for hosts that hand it to a shell."""
        return shlex.join(self.hook_words(host, event))


def current() -> Commands:
    """The commands of this installation, in this environment."""
    store = _named("IAI_MCP_STORE", paths.user_data())
    socket = _named("IAI_DAEMON_SOCKET_PATH", paths.socket_path())
    # Hook entries can not carry an environment, so the places travel as options.
    options = [
        part
        for name, value in (("--store", store), ("--socket", socket))
        if value
        for part in (name, value)
    ]
    env = {
        name: value
        for name, value in (("IAI_MCP_STORE", store), ("IAI_DAEMON_SOCKET_PATH", socket))
        if value
    }
    return Commands(
        # Not by `-m`: it would spend 5 ms per hook on finding the module. Not by its path: where that is
        # gone python ends with 2, by which hosts understand that the hook refuses what the person does.
        hook=(sys.executable, "-I", *_run("import iai_mcp.capture.__main__"), "hook", *options),
        bridge=(sys.executable, "-I", *_bridge_words()),
        env=env,
    )


def server_entry(commands: Commands, *root: str, **more: Json) -> Entry:
    """The MCP entry in the shape that most hosts share."""
    value: dict[str, Json] = {
        **more,
        "command": commands.bridge[0],
        "args": list(commands.bridge[1:]),
    }
    if commands.env:
        value["env"] = dict(commands.env)
    return Entry((*root, SERVER), value)


def server_file(
    commands: Commands, path: str, key: str, more: Mapping[str, Json]
) -> tuple[JsonFile, ...]:
    """The one file of a host that gets only our MCP server."""
    return (JsonFile(path, entries=(server_entry(commands, key, **more),)),)


def hook_groups(
    commands: Commands,
    host: str,
    timeouts: Mapping[str, int],
    matchers: Mapping[str, str] | None = None,
    **more: Json,
) -> dict[str, Json]:
    """Claude Code's shape, which others took over: an event's groups, each with its hooks."""
    wanted = matchers or {}
    return {
        event: {
            **({"matcher": wanted[event]} if event in wanted else {}),
            "hooks": [
                {
                    **more,
                    "type": "command",
                    "command": commands.hook_line(host, event),
                    "timeout": timeout,
                }
            ],
        }
        for event, timeout in timeouts.items()
    }


def _named(variable: str, value: str) -> str | None:
    """`value` if the environment names it; the default place needs no mention."""
    return value if os.environ.get(variable) else None


def _bridge_words() -> tuple[str, ...]:
    if _importable_when_isolated():
        return ("-m", "iai_mcp.bridge")
    return _run("import runpy; runpy.run_module('iai_mcp.bridge', run_name='__main__')")


def _run(statement: str) -> tuple[str, str]:
    if _importable_when_isolated():
        return ("-c", statement)
    # Not PYTHONPATH: Gemini CLI refuses to hand it to a server.
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return ("-c", f"import sys; sys.path.append({root!r}); {statement}")


@cache
def _importable_when_isolated() -> bool:
    """Whether this very package is installed in this environment: a source tree on PYTHONPATH is not, nor
    is what was put on another machine, which may have an iai-mcp of its own."""
    look = "import iai_mcp, sys; sys.exit(iai_mcp.__file__ != sys.argv[1])"
    check = subprocess.run(
        [sys.executable, "-I", "-c", look, str(iai_mcp.__file__)], capture_output=True, check=False
    )
    return check.returncode == 0
