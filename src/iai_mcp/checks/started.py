"""Whether what a host's files start is still there: an installation can be moved, or removed."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import cache

_PATIENCE_SECONDS = 10.0


def problem(commands: Sequence[Sequence[str]]) -> str:
    """The first of them that starts nothing, and why; empty if all of them do."""
    return next(filter(None, (_problem(tuple(words)) for words in commands)), "")


def _problem(words: tuple[str, ...]) -> str:
    program = words[0]
    if shutil.which(program) is None:
        return (
            f"{program}, which is gone"
            if os.path.isabs(program)
            else f"{program}, which is not on PATH"
        )
    script = next((word for word in words[1:3] if word.endswith(".py")), None)
    if script is not None and not os.path.exists(script):
        return f"{script}, which is gone"
    runs_python = "-I" in words[1:2] and program != sys.executable
    return (
        f"{program}, where iai-mcp is not installed" if runs_python and not _has_us(program) else ""
    )


@cache
def _has_us(python: str) -> bool:
    try:
        asked = subprocess.run(
            [python, "-I", "-c", "import iai_mcp"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return asked.returncode == 0
