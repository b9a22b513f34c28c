"""Frames of the holder's socket: golden bytes, any cut, a bound."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iai_mcp.terminal import frames as wire


def test_a_frame_is_type_length_and_payload() -> None:
    assert wire.frame(wire.INPUT, b"abc") == b"\x02\x00\x00\x00\x03abc"
    assert wire.frame(wire.KILL) == b"\x04\x00\x00\x00\x00"
    assert wire.frame(wire.ATTACH, wire.pack((wire.SCREEN, 1), (24, 2), (80, 2))) == (
        b"\x01\x00\x00\x00\x05\x01\x00\x18\x00\x50"
    )


def test_the_numbers_of_frame_types_never_change() -> None:
    client = (wire.ATTACH, wire.INPUT, wire.RESIZE, wire.KILL, wire.STATE, wire.WATCH)
    holder = (wire.STATUS, wire.TAIL, wire.OUTPUT, wire.LOST, wire.DONE, wire.EXITED, wire.REFUSED)

    assert (*client, wire.SUBMITTED) == (1, 2, 3, 4, 5, 6, 7)
    assert holder == (65, 66, 67, 68, 69, 70, 71)


@given(
    st.lists(st.tuples(st.integers(0, 255), st.binary(max_size=300)), max_size=8),
    st.lists(st.integers(0, 3000), max_size=6),
)
def test_frames_come_out_as_they_went_in_wherever_they_are_cut(
    frames: list[tuple[int, bytes]], cuts: list[int]
) -> None:
    stream = b"".join(wire.frame(kind, payload) for kind, payload in frames)
    edges = [0, *sorted(cut % (len(stream) + 1) for cut in cuts), len(stream)]
    decoder = wire.FrameDecoder()

    decoded = [
        frame
        for begin, end in zip(edges, edges[1:], strict=False)  # noqa: RUF007 - clearer so
        for frame in decoder.feed(stream[begin:end])
    ]

    assert decoded == frames


def test_a_frame_above_the_limit_is_refused_on_both_sides() -> None:
    with pytest.raises(wire.FrameError):
        wire.frame(wire.INPUT, b"x" * (wire.MAX_PAYLOAD + 1))
    with pytest.raises(wire.FrameError):
        wire.FrameDecoder().feed(b"\x02\x00\x10\x00\x00")


def test_numbers_survive_packing_and_short_payloads_are_refused() -> None:
    assert wire.unpack(wire.pack((7, 1), (65_535, 2), (2**40, 8)), 1, 2, 8) == (7, 65_535, 2**40)
    with pytest.raises(wire.FrameError):
        wire.unpack(b"\x00", 2)
