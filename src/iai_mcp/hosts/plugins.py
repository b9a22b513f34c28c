"""Plugins and extensions that hosts install themselves, the MCP registry entry and the desktop bundle.

All of it is generated from the list of hosts. It is made on one machine and installed on others, so it
starts `iai-mcp` by name. A plugin's hooks pass `--plugin`: they do nothing where the person's settings
have our hooks too.
"""

import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from iai_mcp import __version__
from iai_mcp.domain.errors import InvalidInput
from iai_mcp.hosts import every
from iai_mcp.hosts.commands import SERVER, Commands, hook_groups
from iai_mcp.hosts.config_files.jsonc import Json
from iai_mcp.hosts.config_files.ownership import OUR_VARIABLES
from iai_mcp.hosts.launch import in_arrays
from iai_mcp.hosts.skill import NAME as SKILL
from iai_mcp.hosts.skill import TEXT

ABOUT = "One memory for all coding agents on this machine: captured by itself, encrypted, recalled."
PEOPLE = "The iai-mcp developers"
PORTABLE = Commands(hook=("iai-mcp", "hook", "--plugin"), bridge=("iai-mcp", "mcp"))
FOLDER = "plugins/iai-mcp"  # of a marketplace

_SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
_ZIP_DATE = (1980, 1, 1, 0, 0, 0)  # the same bytes whenever it is made

# Desktop programs have a PATH of their own, without the places where pipx and uv put commands.
_STARTER = """#!/bin/sh
PATH="$HOME/.local/bin:$PATH:/opt/homebrew/bin:/usr/local/bin"
command -v iai-mcp >/dev/null || { echo "iai-mcp is not installed: pipx install iai-mcp" >&2; exit 1; }
exec iai-mcp "$@"
"""


def manifest(**more: Json) -> dict[str, Json]:
    """What every plugin says of itself."""
    return {
        "name": SERVER,
        "version": __version__,
        "description": ABOUT,
        "author": {"name": PEOPLE},
        "license": "MIT",
        **more,
    }


def servers(**more: Json) -> dict[str, Json]:
    command, *args = PORTABLE.bridge
    return {"mcpServers": {SERVER: {"command": command, "args": list(args), **more}}}


def as_json(value: Mapping[str, Json]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def claude_code() -> dict[str, str]:
    """Claude Code's plugin, in a marketplace of its own: `claude plugin marketplace add DIR`."""
    from iai_mcp.hosts.claude_code import HOOKS
    from iai_mcp.hosts.claude_code.config import hooks

    listed: Json = {"name": SERVER, "source": f"./{FOLDER}", "description": ABOUT}
    marketplace: dict[str, Json] = {
        "name": SERVER,
        "owner": {"name": PEOPLE},
        "metadata": {"description": ABOUT},
        "plugins": [listed],
    }
    return {
        ".claude-plugin/marketplace.json": as_json(marketplace),
        f"{FOLDER}/.claude-plugin/plugin.json": as_json(manifest()),
        f"{FOLDER}/hooks/hooks.json": as_json(
            {"hooks": in_arrays(hooks(PORTABLE, HOOKS.timeouts()))}
        ),
        f"{FOLDER}/.mcp.json": as_json(servers(alwaysLoad=True)),
        f"{FOLDER}/skills/{SKILL}/SKILL.md": TEXT,
    }


def codex() -> dict[str, str]:
    """Codex's plugin, in a marketplace of its own: `codex plugin marketplace add DIR`."""
    from iai_mcp.hosts.codex import HOOKS, HOST

    hooks = hook_groups(PORTABLE, HOST.id, HOOKS.timeouts(), HOOKS.matchers)
    plugin: Json = {
        "name": SERVER,
        "source": {"source": "local", "path": f"./{FOLDER}"},
        "policy": {"installation": "AVAILABLE", "authentication": "ON_INSTALL"},
        "category": "Productivity",
    }
    marketplace: dict[str, Json] = {
        "name": SERVER,
        "interface": {"displayName": SERVER},
        "plugins": [plugin],
    }
    parts = manifest(skills="./skills/", mcpServers="./.mcp.json", hooks="./hooks/hooks.json")
    return {
        ".agents/plugins/marketplace.json": as_json(marketplace),
        f"{FOLDER}/.codex-plugin/plugin.json": as_json(parts),
        f"{FOLDER}/hooks/hooks.json": as_json({"hooks": in_arrays(hooks)}),
        # Codex hands servers few variables; these lead to a store that is not at the usual place.
        f"{FOLDER}/.mcp.json": as_json(servers(env_vars=list(OUR_VARIABLES))),
        f"{FOLDER}/skills/{SKILL}/SKILL.md": TEXT,
    }


def gemini() -> dict[str, str]:
    """Gemini CLI's extension: `gemini extensions install DIR`."""
    from iai_mcp.hosts.gemini import HOOKS, HOST

    hooks = hook_groups(PORTABLE, HOST.id, HOOKS.timeouts(), HOOKS.matchers, name=SERVER)
    extension = {"name": SERVER, "version": __version__, "description": ABOUT, **servers()}
    return {
        "gemini-extension.json": as_json(extension),
        "hooks/hooks.json": as_json({"hooks": in_arrays(hooks)}),
        f"skills/{SKILL}/SKILL.md": TEXT,
    }


def everything(repository: str) -> dict[str, bytes]:
    """All packages by their place: a folder for each host that has plugins, the entry, the bundle.

    Raises:
        InvalidInput: the address of the project is none.
    """
    made: dict[str, bytes] = {}
    for host in every():
        for place, text in (host.package() if host.package else {}).items():
            made[f"{host.id}/{place}"] = text.encode()
    made["server.json"] = as_json(_registry_entry(repository)).encode()
    made[f"{SERVER}.mcpb"] = _bundle()
    return made


def write(directory: Path, repository: str) -> list[Path]:
    """Put all packages below `directory`; the files."""
    written = []
    for place, content in everything(repository).items():
        path = directory / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        written.append(path)
    return written


def _registry_entry(repository: str) -> dict[str, Json]:
    package: dict[str, Json] = {
        "registryType": "pypi",
        "identifier": SERVER,
        "version": __version__,
        "runtimeHint": "uvx",
        "packageArguments": [{"type": "positional", "value": "mcp"}],
        "transport": {"type": "stdio"},
    }
    return {
        "$schema": _SCHEMA,
        "name": _registry_name(repository),
        "title": SERVER,
        "description": ABOUT,
        "version": __version__,
        "repository": {
            "url": repository,
            "source": "github" if "//github.com/" in repository else "git",
        },
        "packages": [package],
    }


def _registry_name(repository: str) -> str:
    """The owner's part is what they can prove to own: an account at GitHub, or a domain, backwards."""
    address = urlsplit(repository)
    if not address.hostname:
        raise InvalidInput(f"'{repository}' is no web address: mend project.urls in pyproject.toml")
    owner = address.path.strip("/").partition("/")[0]
    if address.hostname == "github.com" and owner:
        return f"io.github.{owner}/{SERVER}"
    return f"{'.'.join(reversed(address.hostname.split('.')))}/{SERVER}"


def _bundle() -> bytes:
    starter = "server/iai-mcp"
    bundle = manifest(
        manifest_version="0.3",
        display_name=SERVER,
        server={
            "type": "binary",
            "entry_point": starter,
            "mcp_config": {"command": f"${{__dirname}}/{starter}", "args": ["mcp"], "env": {}},
        },
        compatibility={"platforms": ["darwin", "linux"]},
    )
    archive_bytes = io.BytesIO()
    with zipfile.ZipFile(archive_bytes, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text, mode in (
            ("manifest.json", as_json(bundle), 0o644),
            (starter, _STARTER, 0o755),
        ):
            entry = zipfile.ZipInfo(name, _ZIP_DATE)
            entry.external_attr = mode << 16
            archive.writestr(entry, text)
    return archive_bytes.getvalue()
