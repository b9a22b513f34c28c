"""What every store's side of a circle promises, on the fake and on the encrypted file alike."""

import pytest
from hypothesis import HealthCheck, given, settings
from tests.fakes.sharing_ledger import FakeSharingLedger
from tests.property.test_merging import STREAMS
from tests.support.circles import OWN, joined_ledger, standing

from iai_mcp.adapters.sqlite.database import Database
from iai_mcp.domain.event_chain import Link
from iai_mcp.domain.merging import Replica
from iai_mcp.domain.shared_events import EpochKey, Event, Forgot, Hello, Pinned, Said, Seen
from iai_mcp.ports.sharing_ledger import (
    ALONE,
    Asked,
    Batch,
    Heard,
    Laid,
    Recovered,
    SetAside,
    SharingLedger,
    Witness,
)

OTHER = "0" * 32
LIMIT = 1 << 20


@pytest.fixture(params=["fake", "sqlite"])
def ledger(request: pytest.FixtureRequest) -> SharingLedger:
    if request.param == "fake":
        return FakeSharingLedger(OWN)
    return joined_ledger(request.getfixturevalue("database"))


def said(text: str) -> Said:
    identity = text.encode().ljust(16, b".")[:16]
    return Said(identity=identity, project="", session_id="s", role="user", text=text, at=5)


def laid(batch: Batch, first: int = 0) -> Laid:
    """As it is in the place: every event has a link, and the chain a digest."""
    links = {one.key: Link(b"s" * 12, bytes([one.key % 256]) * 24) for one in batch.items}
    return Laid(first or batch.number, batch.number, bytes([batch.number]) * 24, links)


def sent(ledger: SharingLedger, *events: Event) -> Batch:
    """These events in a record that is in the place."""
    ledger.say(events)
    batch = ledger.assign(LIMIT)
    assert batch is not None
    ledger.sent(laid(batch))
    return batch


def test_what_is_said_waits_gets_a_number_and_is_sent_once(ledger: SharingLedger) -> None:
    ledger.say([said("one"), said("two")])
    assert ledger.assigned() is None
    batch = ledger.assign(LIMIT)
    assert batch is not None and batch == ledger.assigned()
    assert (batch.number, batch.events) == (1, (said("one"), said("two")))
    ledger.sent(laid(batch))
    assert ledger.assigned() is None and ledger.assign(LIMIT) is None
    assert ledger.last_sent() == 1 and ledger.own_records() == [(1, 1)]
    again = ledger.went_out(1, 1)
    assert again.events == batch.events
    assert {one.key: one.link for one in again.items} == laid(batch).links
    assert ledger.digest(OWN, 1) == again.digest == laid(batch).digest


def test_a_batch_has_its_bound_and_the_key_of_an_epoch_goes_alone(ledger: SharingLedger) -> None:
    key = EpochKey(epoch="e" * 32, began=1, sealed={OWN: b"s" * 80})
    ledger.say([said("a" * 600), said("b" * 600), key, said("c")])
    numbers = []
    while batch := ledger.assign(500):
        numbers.append([one.type for one in batch.events])
        ledger.sent(laid(batch))
    assert numbers == [["said"], ["said"], ["epoch"], ["said"]]
    assert [size == ALONE for _, _, size in ledger.sizes()] == [False, False, True, False]


def test_what_is_forgotten_before_it_has_a_number_never_goes_out(ledger: SharingLedger) -> None:
    ledger.say([said("never mind"), said("keep")])
    ledger.say([Forgot(identity=said("never mind").identity)])
    batch = ledger.assign(LIMIT)
    assert batch is not None
    assert batch.events == (said("keep"), Forgot(identity=said("never mind").identity))
    ledger.sent(laid(batch))
    assert ledger.to_seal_anew() == []


def test_what_is_forgotten_after_it_went_out_has_to_leave_the_record(ledger: SharingLedger) -> None:
    sent(ledger, said("kept"))
    sent(ledger, said("secret"), said("beside"))
    ledger.hear(OTHER, [Heard(1, 1, [Forgot(identity=said("secret").identity)])])
    assert ledger.to_seal_anew() == [(2, 2)]
    batch = ledger.went_out(2, 2)
    assert (batch.number, batch.events) == (2, (said("beside"),))
    assert [(one.event is None, one.link is None) for one in batch.items] == [
        (True, False),  # its place in the chain stays
        (False, False),
    ]
    ledger.sealed_anew(Laid(2, 2, batch.digest))
    assert ledger.to_seal_anew() == []


def test_what_is_forgotten_while_it_is_on_its_way_leaves_the_record_too(
    ledger: SharingLedger,
) -> None:
    ledger.say([said("secret"), said("beside")])
    batch = ledger.assign(LIMIT)
    assert batch is not None
    ledger.hear(OTHER, [Heard(1, 1, [Forgot(identity=said("secret").identity)])])
    ledger.sent(laid(batch))
    assert ledger.to_seal_anew() == [(1, 1)]


def test_rolled_records_stand_for_all_their_numbers(ledger: SharingLedger) -> None:
    for text in ("one", "two", "three"):
        sent(ledger, said(text))
    assert [one[:2] for one in ledger.sizes()] == [(1, 1), (2, 2), (3, 3)]
    assert ledger.went_out(1, 2).events == (said("one"), said("two"))
    before = ledger.went_out(1, 2)
    ledger.sealed_anew(Laid(1, 2, before.digest))
    (rolled, small) = ledger.sizes()
    assert rolled[:2] == (1, 2) and rolled[2] > small[2] > 0
    assert ledger.own_records() == [(1, 2), (3, 3)]
    assert ledger.went_out(1, 2) == before
    assert before.events == (said("one"), said("two"))


def test_an_unknown_record_of_ones_own_is_merged_and_what_was_assigned_waits(
    ledger: SharingLedger,
) -> None:
    ledger.say([said("waits")])
    ledger.assign(LIMIT)
    links = [Link(b"s" * 12, b"1" * 24), Link(b"", b"2" * 24), Link(b"s" * 12, b"3" * 24)]
    ledger.recovered(Recovered(1, 2, [said("from before"), said("gone")], links, b"d" * 24))
    assert ledger.last_sent() == 2 and ledger.own_records() == [(1, 2)]
    assert ledger.assigned() is None
    again = ledger.assign(LIMIT)
    assert again is not None
    assert (again.number, again.events, again.previous) == (3, (said("waits"),), b"d" * 24)
    assert {text for _, text, *_ in standing(ledger).values()} == {"waits", "from before", "gone"}
    batch = ledger.went_out(1, 2)
    assert batch.events == (said("from before"), said("gone"))
    assert [one.link for one in batch.items] == links


def test_a_recovered_record_with_what_was_forgotten_is_sealed_anew(ledger: SharingLedger) -> None:
    ledger.hear(OTHER, [Heard(1, 1, [Forgot(identity=said("secret").identity)])])
    ledger.recovered(Recovered(1, 1, [said("secret"), said("fine")], digest=b"d" * 24))
    assert ledger.to_seal_anew() == [(1, 1)]
    assert ledger.went_out(1, 1).events == (said("fine"),)


def test_the_cursor_only_goes_forward_and_set_aside_is_what_was_not_heard(
    ledger: SharingLedger,
) -> None:
    ledger.hear(OTHER, [Heard(1, 1, [said("one")])])
    ledger.hear(OTHER, [Heard(2, 2, [], b"d" * 24, "it is cut off")])
    ledger.hear(OTHER, [Heard(3, 3, [said("three")])])
    assert ledger.cursor(OTHER) == 3 and ledger.cursor(OWN) == 0
    assert ledger.set_aside() == [SetAside(OTHER, 2, "it is cut off")]
    ledger.hear(OTHER, [Heard(2, 2, [said("two")])])
    assert ledger.cursor(OTHER) == 3 and ledger.set_aside() == []
    assert {text for _, text, *_ in standing(ledger).values()} == {"one", "two", "three"}


def test_membership_is_told_again_after_a_start_and_keys_are_kept(ledger: SharingLedger) -> None:
    hello = Hello(member="bob", machine="laptop", signing_key=b"s" * 32, sealing_key=b"e" * 32)
    ledger.hear(OTHER, [Heard(1, 1, [hello])])
    own = EpochKey(epoch="e" * 32, began=1, sealed={OWN: b"s" * 80})
    ledger.say([own])
    heard = [(device, one) for device, events in ledger.heard() for one in events]
    assert heard == [(OTHER, hello), (OWN, own)]
    ledger.keep_epoch_keys({"e": b"k" * 32})
    ledger.keep_epoch_keys({"e": b"another"})
    assert dict(ledger.epoch_keys()) == {"e": b"k" * 32}


@given(STREAMS)
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_the_store_means_what_the_rule_of_merging_says(
    database: Database, streams: list[tuple[str, Event]]
) -> None:
    ledger, replica = joined_ledger(database), Replica()
    for number, (device, event) in enumerate(streams, 1):
        ledger.hear(device, [Heard(number, number, [event])])
        replica.hear(device, [event])
    assert standing(ledger) == standing(FakeSharingLedger(OWN, replica))


def test_a_pin_that_comes_before_its_turn_holds_when_it_comes(ledger: SharingLedger) -> None:
    turn = said("precious")
    ledger.hear(OTHER, [Heard(1, 1, [Pinned(identity=turn.identity, pinned=True, at=3)])])
    ledger.hear("1" * 32, [Heard(1, 1, [turn])])
    assert standing(ledger)[turn.identity] == ("1" * 32, "precious", True, b"")


def test_streams_that_can_not_be_heard_further_are_told_as_they_are_now(
    ledger: SharingLedger,
) -> None:
    ledger.hear(OTHER, [Heard(1, 1, [], b"d" * 24, "it can not be applied")])
    ledger.blocked([SetAside(OTHER, 7, "it is not a record", passed=False)])
    ledger.blocked([SetAside("1" * 32, 2, "its key is missing", passed=False)])
    assert sorted((one.device, one.number, one.passed) for one in ledger.set_aside()) == [
        (OTHER, 1, True),
        ("1" * 32, 2, False),
    ]
    assert ledger.cursor("1" * 32) == 0
    ledger.blocked([])
    assert [one.passed for one in ledger.set_aside()] == [True]


def test_digests_of_streams_and_what_others_saw_are_kept(ledger: SharingLedger) -> None:
    ledger.hear(OTHER, [Heard(1, 1, [said("one")], b"1" * 24), Heard(2, 3, [], b"3" * 24)])
    assert [ledger.digest(OTHER, n) for n in (1, 2, 3)] == [b"1" * 24, b"", b"3" * 24]
    for number in (5, 4):
        head = number.to_bytes(8, "big") + bytes([number]) * 24
        ledger.hear(OTHER, [Heard(4, 4, [Seen(heads={OWN: head})])])
    assert ledger.witnesses() == [Witness(OTHER, OWN, 5, bytes([5]) * 24)]


def test_what_is_withheld_does_not_go_out(ledger: SharingLedger) -> None:
    sent(ledger, said("out"))
    ledger.say([said("numbered")])
    ledger.assign(LIMIT)
    ledger.say([said("waits")])
    ledger.withhold()
    assert ledger.assigned() is None and ledger.assign(LIMIT) is None
    assert ledger.went_out(1, 1).events == (said("out"),)


def test_whom_a_device_asked_is_kept_until_it_was_let_in(ledger: SharingLedger) -> None:
    assert ledger.asked() is None
    asked = Asked("i" * 32, b"s" * 32, b"e" * 32)
    ledger.ask(asked)
    assert ledger.asked() == asked
    ledger.ask(None)
    assert ledger.asked() is None
