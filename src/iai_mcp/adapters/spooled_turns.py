"""`Leftovers` in the spool's files: a turn that was forgotten is taken out, the rest stays as it is."""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from iai_mcp import paths
from iai_mcp.adapters.private_files import io_failure, sync_directory
from iai_mcp.capture.spool import ENDING, SET_ASIDE, TEMPORARY
from iai_mcp.hosts.turns import count_occurrence
from iai_mcp.protocol.compact_json import dumps, loads

_LONGEST = 128 * 1024 * 1024  # bytes of a line that are read at once

IsGone = Callable[[str, Mapping[str, object]], bool]


class SpooledTurns:
    """Files that wait for the drain, and files that it set aside because a part could not be read."""

    def drop(self, is_gone: IsGone) -> int:
        directory = Path(paths.spool_dir())
        dropped = 0
        for path in (*directory.glob(f"*{ENDING}"), *directory.glob(f"{SET_ASIDE}/*{ENDING}")):
            try:
                if path.is_file() and not path.is_symlink():
                    dropped += _without(path, is_gone)
            except FileNotFoundError:
                continue  # it was drained meanwhile
            except OSError as refused:
                raise io_failure(refused, path) from refused
        return dropped


def _without(path: Path, is_gone: IsGone) -> int:
    """Rewrite one file without those turns, if it has any; whoever reads it reads on as it was."""
    gone = sum(kept is None for kept in _kept(path, is_gone))
    if not gone:
        return 0
    fresh = path.with_name(f".{path.name}.{os.getpid()}{TEMPORARY}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as target:
        for kept in _kept(path, is_gone):
            target.write(kept or b"")
        target.flush()
        os.fsync(target.fileno())
    if path.exists():  # else it was drained, and must not come back
        fresh.replace(path)
    else:
        fresh.unlink()
    sync_directory(path.parent)
    return gone


def _kept(path: Path, is_gone: IsGone) -> Iterator[bytes | None]:
    """The lines as they are to be written, None for those to be left out.

    A turn without an id is told from its repeats by their number, which is written down: counted anew,
    it would be another one.
    """
    seen: dict[str, int] = {}
    session, first = "", True
    with path.open("rb") as file:
        while line := file.readline(_LONGEST):
            turn = _object(line)
            if first:
                session, first = str(turn.get("session_id") or ""), False
                yield line
            elif not isinstance(turn.get("text"), str):
                yield line  # damaged, or a piece of something longer than any turn
            elif is_gone(session, turn := _numbered(turn, seen)):
                yield None
            else:
                yield dumps(turn).encode("utf-8", "replace") + b"\n"


def _numbered(turn: dict[str, object], seen: dict[str, int]) -> dict[str, object]:
    if "id" in turn or "occurrence" in turn:
        return turn
    return {**turn, "occurrence": count_occurrence(seen, {"role": "user"} | turn)}


def _object(line: bytes) -> dict[str, object]:
    try:
        value = loads(line.decode("utf-8", "replace"))
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
