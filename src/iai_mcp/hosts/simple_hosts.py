"""Hosts that need one table entry each: desktop programs, launch-only programs and chat services.

Hosts with hooks have a package of their own. Hooks import this table too, so everything slow is
imported when it is called.
"""

from iai_mcp.hosts.host import Host, Transcript, application_support, in_home, lazy, xdg_config

TYPE_CHECKING = False  # see compact_json
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def _walk(module: str) -> "Callable[..., Any]":
    return lazy(f"iai_mcp.hosts.formats.{module}", "walk")


def _launch(name: str) -> "Callable[..., Any]":
    return lazy("iai_mcp.hosts.simple_launch", name)


def _server_file(path: "Callable[[], str]", key: str, **more: str) -> "Callable[..., Any]":
    """The one file of a host that gets only our MCP server, below `key`."""

    def files(commands: "Any") -> "Any":
        return lazy("iai_mcp.hosts.commands", "server_file")(commands, path(), key, more)

    return files


_HOSTS = (
    Host(
        "vscode",
        "VS Code",
        binaries=("code",),
        folders=lambda: (application_support("Code", "User"),),
        files=_server_file(
            lambda: application_support("Code", "User", "mcp.json"), "servers", type="stdio"
        ),
    ),
    Host(
        "claude-desktop",
        "Claude Desktop",
        binaries=("claude-desktop",),
        folders=lambda: (application_support("Claude"),),
        files=_server_file(
            lambda: application_support("Claude", "claude_desktop_config.json"), "mcpServers"
        ),
        note="Restart Claude Desktop to let it find the tools.",
    ),
    Host(
        "windsurf",
        "Windsurf",
        binaries=("windsurf",),
        folders=lambda: (in_home(".codeium", "windsurf"),),
        files=_server_file(
            lambda: in_home(".codeium", "windsurf", "mcp_config.json"), "mcpServers"
        ),
    ),
    Host(
        "zed",
        "Zed",
        binaries=("zed", "zeditor"),
        folders=lambda: (xdg_config("zed"),),
        files=_server_file(
            lambda: xdg_config("zed", "settings.json"), "context_servers", source="custom"
        ),
    ),
    Host(
        "aider",
        "Aider",
        not_connected="Aider has neither hooks nor MCP servers",
        launch=_launch("aider"),
    ),
    Host(
        "goose",
        "Goose",
        not_connected="Goose keeps its extensions in YAML that only it writes: use 'goose configure'",
        launch=_launch("goose"),
    ),
    Host(
        "kimi",
        "Kimi CLI",
        not_connected="Kimi CLI takes MCP servers per start: --mcp-config-file",
        launch=_launch("kimi"),
    ),
    Host(
        "amp",
        "Amp",
        not_connected="Amp is wired per project when an agent is launched",
        launch=_launch("amp"),
    ),
    Host(
        "crush",
        "Crush",
        not_connected="Crush is wired per project when an agent is launched",
        launch=_launch("crush"),
    ),
    Host(
        "chatgpt",
        "ChatGPT",
        not_connected="ChatGPT has no configuration here: import its export with 'iai-mcp import'",
        transcript=Transcript(_walk("chatgpt"), document_keys=("mapping",)),
        is_service=True,
    ),
    Host(
        "claude-ai",
        "Claude.ai",
        not_connected="Claude.ai has no configuration here: import its export with 'iai-mcp import'",
        transcript=Transcript(_walk("claude_ai"), document_keys=("chat_messages",)),
        is_service=True,
    ),
    # For any other program.
    Host("shell", "Shell", launch=_launch("shell")),
)

HOSTS = {host.id: host for host in _HOSTS}
