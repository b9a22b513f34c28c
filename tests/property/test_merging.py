"""Whatever the order, however often, in whatever pieces: who was told the same knows the same."""

import random

from hypothesis import given
from hypothesis import strategies as st

from iai_mcp.domain.merging import Replica
from iai_mcp.domain.shared_events import (
    EpochKey,
    Event,
    Forgot,
    Hello,
    Pinned,
    Said,
    Superseded,
    decoded,
    encoded,
)

_DEVICES = st.sampled_from(["1" * 32, "2" * 32, "3" * 32])
_IDENTITIES = st.sampled_from([bytes([n]) * 16 for n in range(5)])
_PRINTABLE = st.characters(codec="utf-8").filter(str.isprintable)
_TIMES = st.integers(0, 3)  # few, so that they often tie
_EVENTS: st.SearchStrategy[Event] = st.one_of(
    st.builds(
        Said,
        identity=_IDENTITIES,
        project=st.just("p"),
        session_id=st.just("s"),
        role=st.just("user"),
        text=st.sampled_from(["one way", "another way"]),
        at=_TIMES,
    ),
    st.builds(Forgot, identity=_IDENTITIES),
    st.builds(Pinned, identity=_IDENTITIES, pinned=st.booleans(), at=_TIMES),
    st.builds(Superseded, identity=_IDENTITIES, by=_IDENTITIES | st.just(b""), at=_TIMES),
)
STREAMS = st.lists(st.tuples(_DEVICES, _EVENTS), max_size=25)


def _told(streams: list[tuple[str, Event]]) -> Replica:
    replica = Replica()
    for device, event in streams:
        replica.hear(device, [event])
    return replica


@given(STREAMS, st.randoms(use_true_random=False))
def test_any_order_and_any_repetition_end_equal(
    streams: list[tuple[str, Event]], chance: random.Random
) -> None:
    again = streams + chance.choices(streams, k=len(streams)) if streams else []
    chance.shuffle(again)
    assert _told(again) == _told(streams)
    assert _told(again).standing() == _told(streams).standing()


@given(STREAMS, st.integers(0, 25))
def test_who_was_told_a_part_ends_equal_with_the_rest(
    streams: list[tuple[str, Event]], cut: int
) -> None:
    late = _told(streams[cut:])
    for device, event in streams[:cut]:
        late.hear(device, [event])
    assert late == _told(streams)


@given(STREAMS)
def test_what_was_forgotten_is_in_no_replica(streams: list[tuple[str, Event]]) -> None:
    replica = _told(streams)
    gone = {event.identity for _, event in streams if isinstance(event, Forgot)}
    standing = replica.standing()
    assert not gone & set(standing)
    assert all(one.superseded_by not in gone for one in standing.values())
    said = {event.identity for _, event in streams if isinstance(event, Said)}
    assert set(standing) == said - gone


@given(
    st.lists(
        st.one_of(
            _EVENTS,
            st.builds(
                Hello,
                member=st.text(_PRINTABLE, min_size=1, max_size=64),
                machine=st.text(_PRINTABLE, max_size=64),
                signing_key=st.binary(min_size=32, max_size=32),
                sealing_key=st.binary(min_size=32, max_size=32),
            ),
            st.builds(
                EpochKey,
                epoch=st.just("e" * 32),
                began=_TIMES,
                sealed=st.dictionaries(_DEVICES, st.binary(min_size=80, max_size=80), min_size=1),
            ),
        )
    )
)
def test_events_come_back_as_they_were_written(events: list[Event]) -> None:
    assert decoded(encoded(events)) == events
