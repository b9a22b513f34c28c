"""Which projects are checkouts of one repository: read from their `.git`, and kept for when they go.

No git process runs. What lies in `.git` is whatever somebody put there: regular files are read, so
much of each, no links. What it claims opens nothing private; see SECURITY.md. The note in
`<user data>/repositories.json` holds digests only.
"""

import json
import os
import threading
import zlib
from collections.abc import Iterable, Sequence

from iai_mcp import paths, regular_files
from iai_mcp.adapters.bounded_stat import look_at
from iai_mcp.domain.errors import PlaceSilent
from iai_mcp.domain.projects import repository as identity

_CONFIG_LIMIT = 262_144
_REFS_LIMIT = 4 * 1024 * 1024
_OBJECT_LIMIT = 1024 * 1024
_COMMIT_LIMIT = 65_536
_COMMITS_AT_MOST = 500  # from the tip to the root: a longer way is not cheap any more
_NOTE_LIMIT = 8 * 1024 * 1024
_NOTED_AT_MOST = 20_000
_TOLD_AT_MOST = 8  # places that one project may come from
_LOOKS_AT_ONCE = 10  # of other checkouts, while somebody waits for an answer
# Commits of nothing, made by scripts within one second, are the same in repositories that are not.
_EMPTY_TREES = (
    "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
)


class Repositories:
    """What is known about the repositories of projects. Every call is safe from any thread."""

    def __init__(self) -> None:
        self._looked_at: set[str] = set()
        self._writing = threading.Lock()

    def look(self, root: str) -> None:
        """Note what the checkout at `root` says now; once in a process's life is enough."""
        if root in self._looked_at:
            return
        self._looked_at.add(root)
        found = read_identities(root)
        if found:
            self._note(root, found)

    def told(self, key: str, repository: str, *, guessed: bool = False) -> None:
        """Note what a transcript says about where a project that is not here comes from."""
        found = identity.of_remote(repository)
        known = _read_note().get(identity.of_place(key), [])
        if found is not None and found not in known and not (guessed and known):
            self._note(key, [found, *known][:_TOLD_AT_MOST])

    def kin(self, own: Sequence[str], known: Iterable[str]) -> list[str]:
        """Those of the known keys that are of the same repository as one of `own`, without these."""
        others = [key for key in known if key.startswith("/") and key not in own]
        roots = [key for key in own if key.startswith("/")]
        if not roots or not others:
            return []
        self._look_at_new(roots)
        self._look_at_new(others)
        noted = _read_note()
        mine = {one for key in roots for one in _identities(key, noted)}
        return [key for key in others if not mine.isdisjoint(_identities(key, noted))]

    def _look_at_new(self, keys: Sequence[str]) -> None:
        for key in [key for key in keys if key not in self._looked_at][:_LOOKS_AT_ONCE]:
            try:
                look_at(key, lambda key=key: self.look(key))  # type: ignore[misc]  # bound now
            except PlaceSilent:
                self._looked_at.add(key)

    def _note(self, key: str, found: Sequence[str]) -> None:
        name = identity.of_place(key)
        with self._writing:
            noted = _read_note()
            if noted.get(name) != sorted(found) and len(noted) < _NOTED_AT_MOST:
                _write_note({**noted, name: sorted(found)})


def read_identities(root: str) -> list[str]:
    """What tells where the repository with its checkout at `root` comes from; nothing if none is there."""
    git = _git_directory(root)
    if git is None:
        return []
    found = (identity.of_remote(_remote(git) or ""), identity.of_root(_root_commit(git) or ""))
    return [one for one in found if one is not None]


def _identities(key: str, noted: dict[str, list[str]]) -> list[str]:
    place = identity.of_place(key)
    return [place, *noted.get(place, ())]


def _git_directory(root: str) -> str | None:
    """Where git keeps what it knows about the checkout: `.git`, what a file of that name says, or
    the directory itself, of a bare repository.
    """
    dot_git = os.path.join(root, ".git")
    if os.path.islink(dot_git):
        return None
    if os.path.isdir(dot_git):
        return dot_git
    said = _text(dot_git, 8192)
    if said is not None and said.startswith("gitdir:"):
        return os.path.join(root, said.removeprefix("gitdir:").strip())
    return root if os.path.isfile(os.path.join(root, "HEAD")) else None


def _remote(git: str) -> str | None:
    """The url of `origin`, else of the first remote."""
    urls: dict[str, str] = {}
    section = ""
    for line in (_text(os.path.join(git, "config"), _CONFIG_LIMIT) or "").splitlines():
        entry = line.strip()
        if entry.startswith("["):
            section = entry
            continue
        name, equals, value = entry.partition("=")
        if equals and name.strip().lower() == "url" and section.lower().startswith("[remote "):
            urls.setdefault(section[8:].strip(' "]'), value.strip().strip('"'))
    return urls.get("origin") or next(iter(urls.values()), None)


def _root_commit(git: str) -> str | None:
    """The first commit of all, where the way there is short and not packed."""
    commit = _head(git)
    for _ in range(_COMMITS_AT_MOST):
        lines = _commit(git, commit) if commit else None
        if commit is None or lines is None:
            return _first_in_log(git)
        parents = [line[7:] for line in lines if line.startswith("parent ")]
        if not parents:
            return None if lines[0].removeprefix("tree ") in _EMPTY_TREES else commit
        commit = parents[0] if identity.is_sha(parents[0]) else None
    return None


def _head(git: str) -> str | None:
    said = (_text(os.path.join(git, "HEAD"), 4096) or "").strip()
    if not said.startswith("ref: refs/"):
        return said if identity.is_sha(said) else None
    name = said.removeprefix("ref: ")
    if ".." in name or "\0" in name:
        return None
    loose = (_text(os.path.join(git, name), 4096) or "").strip()
    if identity.is_sha(loose):
        return loose
    for line in (_text(os.path.join(git, "packed-refs"), _REFS_LIMIT) or "").splitlines():
        commit, _, ref = line.partition(" ")
        if ref == name and identity.is_sha(commit):
            return commit
    return None


def _commit(git: str, commit: str) -> list[str] | None:
    """The lines of a commit that lies in a file of its own; None of any other."""
    try:
        packed = regular_files.read(
            os.path.join(git, "objects", commit[:2], commit[2:]), _OBJECT_LIMIT
        )
        data = zlib.decompressobj().decompress(packed, _COMMIT_LIMIT)
    except (OSError, ValueError, zlib.error):
        return None
    head, _, body = data.partition(b"\0")
    lines = body.partition(b"\n\n")[0].decode("utf-8", "replace").splitlines()
    return lines if head.startswith(b"commit ") and lines else None


def _first_in_log(git: str) -> str | None:
    """The repository's first commit as it was made here, if this is where it began."""
    try:
        with regular_files.opened(os.path.join(git, "logs", "HEAD")) as file:
            line = file.readline(4096).decode("utf-8", "replace")
    except (OSError, ValueError):
        return None
    before, _, rest = line.partition(" ")
    made = rest.partition(" ")[0]
    began = before.strip("0") == "" and "\tcommit (initial):" in line
    lines = _commit(git, made) if began and identity.is_sha(made) else None
    if lines is not None and lines[0].removeprefix("tree ") in _EMPTY_TREES:
        return None
    return made if began else None


def _text(path: str, limit: int) -> str | None:
    try:
        return os.fsdecode(regular_files.read(path, limit))
    except (OSError, ValueError):
        return None


def _note_path() -> str:
    return paths.in_user_data("repositories.json")


def _read_note() -> dict[str, list[str]]:
    try:
        noted = json.loads(regular_files.read(_note_path(), _NOTE_LIMIT))["projects"]
        if all(isinstance(one, list) for one in noted.values()):
            return {str(key): [str(one) for one in found] for key, found in noted.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass  # absent or damaged: it is learned again where the checkouts are
    return {}


def _write_note(noted: dict[str, list[str]]) -> None:
    path = _note_path()
    fresh = f"{path}.{os.getpid()}"
    try:
        paths.private_dir(paths.user_data())
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump({"version": 1, "projects": noted}, file)
        os.replace(fresh, path)
    except OSError:
        return  # it is read from the checkouts again the next time
