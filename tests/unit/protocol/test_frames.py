"""Bytes become lines, however they are cut, and never more is held than the limit."""

from hypothesis import given
from hypothesis import strategies as st

from iai_mcp.protocol.frames import LineDecoder, Oversize

lines_of_bytes = st.lists(st.binary(max_size=40).map(lambda b: b.replace(b"\n", b"")), max_size=12)


@given(lines_of_bytes, st.data())
def test_any_cutting_of_the_stream_gives_the_same_lines(
    lines: list[bytes], data: st.DataObject
) -> None:
    stream = b"".join(line + b"\n" for line in lines)
    decoder, found = LineDecoder(limit=1000), []
    while stream:
        size = data.draw(st.integers(1, len(stream)))
        found += decoder.feed(stream[:size])
        stream = stream[size:]
    assert found == lines
    assert decoder.finish() == []


@given(st.integers(1, 30), st.integers(1, 7))
def test_a_line_is_refused_exactly_when_it_is_longer_than_the_limit(length: int, cut: int) -> None:
    decoder, found = LineDecoder(limit=15), []
    stream = b"x" * length + b"\nnext\n"
    for start in range(0, len(stream), cut):
        found += decoder.feed(stream[start : start + cut])
    first, second = found
    assert isinstance(first, Oversize) == (length > 15)
    assert second == b"next"


def test_what_stands_without_a_newline_comes_at_the_end() -> None:
    decoder = LineDecoder()
    assert decoder.feed(b"half") == []
    assert decoder.finish() == [b"half"]


def test_an_endless_line_holds_no_memory() -> None:
    decoder = LineDecoder(limit=100)
    for _ in range(1000):
        decoder.feed(b"x" * 90)
    assert sum(map(len, decoder._parts)) <= 100
    (end,) = decoder.feed(b"\n")
    assert isinstance(end, Oversize)
