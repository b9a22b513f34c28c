"""A disk in a dictionary. `refuse` makes a path unwritable; `log` keeps the order of writes."""

from collections.abc import Sequence

from iai_mcp.domain.errors import AlreadyExists, IoFailed, NotFound, ReadOnly


class FakeFileSystem:
    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.links: dict[str, str] = {}
        self.directories: set[str] = {"/"}
        self.private: set[str] = set()
        self.log: list[tuple[str, str]] = []
        self._refused: set[str] = set()

    def refuse(self, path: str) -> None:
        self._refused.add(path)

    def _check(self, path: str) -> None:
        if any(path == each or path.startswith(f"{each}/") for each in self._refused):
            raise ReadOnly(f"{path} may not be changed")

    def read(self, path: str) -> bytes:
        path = self.links.get(path, path)
        if path in self.directories:
            raise IoFailed(f"{path} can not be used (it is a directory)")
        if path not in self.files:
            raise NotFound(f"there is no file {path}")
        return self.files[path]

    def write(self, path: str, data: bytes, *, private: bool = True) -> None:
        path = self.links.get(path, path)
        self._check(path)
        if path.rpartition("/")[0] not in self.directories:
            raise IoFailed(f"{path} can not be used (no such directory)")
        self.files[path] = data
        self.log.append(("write", path))
        if private:
            self.private.add(path)

    def exists(self, path: str) -> bool:
        return path in self.files or path in self.directories or path in self.links

    def create_dir_all(self, path: str, *, private: bool = True) -> None:
        self._check(path)
        if path in self.files:
            raise IoFailed(f"{path} can not be used (it is a file)")
        self.log.append(("mkdir", path))
        if private:
            self.private.add(path)
        while path not in self.directories:
            self.directories.add(path)
            path = path.rpartition("/")[0] or "/"

    def list(self, path: str) -> Sequence[str]:
        below = [*self.files, *self.links, *self.directories]
        return sorted({p.rpartition("/")[2] for p in below if p.rpartition("/")[0] == path} - {""})

    def symlink(self, target: str, path: str) -> None:
        if self.exists(path):
            raise AlreadyExists(f"{path} exists already")
        self.links[path] = target

    def remove(self, path: str) -> None:
        self._check(path)
        self.log.append(("remove", path))
        if self.links.pop(path, None) is not None:
            return
        for known in [p for p in self.files if p == path or p.startswith(f"{path}/")]:
            del self.files[known]
        for known in [p for p in self.links if p.startswith(f"{path}/")]:
            del self.links[known]
        self.directories -= {p for p in self.directories if p == path or p.startswith(f"{path}/")}
