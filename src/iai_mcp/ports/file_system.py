"""The need for files: whole ones, written at once or not at all."""

from collections.abc import Sequence
from typing import Protocol


class FileSystem(Protocol):
    """Paths are absolute. What the system refuses is an `IoFailed` that names the path."""

    def read(self, path: str) -> bytes:
        """The whole file.

        Raises:
            NotFound: there is no file at `path`.
        """
        ...

    def write(self, path: str, data: bytes, *, private: bool = True) -> None:
        """Replace the file in one step: a reader sees the old one or the new one, whole.

        `private` files are for their owner only; others get what the umask leaves, and keep the
        mode they had. The directory has to exist.
        """
        ...

    def exists(self, path: str) -> bool: ...

    def create_dir_all(self, path: str, *, private: bool = True) -> None:
        """Make the directory and its parents; one that exists stays, tightened if `private`."""
        ...

    def list(self, path: str) -> Sequence[str]:
        """The names in a directory, sorted; none if there is no such directory."""
        ...

    def symlink(self, target: str, path: str) -> None:
        """Make `path` point to `target`.

        Raises:
            AlreadyExists: something is at `path`.
        """
        ...

    def remove(self, path: str) -> None:
        """Remove a file, a link (never what it points to) or a whole directory. Gone is fine."""
        ...
