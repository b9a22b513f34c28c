"""How this program was installed, and so how it is upgraded and how long it stays where it is.

Told from what the installers leave behind: pipx and uv a file in the environment, all of them a note
about where the package came from (PEP 610).
"""

import json
import os
import shlex
import sys
from dataclasses import dataclass
from typing import Literal
from urllib.parse import unquote, urlsplit

NAME = "iai-mcp"
Way = Literal["pipx", "uv tool", "pip", "clone"]

_MARKS: tuple[tuple[str, Way], ...] = (
    ("pipx_metadata.json", "pipx"),
    ("uv-receipt.toml", "uv tool"),
)

_ARCHIVES = (".whl", ".tar.gz", ".zip")


@dataclass(frozen=True, slots=True)
class Installation:
    """`place` is the environment, or the clone that the program runs from. `origin` is the directory, file
    or address that it was installed from; empty for a package index."""

    way: Way
    place: str
    origin: str = ""

    @property
    def lasts(self) -> bool:
        """Whether it goes on when the clone is moved or removed."""
        return self.way != "clone"

    @property
    def missing(self) -> str:
        """What an upgrade needs and is not there, as a sentence; empty if nothing."""
        if not self.origin.startswith("/") or os.path.exists(self.origin):
            return ""
        return f"it was installed from {self.origin}, which is gone: bring it back, or name the place of a new one"

    @property
    def commands(self) -> tuple[str, ...]:
        """What upgrades it, in this order."""
        return (*self._fetch(), self._install(), f"{NAME} up")

    @property
    def removal(self) -> str:
        """What takes the program itself off the machine."""
        by_way = {
            "pipx": f"pipx uninstall {NAME}",
            "uv tool": f"uv tool uninstall {NAME}",
            "pip": f"{self._python} -m pip uninstall {NAME}",
            "clone": f"rm -r {shlex.quote(os.path.join(self.place, '.venv'))}",
        }
        return by_way[self.way]

    @property
    def _python(self) -> str:
        return shlex.quote(os.path.join(self.place, "bin", "python"))

    def _fetch(self) -> tuple[str, ...]:
        source = self.place if self.way == "clone" else self.origin
        if source and os.path.exists(os.path.join(source, ".git")):
            return (f"git -C {shlex.quote(source)} pull",)
        if self.missing and not source.endswith(_ARCHIVES):
            return (f"git clone REPOSITORY {shlex.quote(source)}",)
        return ()

    def _install(self) -> str:
        if self.way == "clone":
            return shlex.quote(os.path.join(self.place, "scripts", "environment"))
        if not self.origin:
            by_name = {
                "pipx": f"pipx upgrade {NAME}",
                "uv tool": f"uv tool upgrade {NAME}",
                "pip": f"{self._python} -m pip install --upgrade {NAME}",
            }
            return by_name[self.way]
        again = {
            "pipx": "pipx install --force",
            # uv takes what it built of a directory before, unless it is told to build it anew.
            "uv tool": "uv tool install --force --reinstall",
            "pip": f"{self._python} -m pip install --upgrade",
        }
        return f"{again[self.way]} {shlex.quote(self.origin)}"


def current() -> Installation:
    """How the program that runs here was installed."""
    return of(sys.prefix, os.path.dirname(os.path.abspath(__file__)))


def of(prefix: str, package: str) -> Installation:
    """How the package at `package` came into the environment at `prefix`."""
    library = os.path.dirname(package)
    root = os.path.dirname(library)
    if os.path.exists(os.path.join(root, "scripts", "environment")):
        return Installation("clone", root)
    marked = (way for mark, way in _MARKS if os.path.exists(os.path.join(prefix, mark)))
    way: Way = next(marked, "pip")
    return Installation(way, prefix, _origin(library))


def _origin(library: str) -> str:
    from importlib.metadata import distributions

    for found in distributions(name=NAME, path=[library]):
        try:
            said = json.loads(found.read_text("direct_url.json") or "{}")
            address = said["url"]
            parts = urlsplit(address)
        except (ValueError, KeyError, TypeError, AttributeError):
            return ""
        kept = said.get("vcs_info")
        if parts.scheme == "file" and not kept:
            return unquote(parts.path)
        vcs = f"{kept['vcs']}+" if isinstance(kept, dict) and "vcs" in kept else ""
        return f"{vcs}{address}"
    return ""
