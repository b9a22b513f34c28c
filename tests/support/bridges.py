"""The two stdio bridges: the Python one, and the Node wrapper built in a directory of its own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "mcp-wrapper"
PYTHON = (sys.executable, "-m", "iai_mcp.bridge")
# Tests give their processes another HOME; npm needs the real one for its cache and configuration.
_ENVIRONMENT = dict(os.environ)
_INSTALL_SECONDS = 60
_INSTALL = ("npm", "install", "--prefer-offline", "--no-audit", "--no-fund", "--fetch-retries=0")


def built_wrapper(directory: Path) -> Path:
    """The wrapper's entry file. Skips the test where Node or its compiler is missing."""
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            pytest.skip(f"the wrapper's tests need {program}")
    copy = directory / "mcp-wrapper"
    shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("node_modules", "dist"))
    if problem := _install_problem(copy):
        pytest.skip(f"npm could not fetch typescript: {problem}")
    _run(("npm", "run", "build"), copy, check=True)
    return copy / "dist" / "index.js"


def _install_problem(directory: Path) -> str:
    try:
        done = _run(_INSTALL, directory, check=False)
    except subprocess.TimeoutExpired:
        return f"it took more than {_INSTALL_SECONDS} seconds"
    return "" if done.returncode == 0 else done.stderr.strip()[-300:]


def _run(
    command: tuple[str, ...], directory: Path, *, check: bool
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=directory,
        env=_ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=_INSTALL_SECONDS,
        check=check,
    )
