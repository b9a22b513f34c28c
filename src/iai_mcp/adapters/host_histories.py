"""Histories that were imported when only words were read: the work in them."""

import json
from collections.abc import Iterator, Sequence

from iai_mcp import paths, regular_files
from iai_mcp.adapters.bounded_stat import look_at
from iai_mcp.domain.errors import InvalidInput, PlaceSilent
from iai_mcp.domain.memories import NewTurn
from iai_mcp.domain.work import NewWork
from iai_mcp.hosts.reader import name_of
from iai_mcp.hosts.transcripts import open_transcript
from iai_mcp.protocol.turn_events import is_work, read_work

_LONGEST_NOTE = 64 * 1024 * 1024
_AT_ONCE = 200


class PastHistories:
    """The files that a person has imported, as their import noted them."""

    def files(self) -> list[str]:
        try:
            noted = json.loads(
                regular_files.read(paths.in_user_data("imported.json"), _LONGEST_NOTE)
            )
        except (OSError, ValueError):
            return []
        files = noted.get("files") if isinstance(noted, dict) else None
        return sorted(files) if isinstance(files, dict) else []

    def work_in(self, path: str) -> Iterator[Sequence[NewWork]]:
        """What was done in one of them, some at a time; nothing where it is gone or can not be read."""
        try:
            look_at(path, lambda: None)
        except PlaceSilent:
            return
        reading = open_transcript(path)
        batch: list[NewWork] = []
        for event in reading:
            if not is_work(event):
                continue
            shared = NewTurn(
                text="",
                session_id=reading.session_id or name_of(path),
                cwd=reading.cwd or "",
                host=reading.host,
            )
            try:
                new = read_work(event, shared)
            except InvalidInput:
                continue
            if new is not None:
                batch.append(new)
            if len(batch) == _AT_ONCE:
                yield batch
                batch = []
        if batch:
            yield batch
