"""What every store's side of a circle promises, on the fake and on the encrypted file alike."""

import pytest
from hypothesis import HealthCheck, given, settings
from tests.fakes.sharing_ledger import FakeSharingLedger
from tests.property.test_merging import STREAMS
from tests.support.circles import OWN, joined_ledger, standing

from iai_mcp.adapters.sqlite.database import Database
from iai_mcp.domain.merging import Replica
from iai_mcp.domain.shared_events import EpochKey, Event, Forgot, Hello, Pinned, Said
from iai_mcp.ports.sharing_ledger import ALONE, Batch, Heard, SetAside, SharingLedger

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


def sent(ledger: SharingLedger, *events: Event) -> Batch:
    """These events in a record that is in the place."""
    ledger.say(events)
    batch = ledger.assign(LIMIT)
    assert batch is not None
    ledger.sent(batch.number)
    return batch


def test_what_is_said_waits_gets_a_number_and_is_sent_once(ledger: SharingLedger) -> None:
    ledger.say([said("one"), said("two")])
    assert ledger.assigned() is None
    batch = ledger.assign(LIMIT)
    assert batch == Batch(1, (said("one"), said("two"))) == ledger.assigned()
    ledger.sent(1)
    assert ledger.assigned() is None and ledger.assign(LIMIT) is None
    assert ledger.last_sent() == 1 and ledger.own_records() == [(1, 1)]
    assert ledger.went_out(1, 1) == batch


def test_a_batch_has_its_bound_and_the_key_of_an_epoch_goes_alone(ledger: SharingLedger) -> None:
    key = EpochKey(epoch="e", began=1, sealed={OWN: b"sealed"})
    ledger.say([said("a" * 600), said("b" * 600), key, said("c")])
    numbers = []
    while batch := ledger.assign(500):
        numbers.append([one.type for one in batch.events])
        ledger.sent(batch.number)
    assert numbers == [["said"], ["said"], ["epoch"], ["said"]]
    assert [size == ALONE for _, _, size in ledger.sizes()] == [False, False, True, False]


def test_what_is_forgotten_before_it_has_a_number_never_goes_out(ledger: SharingLedger) -> None:
    ledger.say([said("never mind"), said("keep")])
    ledger.say([Forgot(identity=said("never mind").identity)])
    batch = ledger.assign(LIMIT)
    assert batch is not None
    assert batch.events == (said("keep"), Forgot(identity=said("never mind").identity))
    ledger.sent(batch.number)
    assert ledger.to_seal_anew() == []


def test_what_is_forgotten_after_it_went_out_has_to_leave_the_record(ledger: SharingLedger) -> None:
    sent(ledger, said("kept"))
    sent(ledger, said("secret"), said("beside"))
    ledger.hear(OTHER, [Heard(1, 1, [Forgot(identity=said("secret").identity)])])
    assert ledger.to_seal_anew() == [(2, 2)]
    assert ledger.went_out(2, 2) == Batch(2, (said("beside"),))
    ledger.sealed_anew(2, 2)
    assert ledger.to_seal_anew() == []


def test_what_is_forgotten_while_it_is_on_its_way_leaves_the_record_too(
    ledger: SharingLedger,
) -> None:
    ledger.say([said("secret"), said("beside")])
    batch = ledger.assign(LIMIT)
    assert batch is not None
    ledger.hear(OTHER, [Heard(1, 1, [Forgot(identity=said("secret").identity)])])
    ledger.sent(batch.number)
    assert ledger.to_seal_anew() == [(1, 1)]


def test_rolled_records_stand_for_all_their_numbers(ledger: SharingLedger) -> None:
    for text in ("one", "two", "three"):
        sent(ledger, said(text))
    assert [one[:2] for one in ledger.sizes()] == [(1, 1), (2, 2), (3, 3)]
    assert ledger.went_out(1, 2).events == (said("one"), said("two"))
    ledger.sealed_anew(1, 2)
    (rolled, small) = ledger.sizes()
    assert rolled[:2] == (1, 2) and rolled[2] > small[2] > 0
    assert ledger.own_records() == [(1, 2), (3, 3)]
    assert ledger.went_out(1, 2) == Batch(2, (said("one"), said("two")))


def test_an_unknown_record_of_ones_own_is_merged_and_what_was_assigned_waits(
    ledger: SharingLedger,
) -> None:
    ledger.say([said("waits")])
    ledger.assign(LIMIT)
    ledger.recovered(1, 2, [said("from before"), said("gone")])
    assert ledger.last_sent() == 2 and ledger.own_records() == [(1, 2)]
    assert ledger.assigned() is None
    again = ledger.assign(LIMIT)
    assert again == Batch(3, (said("waits"),))
    assert {text for _, text, *_ in standing(ledger).values()} == {"waits", "from before", "gone"}
    assert ledger.went_out(1, 2).events == (said("from before"), said("gone"))


def test_a_recovered_record_with_what_was_forgotten_is_sealed_anew(ledger: SharingLedger) -> None:
    ledger.hear(OTHER, [Heard(1, 1, [Forgot(identity=said("secret").identity)])])
    ledger.recovered(1, 1, [said("secret"), said("fine")])
    assert ledger.to_seal_anew() == [(1, 1)]
    assert ledger.went_out(1, 1).events == (said("fine"),)


def test_the_cursor_only_goes_forward_and_set_aside_is_what_was_not_heard(
    ledger: SharingLedger,
) -> None:
    ledger.hear(OTHER, [Heard(1, 1, [said("one")])])
    ledger.put_aside(SetAside(OTHER, 2, "it is cut off"))
    ledger.hear(OTHER, [Heard(3, 3, [said("three")])])
    assert ledger.cursor(OTHER) == 3 and ledger.cursor(OWN) == 0
    assert ledger.set_aside() == [SetAside(OTHER, 2, "it is cut off")]
    ledger.hear(OTHER, [Heard(2, 2, [said("two")])])
    assert ledger.cursor(OTHER) == 3 and ledger.set_aside() == []
    assert {text for _, text, *_ in standing(ledger).values()} == {"one", "two", "three"}


def test_membership_is_told_again_after_a_start_and_keys_are_kept(ledger: SharingLedger) -> None:
    hello = Hello(member="bob", machine="laptop", signing_key=b"s", sealing_key=b"e")
    ledger.hear(OTHER, [Heard(1, 1, [hello])])
    own = EpochKey(epoch="e", began=1, sealed={OWN: b"sealed"})
    ledger.say([own])
    heard = [(device, one) for device, events in ledger.heard() for one in events]
    assert heard == [(OTHER, hello), (OWN, own)]
    ledger.keep_epoch_key("e", b"k" * 32)
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
