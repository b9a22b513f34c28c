"""What makes two places the same project: the part that needs no file system.

A project is known by its key. A key with a `/` is the path of the project's root, any other
key is a name that somebody gave. Hooks import this module on every call, so it stays free of
`dataclasses` and `typing` (10 ms between them).
"""

from collections.abc import Iterable, Mapping

# `<project>/.ideai/run/<agent-id>/` is where a launched agent runs, `<project>/.ideai/worktrees/<slug>/`
# where it may change files; what it says there is about the project.
_OF_AGENTS = ((".ideai", "run"), (".ideai", "worktrees"))


class ProjectRef(tuple[str, str, str | None]):
    """One project: `key` is stored and compared, `name` is shown, `root` is there for a path."""

    __slots__ = ()

    def __new__(cls, key: str, name: str, root: str | None) -> "ProjectRef":
        return super().__new__(cls, (key, name, root))

    @property
    def key(self) -> str:
        return self[0]

    @property
    def name(self) -> str:
        return self[1]

    @property
    def root(self) -> str | None:
        return self[2]

    def __repr__(self) -> str:
        return f"ProjectRef(key={self.key!r}, name={self.name!r}, root={self.root!r})"


def is_path(project: str) -> bool:
    """A project with a `/` is a path; any other is a name."""
    return "/" in project


def is_plain_name(name: str) -> bool:
    """Whether a name is one that people can see: not blank, and nothing in it is invisible."""
    return bool(name.strip()) and name.isprintable()


def is_elsewhere(project: str | None) -> bool:
    """Whether it is a path on another machine, `ssh://host/path`: nothing here tells more of it."""
    return project is not None and project.startswith("ssh://")


def from_key(key: str) -> ProjectRef:
    """The project that a stored key stands for."""
    if not is_path(key):
        return ProjectRef(key, key, None)
    return ProjectRef(key, _name_of(key), key)


def normal(path: str) -> str:
    """`path` without `.`, `..`, doubled and trailing slashes, by its letters alone."""
    rooted = path.startswith("/")
    kept: list[str] = []
    for part in path.split("/"):
        if part in ("", "."):
            continue
        if part == "..":
            if kept and kept[-1] != "..":
                kept.pop()
            elif not rooted:
                kept.append(part)
            continue
        kept.append(part)
    joined = "/".join(kept)
    return f"/{joined}" if rooted else joined or "."


def outside_run_directory(path: str) -> str:
    """The project that an agent's run directory or worktree belongs to; any other path as it is."""
    parts = path.split("/")
    for at in range(1, len(parts) - 2):
        if (parts[at], parts[at + 1]) in _OF_AGENTS:
            return "/".join(parts[:at]) or "/"
    return path


def follow(key: str, aliases: Mapping[str, str]) -> str:
    """Where `key` leads through `aliases`; a circle ends where it was entered."""
    seen = {key}
    here = key
    while (onward := aliases.get(here)) is not None:
        if onward in seen:
            return key
        seen.add(onward)
        here = onward
    return here


def follow_upward(path: str, aliases: Mapping[str, str]) -> str:
    """As `follow`, for a path that nothing on disk anchors: an alias of a parent counts too."""
    here = path
    while True:
        if here in aliases:
            return follow(here, aliases)
        parent = here.rpartition("/")[0]
        if not parent or parent == here:
            return path
        here = parent


def matches(asked: ProjectRef, key: str, aliases: Mapping[str, str]) -> bool:
    """Whether memories stored under `key` belong to the project that was asked for.

    A path stands for itself. A name stands for the project of that name and for every path
    whose last part it is.
    """
    known = follow(key, aliases)
    if known == follow(asked.key, aliases):
        return True
    return asked.root is None and from_key(known).name == asked.name


def matching(asked: ProjectRef, keys: Iterable[str], aliases: Mapping[str, str]) -> list[str]:
    """Those of the stored `keys` that belong to the project that was asked for, in their order."""
    return [key for key in keys if matches(asked, key, aliases)]


def is_within(place: str, key: str) -> bool:
    """Whether `place`, a key or a path, is the project of that key or lies in it, by its letters."""
    return place == key or (is_path(key) and place.startswith(f"{key.rstrip('/')}/"))


def _name_of(path: str) -> str:
    last = path.rstrip("/").rpartition("/")[2]
    # A bare repository is called `thing.git` on disk and `thing` by people.
    return last.removesuffix(".git") or last or "/"
