"""The need for files: whole ones below one directory, written at once or not at all."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

# Nobody writes a persona or a manifest this large; what is larger is something else.
LARGEST_FILE = 4 * 1024 * 1024


class FileSystem(Protocol):
    """The files below one directory, the root. Paths are relative to it, `""` is the root itself.

    What lies there may have been put there by somebody else to do harm. No path leads out of the
    root: `..` is none, and no link on the way or at its end is followed. Only regular files are read
    or replaced, none larger than `LARGEST_FILE`, and nothing is ever waited for.

    Whatever the system or this rule refuses is an `IoFailed` that names the path.
    """

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

    def exists(self, path: str) -> bool:
        """Whether anything is at `path`, be it a link that leads nowhere."""
        ...

    def create_dir_all(self, path: str, *, private: bool = True) -> None:
        """Make the directory and its parents; one that exists stays, tightened if `private`.

        The root is made for `""` only: what is asked for below an absent root is refused.
        """
        ...

    def list(self, path: str) -> Sequence[str]:
        """The names in a directory, sorted; none if there is no such directory."""
        ...

    def require_plain(self, path: str) -> None:
        """Refuse anything at `path` or below it that is neither a file nor a directory.

        For what other programs will open by its path, and follow links. Nothing there is fine.
        """
        ...

    def remove(self, path: str) -> None:
        """Remove a file, a link (never what it points to) or a whole directory. Gone is fine."""
        ...

    def locked(self, path: str) -> AbstractContextManager[None]:
        """Nobody else holds this lock meanwhile, in no process. Its file stays afterwards.

        Raises:
            Busy: somebody held it for longer than a person would wait.
        """
        ...


# The files below a root that is given as an absolute path: the person's own word, links and all.
FilesBelow = Callable[[str], FileSystem]
