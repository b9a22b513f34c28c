"""A disk in a dictionary. `refuse` makes a path unwritable; `log` keeps the order of writes."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Lock

from iai_mcp.domain.errors import IoFailed, NotFound, ReadOnly
from iai_mcp.ports.file_system import LARGEST_FILE


class FakeDisk:
    """All of it, by absolute paths, for tests to look at; called with a root it gives the files below."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.links: dict[str, str] = {}
        self.pipes: set[str] = set()
        self.directories: set[str] = {"/"}
        self.private: set[str] = set()
        self.log: list[tuple[str, str]] = []
        self.locks: dict[str, Lock] = {}
        self._refused: set[str] = set()

    def __call__(self, root: str) -> "FakeFileSystem":
        return FakeFileSystem(self, root)

    def refuse(self, path: str) -> None:
        self._refused.add(path)

    def check(self, path: str) -> None:
        if any(path == each or path.startswith(f"{each}/") for each in self._refused):
            raise ReadOnly(f"{path} may not be changed")

    def exists(self, path: str) -> bool:
        return any(
            path in known for known in (self.files, self.links, self.pipes, self.directories)
        )

    def make(self, path: str) -> None:
        while path not in self.directories:
            self.directories.add(path)
            path = path.rpartition("/")[0] or "/"

    def below(self, path: str) -> list[str]:
        known = [*self.files, *self.links, *self.pipes, *self.directories]
        return [each for each in known if each == path or each.startswith(f"{path}/")]


class FakeFileSystem:
    def __init__(self, disk: FakeDisk, root: str) -> None:
        self._disk = disk
        self._root = root.rstrip("/")

    def read(self, path: str) -> bytes:
        full = self._file(path)
        if full not in self._disk.files:
            raise NotFound(f"there is no file {full}")
        return self._in_bounds(self._disk.files[full])

    def write(self, path: str, data: bytes, *, private: bool = True) -> None:
        full = self._file(path)
        self._disk.check(full)
        if (full.rpartition("/")[0] or "/") not in self._disk.directories:
            raise IoFailed(f"there is no directory for {full}")
        self._disk.files[full] = self._in_bounds(data)
        self._disk.log.append(("write", full))
        if private:
            self._disk.private.add(full)

    def exists(self, path: str) -> bool:
        try:
            return self._disk.exists(self._reached(path))
        except IoFailed:
            return False

    def create_dir_all(self, path: str, *, private: bool = True) -> None:
        full = self._reached(path)
        self._disk.check(full)
        self._require_no_link(full)
        if full in self._disk.files or full in self._disk.pipes:
            raise IoFailed(f"{full} can not be used (it is a file)")
        if path and (self._root or "/") not in self._disk.directories:
            raise IoFailed(f"there is no directory for {full}")
        self._disk.log.append(("mkdir", full))
        if private:
            self._disk.private.add(full)
        self._disk.make(full)

    def list(self, path: str) -> Sequence[str]:
        full = self._reached(path)
        self._require_no_link(full)
        if full in self._disk.files or full in self._disk.pipes:
            raise IoFailed(f"{full} can not be used (it is a file)")
        found = [p for p in self._disk.below(full.rstrip("/")) if p.rpartition("/")[0] == full]
        return sorted(p.rpartition("/")[2] for p in found)

    def require_plain(self, path: str) -> None:
        for each in self._disk.below(self._reached(path)):
            if each in self._disk.links or each in self._disk.pipes:
                raise IoFailed(f"{each} is a link or a pipe")

    def remove(self, path: str) -> None:
        if not path:
            raise IoFailed(f"{self._root} is the root")
        full = self._reached(path)
        self._disk.check(full)
        self._disk.log.append(("remove", full))
        for each in self._disk.below(full):
            self._disk.files.pop(each, None)
            self._disk.links.pop(each, None)
            self._disk.pipes.discard(each)
            self._disk.directories.discard(each)

    @contextmanager
    def locked(self, path: str) -> Iterator[None]:
        full = self._file(path)
        if (full.rpartition("/")[0] or "/") not in self._disk.directories:
            raise IoFailed(f"there is no directory for {full}")
        self._disk.files.setdefault(full, b"")
        with self._disk.locks.setdefault(full, Lock()):
            yield

    def _reached(self, path: str) -> str:
        """The absolute path, if the way to it goes over no link and no file."""
        here = self._root
        for part in path.split("/") if path else []:
            if part in ("", ".", "..") or "\0" in part:
                raise IoFailed(f"{path!r} does not lead straight down")
            if here != self._root:
                self._require_no_link(here)
                if here in self._disk.files or here in self._disk.pipes:
                    raise IoFailed(f"{here} is a file, not a directory")
            here = f"{here}/{part}"
        return here or "/"

    def _file(self, path: str) -> str:
        full = self._reached(path)
        self._require_no_link(full)
        if full in self._disk.directories or full in self._disk.pipes:
            raise IoFailed(f"{full} can not be used: it is no file")
        return full

    def _require_no_link(self, full: str) -> None:
        if full in self._disk.links:
            raise IoFailed(f"{full} is a link")

    def _in_bounds(self, data: bytes) -> bytes:
        if len(data) > LARGEST_FILE:
            raise IoFailed("it is too large")
        return data
