"""Frames between a session's holder and its clients: one byte of type, four of length, a payload.

Sans I/O, and without `struct` or `enum`: one holder runs per session, and every module it
imports is paid for once per session. `docs/sessions.md` describes each frame.
"""

VERSION = 1
HEADER_SIZE = 5
# What one frame may carry. Output goes in pieces of this size, so a client that reads slowly
# holds up at most one of them in the holder.
MAX_PAYLOAD = 65_536

# From a client.
# mode u8, rows u16, cols u16, for FROM position u64: start the stream of output; rows 0 claims no size
ATTACH = 1
INPUT = 2  # request u32, bytes: type them; answered by DONE unless the request is 0
RESIZE = 3  # rows u16, cols u16
KILL = 4  # nothing: hang up, SIGKILL after half a second; answered by EXITED
STATE = 5  # tail u32: asks for STATE, and for TAIL if tail > 0
WATCH = 6  # nothing: STATUS now and at every change, EXITED at the end
SUBMITTED = 7  # nothing: what was typed is a whole message, so the program is presumably at it
SAID = 8  # UTF-8: what the agent said last, from its hooks (`capture/agent_session.py` writes it)

# From the holder.
STATUS = 65  # one JSON object
TAIL = 66  # the last raw output, from a safe boundary on
OUTPUT = 67  # raw output
LOST = 68  # skipped u64, position u64, head u64: the client fell a whole ring behind
DONE = 69  # request u32: these bytes were written to the terminal
EXITED = 70  # code u32, signal u8: the program has ended; the last frame of all
REFUSED = 71  # a sentence

# How an ATTACH wants the stream to begin.
LIVE = 0  # with what comes from now on
SCREEN = 1  # far enough back to rebuild the current screen
WHOLE = 2  # with the oldest output the ring still holds
FROM = (
    3  # with the byte of that number, for who had all before it; later if the ring has it no more
)


class FrameError(ValueError):
    """The other side does not speak this protocol."""


def header(kind: int, size: int) -> bytes:
    return bytes((kind,)) + size.to_bytes(4, "big")


def frame(kind: int, payload: bytes = b"") -> bytes:
    """One whole frame."""
    if len(payload) > MAX_PAYLOAD:
        raise FrameError(f"a frame carries at most {MAX_PAYLOAD} bytes, not {len(payload)}")
    return header(kind, len(payload)) + payload


def pack(*fields: tuple[int, int]) -> bytes:
    """Numbers as (value, width in bytes), one after the other."""
    return b"".join(value.to_bytes(width, "big") for value, width in fields)


def unpack(payload: bytes, *widths: int) -> tuple[int, ...]:
    """The numbers that `pack` wrote. A payload that is too short is a `FrameError`."""
    if len(payload) < sum(widths):
        raise FrameError(f"a frame of {len(payload)} bytes is too short")
    numbers = []
    at = 0
    for width in widths:
        numbers.append(int.from_bytes(payload[at : at + width], "big"))
        at += width
    return tuple(numbers)


class FrameDecoder:
    """Collects bytes and hands out whole frames; holds at most one frame and what was fed."""

    __slots__ = ("_buffer",)

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[tuple[int, bytes]]:
        """The (type, payload) pairs that `data` completes, in order."""
        buffer = self._buffer
        buffer += data
        frames = []
        at = 0
        while len(buffer) - at >= HEADER_SIZE:
            size = int.from_bytes(buffer[at + 1 : at + HEADER_SIZE], "big")
            if size > MAX_PAYLOAD:
                raise FrameError(f"a frame carries at most {MAX_PAYLOAD} bytes, not {size}")
            end = at + HEADER_SIZE + size
            if len(buffer) < end:
                break
            frames.append((buffer[at], bytes(buffer[at + HEADER_SIZE : end])))
            at = end
        del buffer[:at]
        return frames
