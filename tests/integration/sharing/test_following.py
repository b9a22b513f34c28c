"""A circle whose place keeps silent holds up nobody."""

import threading
from collections.abc import Collection, Iterator

import pytest
from tests.fakes.shared_log import FakeSharedLog
from tests.integration.sharing.conftest import Machine, Machines

from iai_mcp.domain.errors import IoFailed
from iai_mcp.domain.shared_events import EpochKey
from iai_mcp.sharing.following import Following
from iai_mcp.sharing.sharing import Sharing


class SilentLog(FakeSharedLog):
    """Somebody asks, and no answer comes."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.answers = threading.Event(), threading.Event()

    def heads(self, known: Collection[str] = ()) -> dict[str, int]:
        self.asked.set()
        self.answers.wait(30)
        raise IoFailed("the place does not answer")


@pytest.fixture
def ann(machine: Machines, place: str) -> Iterator[Machine]:
    made = machine("ann")
    made.call("share_create", name="team", at=place)
    yield made


def test_who_closes_does_not_wait_for_a_silent_place(ann: Machine) -> None:
    log, store = SilentLog(), ann.store
    known = store.sharing.of("team").known
    following = Following(known, store.sharing.circles, log, store.clock, store.journal)
    thread = threading.Thread(target=following.follow, args=(lambda: False,))
    thread.start()
    assert log.asked.wait(10)
    following.close()
    assert thread.is_alive()  # it still waits for the answer
    log.answers.set()
    thread.join(10)
    assert not thread.is_alive()


def test_what_is_said_is_sent_soon_and_what_arrives_is_heard(ann: Machine) -> None:
    following = ann.store.sharing.of("team")
    stop = threading.Event()
    thread = threading.Thread(target=following.follow, args=(stop.is_set,))
    thread.start()
    try:
        ann.call("share_project", project="/home/ann/pond", **{"with": "team"})
        ann.hears("soon")
        waited = threading.Event()
        for _ in range(2000):
            if not ann.store.sharing.circles.traffic(following.known.id).pending:
                break
            waited.wait(0.01)
        assert ann.store.sharing.circles.traffic(following.known.id).pending == 0
    finally:
        stop.set()
        following.end()
        thread.join(10)


def test_many_small_records_become_few_and_none_of_them_is_large(ann: Machine) -> None:
    ann.call("share_project", project="/home/ann/pond", **{"with": "team"})
    for number in range(40):
        ann.hears(f"short {number}", session=f"s{number}")
        ann.now()
    for number in range(3):
        ann.hears(f"{number} " + "long " * 300_000, session=f"l{number}")
        ann.now()
    following = ann.store.sharing.of("team")
    before = len(following.circle.ledger.own_records())
    assert following.roll() == before - len(following.circle.ledger.own_records()) >= 39
    ledger = following.circle.ledger
    held = [ledger.went_out(*one).events for one in ledger.own_records()]
    assert max(sum(len(str(event)) for event in events) for events in held) < 4_000_000
    # Who was removed has the key that brings the next one: nothing else may lie under it.
    assert {len(events) for events in held if any(isinstance(e, EpochKey) for e in events)} == {1}
    assert following.roll() == 0 and ann.now()["sent"] == 0


def test_who_asks_how_it_stands_does_not_wait_for_a_silent_place(ann: Machine) -> None:
    log, own = SilentLog(), ann.store.sharing
    sharing = Sharing(
        own.circles, lambda *_: log, own.clock, own.journal, own.redact, own.user, own.machine
    )
    thread = threading.Thread(target=sharing.of("team").follow, args=(lambda: False,))
    thread.start()
    assert log.asked.wait(10)
    (standing,) = sharing.status()
    assert [one.own for one in standing.devices] == [True]
    assert thread.is_alive()
    sharing.end()
    log.answers.set()
    thread.join(10)
