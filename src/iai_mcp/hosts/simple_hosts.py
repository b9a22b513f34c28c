"""Hosts that need one table entry each: desktop programs, launch-only programs and chat services.

Hosts with hooks have a package of their own. Hooks import this table too, so everything slow is
imported when it is called.
"""

import os

from iai_mcp.hosts.host import (
    Host,
    Transcript,
    application_support,
    folder_from,
    in_home,
    lazy,
    xdg_config,
)

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


def _in_projects(*parts: str) -> "Callable[[], tuple[str, ...]]":
    def history() -> tuple[str, ...]:
        patterns: tuple[str, ...] = lazy("iai_mcp.hosts.formats.places", "in_projects")(*parts)
        return patterns

    return history


def _data(*parts: str) -> str:
    return os.path.join(folder_from("XDG_DATA_HOME", ".local", "share"), *parts)


def _cline_history(extension: str) -> "Callable[[], tuple[str, ...]]":
    """The tasks of an extension, in the storage of every editor that is made from VS Code."""

    def history() -> tuple[str, ...]:
        storage = ("User", "globalStorage", extension, "tasks", "*", "ui_messages.json")
        editors = [application_support(editor, *storage) for editor in _EDITORS]
        return (*editors, in_home(".vscode-server", "data", *storage))

    return history


def _cline_program() -> tuple[str, ...]:
    kept = folder_from("CLINE_DIR", ".cline")
    return (
        *_cline_history("saoudrizwan.claude-dev")(),
        os.path.join(kept, "data", "tasks", "*", "ui_messages.json"),
        os.path.join(kept, "data", "sessions", "*", "*.messages.json"),
    )


def _goose_history() -> tuple[str, ...]:
    root = os.environ.get("GOOSE_PATH_ROOT")
    folders = [
        *([os.path.join(root, "data")] if root else []),
        _data("goose"),
        _data("Block", "goose"),
        application_support("goose"),
        application_support("Block", "goose"),
    ]
    names = ("sessions.db", "*.jsonl")
    return tuple(os.path.join(folder, "sessions", name) for folder in folders for name in names)


_EDITORS = ("Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf")

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
        transcript=Transcript(
            _walk("aider"),
            history=_in_projects(".aider.chat.history.md"),
            magic=b"# aider chat started at ",
        ),
        launch=_launch("aider"),
    ),
    Host(
        "goose",
        "Goose",
        not_connected="Goose keeps its extensions in YAML that only it writes: use 'goose configure'",
        launch=_launch("goose"),
        transcript=Transcript(_walk("goose"), history=_goose_history),
    ),
    Host(
        "kimi",
        "Kimi CLI",
        not_connected="Kimi CLI takes MCP servers per start: --mcp-config-file",
        launch=_launch("kimi"),
        transcript=Transcript(
            _walk("kimi"),
            history=lambda: (
                in_home(".kimi", "sessions", "*", "*", "wire.jsonl"),
                in_home(".kimi", "sessions", "*", "*", "context.jsonl"),
                os.path.join(
                    folder_from("KIMI_CODE_HOME", ".kimi-code"),
                    *("sessions", "*", "*", "agents", "*", "wire.jsonl"),
                ),
            ),
            is_line=lambda record: (
                record.get("type") == "metadata" and "protocol_version" in record
            ),
        ),
    ),
    Host(
        "amp",
        "Amp",
        not_connected="Amp is wired per project when an agent is launched",
        launch=_launch("amp"),
        transcript=Transcript(
            _walk("amp"),
            history=lambda: (_data("amp", "threads", "T-*.json"),),
            document_keys=("toolUseID", "usageLedger"),
        ),
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
    Host(
        "specstory",
        "SpecStory",
        not_connected="SpecStory has no configuration here: 'iai-mcp import' reads its history",
        transcript=Transcript(
            _walk("specstory"),
            history=_in_projects(".specstory", "history", "*.md"),
            magic=b"<!-- Generated by SpecStory",
        ),
    ),
    Host(
        "cline",
        "Cline",
        not_connected="Cline keeps its MCP servers itself; 'iai-mcp import' reads its history",
        transcript=Transcript(
            _walk("cline"), history=_cline_program, document_keys=("modelInfo", "api_req_started")
        ),
    ),
    Host(
        "roo",
        "Roo Code",
        not_connected="Roo Code keeps its MCP servers itself; 'iai-mcp import' reads its history",
        transcript=Transcript(_walk("cline"), history=_cline_history("rooveterinaryinc.roo-cline")),
    ),
    # For any other program.
    Host("shell", "Shell", launch=_launch("shell")),
)

HOSTS = {host.id: host for host in _HOSTS}
