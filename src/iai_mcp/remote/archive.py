"""What runs on another machine, as one archive: our own sources that need nothing but Python.

The same sources give the same bytes, so that the archive's digest is its version.
"""

import hashlib
import io
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from iai_mcp import paths

if TYPE_CHECKING:
    from zipfile import ZipInfo

_PACKAGE = Path(__file__).resolve().parents[1]
# Packages and files whose imports end in the standard library. `domain` is pure throughout.
_PACKAGES = [
    "bridge",
    "capture",
    "client",
    "domain",
    "hosts",
    "ports",
    "protocol",
    "remote",
    "terminal",
]
_FILES = [
    "__init__.py",
    "boot_clock.py",
    "child_environment.py",
    "paths.py",
    "project.py",
    "project_aliases.py",
    "regular_files.py",
    "adapters/__init__.py",
    "adapters/agent_runtime.py",
    "adapters/files/__init__.py",
    "adapters/files/local.py",
    "adapters/git.py",
    "adapters/git_worktrees.py",
    "adapters/bounded_stat.py",
    "adapters/journal_reader.py",
    "adapters/spool_drain.py",
]
_MAIN = b"from iai_mcp.remote.__main__ import main\n\nmain()\n"
_LONG_AGO = (1980, 1, 1, 0, 0, 0)
_KEPT = "far"


@dataclass(frozen=True, slots=True)
class Archive:
    """`path` is where it lies here; `digest` the SHA-256 of its bytes."""

    path: Path
    digest: str

    def read(self) -> bytes:
        return self.path.read_bytes()


def current() -> Archive:
    """The archive of this installation, made at need and kept in the user data."""
    stamp = _stamp()
    kept = Path(paths.in_user_data(_KEPT))
    for found in kept.glob(f"{stamp}.*.pyz"):
        return Archive(found, found.name.split(".")[1])
    data = build()
    digest = hashlib.sha256(data).hexdigest()
    from iai_mcp.adapters.files.local import LocalFileSystem

    own = LocalFileSystem(paths.user_data(), own=True)
    own.create_dir_all(_KEPT)
    for earlier in kept.glob("*.pyz"):
        own.remove(f"{_KEPT}/{earlier.name}")
    name = f"{stamp}.{digest}.pyz"
    own.write(f"{_KEPT}/{name}", data)
    return Archive(kept / name, digest)


def build() -> bytes:
    """The archive's bytes: the same for the same sources, whenever and wherever they lie."""
    import zipfile  # only where there is something to build

    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        archive.writestr(_entry("__main__.py"), _MAIN)
        for path in _sources():
            name = f"iai_mcp/{path.relative_to(_PACKAGE).as_posix()}"
            archive.writestr(_entry(name), path.read_bytes())
    return out.getvalue()


def _entry(name: str) -> "ZipInfo":
    from zipfile import ZIP_DEFLATED, ZipInfo

    entry = ZipInfo(name, _LONG_AGO)
    entry.compress_type = ZIP_DEFLATED
    entry.external_attr = 0o600 << 16
    return entry


def _sources() -> list[Path]:
    found = [_PACKAGE / name for name in _FILES]
    for package in _PACKAGES:
        for folder, _, names in os.walk(_PACKAGE / package):
            found += [Path(folder, name) for name in names if name.endswith(".py")]
    return sorted(found)


def _stamp() -> str:
    """Changes whenever a source does, without reading any."""
    seen = hashlib.sha256()
    for path in _sources():
        found = os.stat(path)
        seen.update(f"{path} {found.st_size} {found.st_mtime_ns}\n".encode())
    return seen.hexdigest()[:16]
