"""Whether what a host's files start is still there: an installation can be moved, or removed."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence

_PATIENCE_SECONDS = 10.0


def problem(commands: Sequence[Sequence[str]]) -> str:
    """The first of them that starts nothing, and why; empty if all of them do."""
    # A host has many hooks, and all of them start the same: each is looked at once.
    distinct = dict.fromkeys(tuple(words[:3]) for words in commands)
    return next(filter(None, map(_problem, distinct)), "")


def _problem(words: tuple[str, ...]) -> str:
    program = os.path.expandvars(
        os.path.expanduser(words[0])
    )  # somebody may have written it by hand
    if os.path.dirname(program) and not os.path.isabs(program):
        # Never run here: whose directory we are called in may be somebody else's.
        return f"{program}, which is another one in every directory"
    if shutil.which(program) is None:
        missing = "which is gone" if os.path.isabs(program) else "which is not on PATH"
        return f"{program}, {missing}"
    script = next((word for word in words[1:] if word.endswith(".py")), None)
    if script is not None and not os.path.exists(script):
        return f"{script}, which is gone"
    if "-I" in words[1:2] and program != sys.executable and not _has_us(program):
        return f"{program}, where iai-mcp is not installed"
    return ""


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
