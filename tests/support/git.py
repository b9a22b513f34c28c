"""Real git repositories, whatever the person who runs the tests has configured."""

import os
import subprocess
from pathlib import Path


def git(*arguments: str | Path, cwd: Path) -> None:
    environment = {
        **os.environ,
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_SYSTEM": "/dev/null",
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@example.org",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@example.org",
    }
    command = ["git", "-c", "protocol.file.allow=always", *map(str, arguments)]
    subprocess.run(command, cwd=cwd, env=environment, check=True, capture_output=True)


def repository(path: Path) -> Path:
    path.mkdir(parents=True)
    git("init", "-q", "-b", "main", cwd=path)
    git("commit", "-q", "--allow-empty", "-m", "first", cwd=path)
    return path
