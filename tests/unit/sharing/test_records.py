"""Records: what was sealed comes back to members, and to nobody and nowhere else."""

import pytest

from iai_mcp.domain.event_chain import Link, folded, linked
from iai_mcp.domain.shared_events import Event, Forgot, lines_of
from iai_mcp.sharing import records
from iai_mcp.sharing.keys import DeviceKeys, NotForUs, sealed_for
from iai_mcp.sharing.records import BadRecord, Content, Header

CIRCLE, EPOCH, KEY = "c" * 32, "e" * 32, bytes(range(32))
EVENTS: list[Event] = [Forgot(identity=bytes([n]) * 16) for n in range(3)]


@pytest.fixture(scope="module")
def keys() -> DeviceKeys:
    return DeviceKeys.made()


def _sealed(keys: DeviceKeys, number: int = 1, circle: str = CIRCLE, key: bytes = KEY) -> bytes:
    links = [linked(lines_of(event)[0]) for event in EVENTS]
    digest = folded(b"", [one.leaf for one in links])
    return records.seal(Content(EVENTS, links), _header(keys, digest, number, circle), key, keys)


def _header(keys: DeviceKeys, digest: bytes, number: int = 1, circle: str = CIRCLE) -> Header:
    return Header(
        circle=circle,
        device=keys.device,
        number=number,
        first=number,
        epoch=EPOCH,
        digest=digest.hex(),
    )


def _opened(record: bytes, key: bytes, signing_key: bytes) -> list[Event]:
    records.check_signature(record, signing_key)
    return list(records.opened(record, key).events)


def test_a_member_reads_what_a_device_sealed(keys: DeviceKeys) -> None:
    record = _sealed(keys)
    assert _opened(record, KEY, keys.signing_key) == EVENTS
    header = records.header_of(record)
    assert (header.circle, header.device, header.number) == (CIRCLE, keys.device, 1)


def test_without_the_key_nothing_is_read(keys: DeviceKeys) -> None:
    with pytest.raises(BadRecord):
        _opened(_sealed(keys), bytes(32), keys.signing_key)


def test_another_device_can_not_have_written_it(keys: DeviceKeys) -> None:
    with pytest.raises(BadRecord, match="signature"):
        _opened(_sealed(keys), KEY, DeviceKeys.made().signing_key)


def test_no_byte_can_be_changed_or_cut_unnoticed(keys: DeviceKeys) -> None:
    record = _sealed(keys)
    for at in range(len(record)):
        forged = bytearray(record)
        forged[at] ^= 1
        with pytest.raises(BadRecord):
            _opened(bytes(forged), KEY, keys.signing_key)
        with pytest.raises(BadRecord):
            _opened(record[:at], KEY, keys.signing_key)


def test_a_member_can_not_pass_one_record_off_as_another(keys: DeviceKeys) -> None:
    """Even who has the circle's key and may sign: the body opens only under its own header."""
    one, two = _sealed(keys, 1), _sealed(keys, 2)
    swapped = two[: two.index(b"}") + 1] + one[one.index(b"}") + 1 : -64]
    with pytest.raises(BadRecord, match="opened"):
        _opened(swapped + keys.sign(swapped), KEY, keys.signing_key)


def test_sealing_anew_repeats_nothing(keys: DeviceKeys) -> None:
    first, again = _sealed(keys), _sealed(keys)
    assert first != again
    body = slice(first.index(b"}") + 1, -64)
    assert first[body] != again[body]


def test_a_body_that_swells_beyond_all_bounds_is_refused(
    keys: DeviceKeys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "_body", lambda _content: b"\n" * (17 << 20))
    record = _sealed(keys)
    assert len(record) < 10_000
    with pytest.raises(BadRecord, match="larger"):
        _opened(record, KEY, keys.signing_key)


def test_an_event_can_be_taken_out_of_a_record_and_none_put_in(keys: DeviceKeys) -> None:
    links = [linked(lines_of(event)[0]) for event in EVENTS]
    bare = [links[0], Link(b"", links[1].leaf), links[2]]
    digest = folded(b"", [one.leaf for one in links])

    def sealed(content: Content) -> bytes:
        return records.seal(content, _header(keys, digest), KEY, keys)

    left = records.opened(sealed(Content([EVENTS[0], EVENTS[2]], bare)), KEY)
    assert list(left.events) == [EVENTS[0], EVENTS[2]]
    more = records.opened(sealed(Content([*EVENTS, EVENTS[0]], links)), KEY)
    assert (len(more.events), more.covered) == (4, 3)
    with pytest.raises(BadRecord, match="chain"):
        records.opened(sealed(Content([EVENTS[0], EVENTS[0], EVENTS[2]], links)), KEY)


def test_what_is_sealed_for_a_device_opens_there_only(keys: DeviceKeys) -> None:
    sealed = sealed_for(keys.sealing_key, b"epoch key", b"circle")
    assert keys.opened(sealed, b"circle") == b"epoch key"
    with pytest.raises(NotForUs):
        keys.opened(sealed, b"another circle")
    with pytest.raises(NotForUs):
        DeviceKeys.made().opened(sealed, b"circle")
    with pytest.raises(NotForUs):
        keys.opened(b"", b"circle")


def test_words_are_compressed_before_they_are_sealed(keys: DeviceKeys) -> None:
    many: list[Event] = [Forgot(identity=bytes(16))] * 1000

    assert len(records.seal(Content(many), _header(keys, b""), KEY, keys)) < 2000
