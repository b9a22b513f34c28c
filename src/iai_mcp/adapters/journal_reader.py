"""Reading on in the journal of agents and sessions, which others write and move aside meanwhile.

A place says how far somebody has read: by what the file's beginning is known, and how many bytes.
Standard library only: this is also done on other machines.
"""

import os
import zlib
from pathlib import Path
from typing import BinaryIO

NAME = "agent-events.jsonl"
_BEGINNING = 256  # bytes that tell one journal from another; inodes are used again at once
_AT_ONCE = 262_144  # bytes: about two thousand events


def read_on(path: Path, place: str) -> tuple[bytes, str]:
    """The whole lines that come next, and the place behind them; nothing when there are none."""
    mark, offset = _parsed(place)
    now, before = _opened(path), _opened(Path(f"{path}.old"))
    try:
        if _is(now, mark, offset):
            parts = [(now, offset)]
        elif _is(before, mark, offset):
            # The journal grew too long and was moved aside: first the rest of that one.
            parts = [(before, offset), (now, 0)]
        else:
            parts = [(before, 0), (now, 0)]
        for file, start in parts:
            if file is not None and (text := _lines(file, start)):
                end = start + len(text)
                return text, f"{_mark(file, end)} {end}"
        return b"", place
    finally:
        for file in (now, before):
            if file is not None:
                file.close()


def _parsed(place: str) -> tuple[int, int]:
    mark, _, offset = place.partition(" ")
    return (int(mark), int(offset)) if mark.isdecimal() and offset.isdecimal() else (0, 0)


def _opened(path: Path) -> BinaryIO | None:
    try:
        return path.open("rb")
    except FileNotFoundError:
        return None


def _is(file: BinaryIO | None, mark: int, offset: int) -> bool:
    """Whether this is the file whose beginning was read."""
    return file is not None and offset > 0 and _mark(file, offset) == mark


def _mark(file: BinaryIO, offset: int) -> int:
    """What the beginning of a file is known by, once `offset` bytes of it were read."""
    file.seek(0)
    beginning = file.read(min(offset, _BEGINNING))
    return zlib.crc32(beginning) if os.fstat(file.fileno()).st_size >= offset else -1


def _lines(file: BinaryIO, offset: int) -> bytes:
    """Without the line that is just being written; a line too long to be one of ours is passed."""
    file.seek(offset)
    text = file.read(_AT_ONCE)
    end = text.rfind(b"\n") + 1
    return text[:end] if end or len(text) < _AT_ONCE else text
