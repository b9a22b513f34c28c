"""`Leftovers` in the spool's files: a turn that was forgotten is taken out, the rest stays as it is."""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from iai_mcp import paths
from iai_mcp.adapters.private_files import io_failure, sync_directory
from iai_mcp.capture.spool import ENDING, SET_ASIDE, TEMPORARY
from iai_mcp.hosts.turns import count_occurrence
from iai_mcp.protocol.compact_json import loads

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
    gone = set(_places(path, is_gone))
    if not gone:
        return 0
    fresh = path.with_name(f".{path.name}.{os.getpid()}{TEMPORARY}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as target, path.open("rb") as source:
        for number, line in enumerate(source):
            if number not in gone:
                target.write(line)
        target.flush()
        os.fsync(target.fileno())
    if path.exists():  # else it was drained, and must not come back
        fresh.replace(path)
    else:
        fresh.unlink()
    sync_directory(path.parent)
    return len(gone)


def _places(path: Path, is_gone: IsGone) -> Iterator[int]:
    """The numbers of the lines to be left out, counted as the drain counts repeated words."""
    seen: dict[str, int] = {}
    session = ""
    with path.open("rb") as file:
        for number, line in enumerate(file):
            turn = _object(line)
            if number == 0:
                session = str(turn.get("session_id") or "")
            elif isinstance(turn.get("text"), str):
                if "id" not in turn and "occurrence" not in turn:
                    turn["occurrence"] = count_occurrence(seen, {"role": "user"} | turn)
                if is_gone(session, turn):
                    yield number


def _object(line: bytes) -> dict[str, object]:
    try:
        value = loads(line.decode("utf-8", "replace"))
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
