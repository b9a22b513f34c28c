"""The hits of the last recall by their numbers, in each terminal its own.

Only their ids are kept, in the user's runtime directory (which is gone after a restart), or where there is
none beside the store. Whatever can not be kept or read is as if nothing had been recalled.
"""

import contextlib
import os
import re
import stat
import time
from collections.abc import Sequence

from iai_mcp import paths, regular_files
from iai_mcp.cli import output
from iai_mcp.domain.errors import InvalidInput

_MOST_BYTES = 100_000
_A_DAY = 86_400.0  # seconds: nobody means by 3 what was third yesterday
_ID = re.compile(r"[\w-]{8,64}")
_NUMBER = re.compile(r"\d{1,3}")


def keep(ids: Sequence[str]) -> None:
    """Remember what this terminal was shown; nothing where nobody sits at one."""
    if not output.somebody_watches():
        return
    with contextlib.suppress(OSError):
        path = _path()
        temporary = f"{path}.{os.getpid()}"
        # In the place of whatever lies there: a link or a pipe is not written to.
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        try:
            with os.fdopen(os.open(temporary, flags, 0o600), "w", encoding="ascii") as file:
                file.write("\n".join(ids))
            os.replace(temporary, path)
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(temporary)


def meant(given: str) -> str:
    """The memory's id that is meant: a short number is a hit of this terminal's last recall.

    Raises:
        InvalidInput: there was no such hit.
    """
    if not _NUMBER.fullmatch(given):
        return given
    ids = _kept()
    if not ids:
        raise InvalidInput(
            f"there was no recall in this terminal that {given} could count: "
            "run 'iai-mcp recall …' here first, or name the memory by its id"
        )
    if not 1 <= int(given) <= len(ids):
        shown = "one hit" if len(ids) == 1 else f"{len(ids)} hits"
        raise InvalidInput(f"there is no hit {given}: the last recall showed {shown}")
    return ids[int(given) - 1]


def _kept() -> list[str]:
    try:
        path = _path()
        if time.time() - os.lstat(path).st_mtime > _A_DAY:
            return []
        ids = regular_files.read(path, _MOST_BYTES).decode("ascii").split("\n")
    except (OSError, ValueError):
        return []
    return ids if all(map(_ID.fullmatch, ids)) else []


def _path() -> str:
    """A file for this terminal's session, in a directory that is ours alone.

    Raises:
        OSError: there can be none.
    """
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if runtime and os.path.isdir(runtime):
        import hashlib  # late: most commands ask for no number

        store = hashlib.sha256(os.fsencode(paths.user_data())).hexdigest()[:10]
        directory = os.path.join(runtime, f"iai-mcp-recalls-{store}")
    else:
        paths.private_dir(paths.user_data())
        directory = paths.in_user_data("recalls")
    with contextlib.suppress(FileExistsError):
        os.mkdir(directory, 0o700)
    found = os.lstat(directory)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise PermissionError(1, "not a directory of ours alone", directory)
    return os.path.join(directory, str(os.getsid(0)))
