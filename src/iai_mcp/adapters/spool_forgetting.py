"""`Leftovers` in the spool's files: a turn that was forgotten is taken out, the rest stays as it is."""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from iai_mcp import paths
from iai_mcp.adapters.private_files import io_failure
from iai_mcp.capture.spool import ENDING, SET_ASIDE, TEMPORARY
from iai_mcp.hosts.reader import LONGEST_LINE, StoppedError, rest_of_line
from iai_mcp.hosts.turns import count_occurrence
from iai_mcp.paths import sync_directory
from iai_mcp.protocol import long_json
from iai_mcp.protocol.compact_json import dumps, scan

_PIECE = 64 * 1024

IsGone = Callable[[str, Mapping[str, object]], bool]


class SpooledTurns:
    """Files that wait for the drain, and files that it set aside because a part could not be read."""

    def drop(self, is_gone: IsGone) -> list[str]:
        directory = Path(paths.spool_dir())
        not_reached: list[str] = []
        for path in (*directory.glob(f"*{ENDING}"), *directory.glob(f"{SET_ASIDE}/*{ENDING}")):
            try:
                if path.is_file() and not path.is_symlink():
                    _rewrite_without(path, is_gone)
            except FileNotFoundError:
                continue  # it was drained meanwhile
            except OSError as refused:
                raise io_failure(refused, path) from refused
            except StoppedError:
                not_reached.append(f"{path}: a line of it is longer than any turn")
        return not_reached


def _rewrite_without(path: Path, is_gone: IsGone) -> None:
    """Leave those turns out, if there are any; whoever reads the file reads on in it as it was."""
    if None not in _kept(path, is_gone):
        return
    fresh = path.with_name(f".{path.name}.{os.getpid()}{TEMPORARY}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as target:
        for kept in _kept(path, is_gone):
            target.write(kept or b"")
        target.flush()
        os.fsync(target.fileno())
    if path.exists():  # else it was drained, and need not come back
        fresh.replace(path)
    else:
        fresh.unlink()
    sync_directory(path.parent)


def _kept(path: Path, is_gone: IsGone) -> Iterator[bytes | None]:
    """The lines as they are to be written, None for those to be left out.

    A turn without an id is told from its repeats by their number, which is written down: counted anew
    it would be another one.
    """
    seen: dict[str, int] = {}
    session: str | None = None
    for line in _lines(path):
        turn = _object(line)
        if session is None:
            session = str(turn.get("session_id") or "")
            yield line
        elif not isinstance(turn.get("text"), str):
            yield line  # damaged: a person may want to look at it
        elif is_gone(session, numbered := _numbered(turn, seen)):
            yield None
        else:
            yield line if numbered is turn else dumps(numbered).encode("utf-8", "replace") + b"\n"


def _lines(path: Path) -> Iterator[bytes]:
    """
    Raises:
        StoppedError: a line is longer than any turn; nobody waits for its end.
    """
    with path.open("rb") as file:
        while line := file.readline(_PIECE):
            whole: bytes | None = line
            if len(line) == _PIECE or line.startswith(b"\0"):
                whole, _, _ = rest_of_line(line, file, _at(file, file.tell() + LONGEST_LINE))
            if whole is None:
                raise StoppedError
            yield whole


def _at(file: BinaryIO, end: int) -> Callable[[], bool]:
    return lambda: file.tell() > end


def _numbered(turn: dict[str, object], seen: dict[str, int]) -> dict[str, object]:
    if "id" in turn or "occurrence" in turn:
        return turn
    return {**turn, "occurrence": count_occurrence(seen, {"role": "user"} | turn)}


def _object(line: bytes) -> dict[str, object]:
    try:
        value = long_json.load(line.decode("utf-8", "replace"), scan)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
