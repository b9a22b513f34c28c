"""Which project a path belongs to: one function, used when memories are written and when read.

    iai_mcp.project.project_of("/home/ann/shop/src")   ->  the project at /home/ann/shop

It reads a few small files and starts no git process. Hooks call it: the standard library only,
and nothing imported that a plain interpreter has not loaded already.
"""

import os
from collections.abc import Mapping
from stat import S_ISDIR, S_ISREG

from iai_mcp.domain import project_identity as identity
from iai_mcp.domain.project_identity import ProjectRef

# A `.git` file holds one path and git's own config a few lines; anything longer is not theirs.
_POINTER_LIMIT = 8192
_CONFIG_LIMIT = 262_144
_LONGEST_PATH = 4096  # no system opens a longer one


def project_of(
    project: str, *, base: str | None = None, aliases: Mapping[str, str] | None = None
) -> ProjectRef:
    """The project that a path or a name stands for.

    A path leads to the main checkout of its git repository (from sub-directories and linked
    worktrees alike; a submodule is a project of its own), else to the nearest directory upward
    that has `.ideai`, else to itself. Symbolic links are resolved. A path that does not exist is
    judged by its existing parents, and by its letters where there are none. A relative path
    needs `base`; without one it is judged by its letters alone, because what a daemon's working
    directory happens to be must not decide. Aliases are the user's, unless given.
    """
    if aliases is None:
        from iai_mcp.project_aliases import load

        aliases = load()
    if not identity.is_path(project):
        return identity.from_key(identity.follow(project.strip(), aliases))
    path = _absolute(project, base)
    if not path.startswith("/") or len(path) > _LONGEST_PATH:
        return identity.from_key(identity.follow(identity.normal(path), aliases))
    path = identity.outside_run_directory(_real(path))
    root = _anchor(path)
    if root is not None:
        return identity.from_key(identity.follow(root, aliases))
    return identity.from_key(identity.follow_upward(path, aliases))


def from_argument(text: str, cwd: str) -> str:
    """What a person typed as a project, as it may travel to the daemon: a name or a full path."""
    if identity.is_path(text) or text in (".", "..", "~"):
        return identity.normal(os.path.join(cwd, os.path.expanduser(text)))
    return text


def _absolute(path: str, base: str | None) -> str:
    if path.startswith("~"):
        path = os.path.expanduser(path)
    return os.path.join(base, path) if base else path


def _real(path: str) -> str:
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):  # a NUL byte, or letters no file name can have
        return identity.normal(path)


def _anchor(path: str) -> str | None:
    """The root that git or `.ideai` gives to `path`, looking upward."""
    marked: str | None = None
    here = path
    while True:
        root = _git_root(here)
        if root is not None:
            return root
        if marked is None and _is_directory(f"{here}/.ideai"):
            marked = here
        parent = os.path.dirname(here)
        if parent == here:
            return marked
        here = parent


def _git_root(here: str) -> str | None:
    """The main checkout's root if `here` is the top of a checkout or a bare repository."""
    dot_git = os.path.join(here, ".git")
    mode = _mode(dot_git)
    if S_ISDIR(mode):
        return here
    if S_ISREG(mode):
        return _root_by_pointer(here, dot_git)
    if _looks_like_git_directory(here):
        return _root_of_common(_common_directory(here) or here)
    return None


def _root_by_pointer(here: str, dot_git: str) -> str | None:
    git_directory = _pointed_at(dot_git, here)
    if git_directory is None:
        return None
    common = _common_directory(git_directory)
    if common is None and not _is_directory(git_directory):
        # The main checkout went away; the pointer still says where it was.
        common, worktrees, _ = git_directory.rpartition("/worktrees/")
        return _root_of_common(common) if worktrees else here
    # Without a common directory this is a submodule or a checkout with its git directory
    # elsewhere: its root is where we stand.
    return here if common is None else _root_of_common(common)


def _root_of_common(common: str) -> str:
    """The main checkout of the repository whose shared git directory is `common`."""
    parent = os.path.dirname(common)
    if os.path.basename(common) == ".git":
        return parent
    configured = _configured_worktree(common)
    if configured is not None:
        return _real(os.path.join(common, configured))
    # `thing/.bare` beside `thing/.git` with "gitdir: ./.bare": the layout for worktrees only.
    if _pointed_at(os.path.join(parent, ".git"), parent) == common:
        return parent
    return common


def _pointed_at(dot_git: str, here: str) -> str | None:
    text = _read(dot_git, _POINTER_LIMIT)
    if text is None or not text.startswith("gitdir:"):
        return None
    target = text.removeprefix("gitdir:").strip()
    return _real(os.path.join(here, target)) if target else None


def _common_directory(git_directory: str) -> str | None:
    text = _read(os.path.join(git_directory, "commondir"), _POINTER_LIMIT)
    if text is None or not text.strip():
        return None
    return _real(os.path.join(git_directory, text.strip()))


def _configured_worktree(git_directory: str) -> str | None:
    """`core.worktree` of the repository's own config."""
    in_core = False
    for line in (_read(os.path.join(git_directory, "config"), _CONFIG_LIMIT) or "").splitlines():
        entry = line.strip()
        if entry.startswith("["):
            in_core = entry.lower().startswith("[core]")
            continue
        name, equals, value = entry.partition("=")
        if in_core and equals and name.strip().lower() == "worktree":
            return value.strip().strip('"') or None
    return None


def _looks_like_git_directory(here: str) -> bool:
    return S_ISREG(_mode(f"{here}/HEAD")) and (
        _is_directory(f"{here}/refs") or S_ISREG(_mode(f"{here}/commondir"))
    )


def _is_directory(path: str) -> bool:
    return S_ISDIR(_mode(path))


def _mode(path: str) -> int:
    """The file's mode, or 0 where there is none that we may see."""
    try:
        return os.stat(path).st_mode
    except (OSError, ValueError):
        return 0


def _read(path: str, limit: int) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            text = file.read(limit + 1)
    except (OSError, ValueError):
        return None
    return text if len(text) <= limit else None
