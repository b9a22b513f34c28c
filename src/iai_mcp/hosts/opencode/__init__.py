"""OpenCode."""

import os

from iai_mcp.hosts.host import HookEvent, Hooks, Host, Transcript, folder_from, lazy, xdg_config


def folder() -> str:
    if os.environ.get("OPENCODE_CONFIG_DIR"):
        return folder_from("OPENCODE_CONFIG_DIR")
    return xdg_config("opencode")


def _data() -> str:
    return os.path.join(folder_from("XDG_DATA_HOME", ".local", "share"), "opencode")


def _find_transcript(_session: str) -> str | None:
    """One database holds all sessions; the parser picks the session out."""
    path = os.path.join(_data(), "opencode.db")
    return path if os.path.exists(path) else None


HOOKS = Hooks(
    # The names that our own plugin gives them; it has a timeout of its own for all.
    {
        "sessionStart": (HookEvent.START, 0),
        "prompt": (HookEvent.PROMPT, 0),
        "idle": (HookEvent.STOP, 0),
        "permission": (HookEvent.ATTENTION, 0),
    },
    injected=lambda text, _name: text,  # the plugin reads it
    find_transcript=_find_transcript,
)

HOST = Host(
    "opencode",
    "OpenCode",
    binaries=("opencode",),
    folders=lambda: (folder(),),
    files=lazy(f"{__name__}.config", "files"),
    seen="1.18.33",
    launch=lazy(f"{__name__}.config", "launch"),
    hooks=HOOKS,
    transcript=Transcript(
        lazy(f"{__name__}.transcript", "walk"),
        history=lambda: (
            os.path.join(_data(), "opencode*.db"),  # one per release channel
            os.path.join(_data(), "storage/session/*/*.json"),
        ),
        magic=b"SQLite format 3\0",
        document_keys=("projectID",),
    ),
)
