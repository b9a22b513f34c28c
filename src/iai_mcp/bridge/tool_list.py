"""The setting `mcp_tools` for a bridge that lists the tools without the daemon.

A host waits for this list at its start. A reader of TOML takes milliseconds to import, so it is
imported only when the configuration names the setting.
"""

import os

from iai_mcp import paths

_DEFAULT = "models"


def mcp_tools() -> str:
    """The setting's value; the default where it can not be used, since a host remembers an empty list.

    The daemon refuses such a value at its start, in a sentence.
    """
    if (value := os.environ.get("IAI_MCP_MCP_TOOLS")) is not None:
        return value
    try:
        with open(paths.in_user_data("config.toml"), "rb") as file:
            text = file.read()
        if b"mcp_tools" not in text:
            return _DEFAULT
        import tomllib

        return str(tomllib.loads(text.decode()).get("mcp_tools", _DEFAULT))
    except (OSError, ValueError, RecursionError):
        return _DEFAULT
