"""Finds the transcript files of all hosts on this machine, for import."""

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from glob import iglob
from pathlib import Path

from iai_mcp.domain.errors import NotFound
from iai_mcp.hosts import readable
from iai_mcp.hosts.transcripts import detect

# What a directory is searched for when a person names one.
_ENDINGS = (".jsonl", ".jsonl.zst", ".json", ".db", ".vscdb", ".aider.chat.history.md")
# Of other endings there are too many files: these count where a host keeps them.
_IN_PLACE = "/.specstory/history/"


@dataclass(frozen=True, slots=True)
class History:
    """One file of a host's history."""

    host: str
    path: str
    size: int
    modified: float  # seconds since the epoch


def on_this_machine(hosts: Collection[str] | None = None) -> list[History]:
    """All histories of these hosts (all hosts by default), oldest first."""
    histories: dict[str, History] = {}
    for host in readable():
        if host.transcript is None or (hosts is not None and host.id not in hosts):
            continue
        for pattern in host.transcript.history():
            for path in iglob(pattern, recursive=True):
                history = _history(host.id, path)
                if history is not None:
                    histories.setdefault(str(Path(path).resolve()), history)
    return _oldest_first(histories.values())


def named(names: Collection[str], host: str | None = None) -> list[History]:
    """The histories at these files and in these directories.

    Raises:
        NotFound: one of them is not there.
    """
    histories: dict[str, History] = {}
    for name in names:
        path = Path(name).expanduser()
        if not path.exists():
            raise NotFound(f"there is nothing at {path}")
        for file in _files(path):
            history = _history(host or detect(str(file)), str(file))
            if history is not None:
                histories.setdefault(str(file.resolve()), history)
    return _oldest_first(histories.values())


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
        return
    for folder, _, names in os.walk(path):
        for name in sorted(names):
            if name.endswith(_ENDINGS) or (
                name.endswith(".md") and f"{folder}/".endswith(_IN_PLACE)
            ):
                yield Path(folder, name)


def _history(host: str, path: str) -> History | None:
    try:
        status = Path(path).stat()
    except OSError:
        return None  # gone, or a link to nowhere
    if not Path(path).is_file():
        return None
    return History(host, str(Path(path).absolute()), status.st_size, status.st_mtime)


def _oldest_first(histories: Collection[History]) -> list[History]:
    return sorted(histories, key=lambda history: (history.modified, history.path))
