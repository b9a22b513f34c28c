"""Tells the page that something changed, without asking the daemon: that would keep it awake.

The files that memory and agents write are looked at once a second, while somebody listens.
"""

import asyncio
import json
import os
from collections.abc import AsyncIterator

from iai_mcp import paths

_LOOK_SECONDS = 1.0
_SIGN_OF_LIFE_SECONDS = 15.0  # so that a browser that has gone is noticed
# What to look at, by the name of what changed.
_WATCHED = {
    "memory": ("memory.db", "memory.db-wal"),
    "agents": ("agent-events.jsonl",),
}


class Changes:
    """One look for all who listen."""

    def __init__(self) -> None:
        self._listening: set[asyncio.Queue[str]] = set()
        self._looking: asyncio.Task[None] | None = None

    @property
    def listeners(self) -> int:
        return len(self._listening)

    async def stream(self) -> AsyncIterator[bytes]:
        """Server-sent events, each naming what changed; until whoever listens has gone."""
        told: asyncio.Queue[str] = asyncio.Queue(maxsize=8)
        self._listening.add(told)
        if self._looking is None:
            self._looking = asyncio.create_task(self._look())
        try:
            yield _event("hello")
            while True:
                try:
                    yield _event(await asyncio.wait_for(told.get(), _SIGN_OF_LIFE_SECONDS))
                except TimeoutError:
                    yield b": still here\n\n"
        finally:
            self._listening.discard(told)

    async def _look(self) -> None:
        before = _seen()
        while self._listening:
            await asyncio.sleep(_LOOK_SECONDS)
            now = _seen()
            for name in now:
                if now[name] != before[name]:
                    self._tell(name)
            before = now
        self._looking = None

    def _tell(self, name: str) -> None:
        for told in self._listening:
            if not told.full():  # who does not read has enough to look at when it does
                told.put_nowait(name)


def _seen() -> dict[str, tuple[tuple[int, int], ...]]:
    return {
        name: tuple(_stamp(paths.in_user_data(file)) for file in files)
        for name, files in _WATCHED.items()
    }


def _stamp(path: str) -> tuple[int, int]:
    try:
        found = os.stat(path)
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size


def _event(name: str) -> bytes:
    return f"data: {json.dumps({'changed': name})}\n\n".encode()
