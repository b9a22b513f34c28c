"""Runs git for a repository that may come from anybody. None of the repository's programs runs.

The configuration of a repository (`.git/config`) can name a program for nearly everything git does.
Three rules keep them from running:

- `_OVERRIDES` switches off what can be switched off without another outcome: hooks, monitors, pagers,
  editors, signing, credentials, transports.
- `require_harmless` refuses a repository whose own configuration changes files on checkout or merge
  (filters, merge drivers), unless the person has the same setting in their own configuration.
- Git starts itself in a nested repository, with that repository's configuration and without the
  overrides. So `status` and `diff` get `--ignore-submodules`, and nothing recurses.
"""

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass

from iai_mcp.child_environment import without_secrets
from iai_mcp.domain.errors import InvalidInput, IoFailed, NotInstalled, TimedOut

_PATIENCE = 300.0  # seconds: a large checkout on a slow disk
# Settings of the repository that change what files hold or where they are. The last two rows are
# programs of git-lfs, and configuration that takes effect in some worktrees only.
_REFUSED = re.compile(
    r"filter\..*\.(?:clean|smudge|process)|merge\..*\.driver|core\.worktree"
    r"|lfs\.(?:.*\.)?(?:standalonetransferagent|path|args|clean|smudge)"
    r"|includeif\..*\.path",
    re.DOTALL,
)
_REPOSITORY_SCOPES = ("local", "worktree")
_NO_PROGRAM = "false"  # a command that fails
_OVERRIDES = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "core.pager": "cat",
    "core.editor": "true",
    "sequence.editor": "true",
    "core.quotePath": "false",
    "core.sshCommand": _NO_PROGRAM,
    "core.gitProxy": _NO_PROGRAM,
    "core.askPass": _NO_PROGRAM,
    "core.alternateRefsCommand": _NO_PROGRAM,
    "credential.helper": "",  # empties the list
    "protocol.allow": "never",
    "safe.bareRepository": "explicit",
    "gpg.program": _NO_PROGRAM,
    "gpg.openpgp.program": _NO_PROGRAM,
    "gpg.x509.program": _NO_PROGRAM,
    "gpg.ssh.program": _NO_PROGRAM,
    "gpg.ssh.defaultKeyCommand": _NO_PROGRAM,
    "commit.gpgSign": "false",
    "merge.verifySignatures": "false",
    "merge.autoStash": "false",
    "merge.ff": "true",
    "status.submoduleSummary": "false",
    "diff.submodule": "short",
    "submodule.recurse": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
}
# Of the person's own variables only those that say who they are and where their configuration is.
_KEPT = re.compile(r"GIT_(?:AUTHOR|COMMITTER)_|GIT_CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM)\Z")
_LONGEST_COMPLAINT = 300


@dataclass(frozen=True, slots=True)
class GitCheckout:
    """Files at `path` whose repository is known.

    Git does not look for the repository by itself: an agent writes at `path`, and could exchange
    the `.git` file there between two commands.
    """

    path: str
    git_directory: str


def run(
    at: str | GitCheckout,
    *words: str,
    codes: tuple[int, ...] = (0,),
    settings: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run `git words` in a directory or a checkout, with `settings` on top of the overrides.

    Raises:
        IoFailed: it ended with none of `codes`; the sentence has git's last words.
    """
    directory = at.path if isinstance(at, GitCheckout) else at
    environment = _environment(os.environ, {**_OVERRIDES, **(settings or {})})
    if isinstance(at, GitCheckout):
        environment |= {"GIT_DIR": at.git_directory, "GIT_WORK_TREE": at.path}
    try:
        done = subprocess.run(
            ["git", "--no-pager", *words],
            cwd=directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            timeout=_PATIENCE,
            check=False,
        )
    except FileNotFoundError as absent:
        if not os.path.isdir(directory):
            raise IoFailed(f"there is no directory {directory}") from absent
        raise NotInstalled("git is not installed: install it for agents with worktrees") from absent
    except subprocess.TimeoutExpired as slow:
        raise TimedOut(f"git did not end within {_PATIENCE:g} seconds in {directory}") from slow
    if done.returncode not in codes:
        raise IoFailed(f"git refused: {complaint(done)}")
    return done


def complaint(done: subprocess.CompletedProcess[str]) -> str:
    """What git said was wrong, on one line."""
    said = " ".join((done.stderr.strip() or done.stdout.strip() or "it did not say why").split())
    said = said.removeprefix("fatal: ").removeprefix("error: ")
    return said.encode("utf-8", "replace").decode()[:_LONGEST_COMPLAINT]


def require_harmless(at: str | GitCheckout) -> None:
    """
    Raises:
        InvalidInput: the repository's own configuration runs programs that change files.
    """
    listed = run(at, "config", "--list", "--show-scope", "-z").stdout.split("\0")
    settings = list(zip(listed[::2], listed[1::2], strict=False))
    own = {setting for scope, setting in settings if scope not in _REPOSITORY_SCOPES}
    for scope, setting in settings:
        name = setting.partition("\n")[0]
        if scope in _REPOSITORY_SCOPES and _REFUSED.fullmatch(name) and setting not in own:
            raise InvalidInput(
                f"the repository's own configuration sets {name[:80]!r}, which changes files or runs a "
                "program: if you want that, set the same in your own configuration (git config "
                "--global), else remove it"
            )


def _environment(surroundings: Mapping[str, str], settings: Mapping[str, str]) -> dict[str, str]:
    given = without_secrets(surroundings)
    kept = {k: v for k, v in given.items() if not k.startswith("GIT_") or _KEPT.match(k)}
    kept |= {
        "LC_ALL": "C.UTF-8",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": _NO_PROGRAM,
        "GIT_EDITOR": "true",
        "GIT_MERGE_AUTOEDIT": "no",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_ALLOW_PROTOCOL": "",  # a repository may say that its objects are elsewhere: do not go there
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_CONFIG_COUNT": str(len(settings)),
    }
    for number, (name, value) in enumerate(settings.items()):
        kept |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    return kept
