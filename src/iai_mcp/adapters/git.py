"""git, run for a repository that may come from anybody: none of its programs runs, and nobody is asked.

A repository's own configuration (`.git/config`) can name programs for nearly everything git does. Hooks,
monitors, pagers, editors and signing are turned off. Programs that change what is checked out or merged
can not be turned off without changing the outcome: with those the repository is refused, unless the
person has the very same setting in their own configuration.
"""

import os
import re
import subprocess
from collections.abc import Mapping

from iai_mcp.domain.errors import InvalidInput, IoFailed, NotInstalled, TimedOut

_PATIENCE = 300.0  # seconds: a large checkout on a slow disk
# Settings of the repository itself that change what files hold, or where they are.
_REFUSED = re.compile(r"filter\..*\.(?:clean|smudge|process)|merge\..*\.driver|core\.worktree")
_THEIRS = ("local", "worktree")
_OFF = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "core.pager": "cat",
    "core.editor": "true",
    "core.quotePath": "false",
    "commit.gpgSign": "false",
    "merge.verifySignatures": "false",
    "submodule.recurse": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
}
# Of the person's own variables only those that say who they are and where their configuration is.
_KEPT = re.compile(r"GIT_(?:AUTHOR|COMMITTER)_|GIT_CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM)\Z")
_LONGEST_COMPLAINT = 300


def run(at: str, *words: str, codes: tuple[int, ...] = (0,)) -> subprocess.CompletedProcess[str]:
    """`git words` in the directory `at`.

    Raises:
        IoFailed: it ended with none of `codes`; the sentence has git's last words.
    """
    try:
        done = subprocess.run(
            ["git", "--no-pager", *words],
            cwd=at,
            env=_environment(os.environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            timeout=_PATIENCE,
            check=False,
        )
    except FileNotFoundError as absent:
        if not os.path.isdir(at):
            raise IoFailed(f"there is no directory {at}") from absent
        raise NotInstalled("git is not installed: install it for agents with worktrees") from absent
    except subprocess.TimeoutExpired as slow:
        raise TimedOut(f"git did not end within {_PATIENCE:g} seconds in {at}") from slow
    if done.returncode not in codes:
        raise IoFailed(f"git refused: {complaint(done)}")
    return done


def complaint(done: subprocess.CompletedProcess[str]) -> str:
    """What git said was wrong, on one line."""
    said = " ".join((done.stderr.strip() or done.stdout.strip() or "it did not say why").split())
    said = said.removeprefix("fatal: ").removeprefix("error: ")
    return said.encode("utf-8", "replace").decode()[:_LONGEST_COMPLAINT]


def require_harmless(at: str) -> None:
    """
    Raises:
        InvalidInput: the repository's own configuration runs programs that change files.
    """
    listed = run(at, "config", "--list", "--show-scope", "-z").stdout.split("\0")
    settings = list(zip(listed[::2], listed[1::2], strict=False))
    own = {setting for scope, setting in settings if scope not in _THEIRS}
    for scope, setting in settings:
        name = setting.partition("\n")[0]
        if scope in _THEIRS and _REFUSED.fullmatch(name) and setting not in own:
            raise InvalidInput(
                f"the repository's own configuration sets {name[:80]!r}, which changes files or runs a "
                "program: if you want that, set the same in your own configuration (git config "
                "--global), else remove it"
            )


def _environment(surroundings: Mapping[str, str]) -> dict[str, str]:
    kept = {k: v for k, v in surroundings.items() if not k.startswith("GIT_") or _KEPT.match(k)}
    kept |= {
        "LC_ALL": "C.UTF-8",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "false",
        "GIT_EDITOR": "true",
        "GIT_MERGE_AUTOEDIT": "no",
        "GIT_ALLOW_PROTOCOL": "",  # a repository may say that its objects are elsewhere: do not go there
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_CONFIG_COUNT": str(len(_OFF)),
    }
    for number, (name, value) in enumerate(_OFF.items()):
        kept |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    return kept
