"""All settings in one frozen value, read once by each entry point.

Environment variables win over `<user data>/config.toml`, which wins over the defaults here.
A variable is `IAI_MCP_` plus the setting's name in capitals.
"""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields

from iai_mcp import paths
from iai_mcp.domain.errors import InvalidInput

CONFIG_NAME = "config.toml"

_LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
_TOOL_LISTS = ("models", "all")
# With none of these the daemon would take connections and never answer.
_AT_LEAST_ONE = frozenset({"workers", "calls_per_connection", "calls_in_all", "embed_page"})
# More of them is a typing error. Each is a thread, or a factor of what is read at once.
_AT_MOST = {"embed_threads": 256, "workers": 256}
_LARGEST = 2**31 - 1  # seconds, bytes …: what clocks, sockets and SQL can count


@dataclass(frozen=True, slots=True)
class Settings:
    """Every value is a whole number or a text; the comment says what it changes."""

    idle_secs: int = 1800  # after which a daemon without work counts as idle
    workers: int = 8  # calls computed at the same time; one client gets half of them at most
    calls_per_connection: int = 16  # in flight; more wait
    calls_in_all: int = 128  # in flight; more wait
    model_wait_ms: int = 3000  # how long a recall waits for a model that is loading
    embed_page: int = 16  # memories embedded before looking up from the work
    embed_threads: int = 0  # threads that embed; 0: as many as there are idle cores, one on battery
    drowsy_after: int = 300  # seconds without activity
    sleep_after: int = 1800  # seconds without activity until consolidation begins
    hibernate_after: int = 2400  # seconds without activity until memory is given back
    hear_after: int = 3600  # seconds that a hibernating daemon lets pass until it hears its circles
    resume_after: int = 5  # quiet seconds before an interrupted sleep goes on
    log_level: str = "INFO"  # of the daemon's log
    page_idle: int = 900  # seconds until a page that no browser shows is gone
    http: str = ""  # HOST:PORT on loopback to serve MCP over HTTP too; empty is off
    mcp_tools: str = "models"  # the tools that agents are shown: `models` (seven), or `all`


def load(environ: Mapping[str, str] | None = None) -> Settings:
    """The settings of this moment.

    Raises:
        InvalidInput: a value can not be used; the sentence names it and where it stands.
    """
    env = os.environ if environ is None else environ
    written = _file()
    values: dict[str, int | str] = {}
    for field in fields(Settings):
        variable = f"IAI_MCP_{field.name.upper()}"
        if variable in env:
            values[field.name] = _value(field.name, env[variable], variable)
        elif field.name in written:
            values[field.name] = _value(field.name, written[field.name], CONFIG_NAME)
    return Settings(**values)  # type: ignore[arg-type] # _value gave each its own type


def _file() -> dict[str, object]:
    path = paths.in_user_data(CONFIG_NAME)
    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as broken:
        raise InvalidInput(f"{path} can not be read: {broken}") from broken


def _value(name: str, raw: object, where: str) -> int | str:
    if isinstance(getattr(Settings(), name), str):
        return _text(name, str(raw), where)
    try:
        number = int(str(raw))
    except ValueError as bad:
        raise InvalidInput(
            f"{where}: {name} must be a whole number, not {str(raw)[:40]!r}"
        ) from bad
    if number < 0:
        raise InvalidInput(f"{where}: {name} must not be negative")
    if number == 0 and name in _AT_LEAST_ONE:
        raise InvalidInput(f"{where}: {name} must be at least 1")
    most = _AT_MOST.get(name, _LARGEST)
    if number > most:
        raise InvalidInput(f"{where}: {name} can be at most {most}")
    return number


def _text(name: str, raw: str, where: str) -> str:
    if name == "log_level":
        return _choice(name, raw.upper(), _LOG_LEVELS, where)
    if name == "mcp_tools":
        return _choice(name, raw, _TOOL_LISTS, where)
    return raw


def _choice(name: str, value: str, choices: tuple[str, ...], where: str) -> str:
    if value not in choices:
        raise InvalidInput(
            f"{where}: {name} must be one of {', '.join(choices)}, not {value[:40]!r}"
        )
    return value
