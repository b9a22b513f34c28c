"""Which project a path belongs to: one function, used when memories are written and when read.

    iai_mcp.project.project_of("/home/ann/shop/src")   ->  the project at /home/ann/shop

It reads a few small files and starts no git process. Whatever a directory says about belonging to
another one counts only if that one says so, too: anybody can write a pointer. Hooks call it: the
standard library only, and nothing imported that a plain interpreter has not loaded already.
"""

import os
from collections.abc import Mapping
from stat import S_ISDIR, S_ISREG

from iai_mcp import regular_files
from iai_mcp.domain.projects import identity
from iai_mcp.domain.projects.identity import ProjectRef

# A `.git` file holds one path and git's own config a few lines; anything longer is not theirs.
_POINTER_LIMIT = 8192
_CONFIG_LIMIT = 262_144


def project_of(
    project: str,
    *,
    base: str | None = None,
    aliases: Mapping[str, str] | None = None,
    proven: bool = False,
) -> ProjectRef:
    """The project that a path or a name stands for.

    A path leads to the main checkout of its git repository (from sub-directories and linked
    worktrees alike; a submodule is a project of its own), else to the nearest directory upward
    that has `.ideai`, else to itself. Symbolic links are resolved. A path that does not exist is
    judged by its existing parents, and by its letters where there are none. A relative path
    needs `base`; without one it is judged by its letters alone, because what a daemon's working
    directory happens to be must not decide. Aliases are the user's, unless given.

    A worktree whose main checkout is gone still belongs to it. Nobody can confirm that any more,
    so with `proven` it does not.
    """
    if aliases is None:
        from iai_mcp.project_aliases import load

        aliases = load()
    if not identity.is_path(project):
        return identity.from_key(identity.follow(project.strip(), aliases))
    if identity.is_elsewhere(project):
        place = identity.outside_run_directory(project.rstrip("/"))
        return identity.from_key(identity.follow(place, aliases))
    path = _absolute(project, base)
    if not path.startswith("/") or len(path) > regular_files.LONGEST_PATH:
        return identity.from_key(identity.follow(identity.normal(path), aliases))
    path = identity.outside_run_directory(_real(path))
    root = _anchor(path, proven=proven)
    if root is not None:
        return identity.from_key(identity.follow(root, aliases))
    return identity.from_key(identity.follow_upward(path, aliases))


def from_argument(text: str, cwd: str) -> str:
    """What a person typed as a project, as it may travel to the daemon: a name or a full path."""
    if identity.is_elsewhere(text):
        return text
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


def _anchor(path: str, *, proven: bool) -> str | None:
    """The root that git or `.ideai` gives to `path`, looking upward."""
    marked: str | None = None
    here = path
    while True:
        root = _git_root(here, proven=proven)
        if root is not None:
            return root
        if marked is None and _is_directory(f"{here}/.ideai"):
            marked = here
        parent = os.path.dirname(here)
        if parent == here:
            return marked
        here = parent


def _git_root(here: str, *, proven: bool) -> str | None:
    """The main checkout's root if `here` is the top of a checkout or a bare repository."""
    dot_git = os.path.join(here, ".git")
    mode = _mode(dot_git)
    if S_ISDIR(mode):
        return here
    if S_ISREG(mode):
        return _root_by_pointer(here, dot_git, proven=proven)
    if S_ISREG(_mode(f"{here}/HEAD")):  # perhaps the inside of a git directory
        common = _common_directory(here)
        if common is not None or _is_directory(f"{here}/refs"):
            return _root_of_common(common or here)
    return None


def _root_by_pointer(here: str, dot_git: str, *, proven: bool) -> str | None:
    """The root of what a `.git` file makes of `here`: a worktree, or a checkout of its own.

    A submodule, or a checkout with its git directory elsewhere, has its root where we stand, and
    so has every pointer that nobody confirms.
    """
    target = _pointed_at(dot_git, here)
    if target is None:
        return None
    common, worktrees, _ = target.rpartition("/worktrees/")
    if not worktrees:
        return here
    git_directory = _real(target)
    if _is_directory(git_directory):
        confirmed = _common_directory(git_directory)
        return _root_of_common(confirmed) if confirmed and _names(git_directory, here) else here
    gone = not proven and not _is_directory(common)
    return _root_of_common(common) if gone else here


def _root_of_common(common: str) -> str:
    """The main checkout of the repository whose shared git directory is `common`."""
    parent = os.path.dirname(common)
    if os.path.basename(common) == ".git":
        return parent
    configured = _configured_worktree(common)
    # A submodule's checkout, or `thing/.bare` beside `thing/.git`: the layout for worktrees only.
    for checkout in (configured, parent):
        if checkout and _leads_to(os.path.join(checkout, ".git"), checkout, common):
            return checkout
    return common


def _pointed_at(dot_git: str, here: str) -> str | None:
    """The git directory that a `.git` file names, by its letters: it may be anywhere."""
    text = _read(dot_git, _POINTER_LIMIT)
    if text is None or not text.startswith("gitdir:"):
        return None
    target = text.removeprefix("gitdir:").strip()
    return identity.normal(os.path.join(here, target)) if target else None


def _leads_to(dot_git: str, here: str, git_directory: str) -> bool:
    target = _pointed_at(dot_git, here)
    return target is not None and _real(target) == git_directory


def _common_directory(git_directory: str) -> str | None:
    """What a linked worktree's git directory shares with the others: it lies two levels below."""
    text = _read(os.path.join(git_directory, "commondir"), _POINTER_LIMIT)
    worktrees = os.path.dirname(git_directory)
    common = os.path.dirname(worktrees)
    if text is None or os.path.basename(worktrees) != "worktrees":
        return None
    said = identity.normal(os.path.join(git_directory, text.strip()))
    return common if said == common else None


def _names(git_directory: str, here: str) -> bool:
    """Whether the repository itself says that `here` is the worktree of this git directory."""
    text = _read(os.path.join(git_directory, "gitdir"), _POINTER_LIMIT)
    if text is None:
        return False
    checkout, name = os.path.split(os.path.join(git_directory, text.strip()))
    return name == ".git" and _real(checkout) == here


def _configured_worktree(git_directory: str) -> str | None:
    """`core.worktree` of the repository's own config, as the directory it is."""
    in_core = False
    for line in (_read(os.path.join(git_directory, "config"), _CONFIG_LIMIT) or "").splitlines():
        entry = line.strip()
        if entry.startswith("["):
            in_core = entry.lower().startswith("[core]")
            continue
        name, equals, value = entry.partition("=")
        if in_core and equals and name.strip().lower() == "worktree":
            named = value.strip().strip('"')
            return _real(os.path.join(git_directory, named)) if named else None
    return None


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
        return os.fsdecode(regular_files.read(path, limit))
    except (OSError, ValueError):
        return None
