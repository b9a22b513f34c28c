"""Devices that see the streams of others late: all come to the same members, whatever comes first."""

import pytest
from tests.fakes.shared_log import FakeSharedLog
from tests.fakes.sharing_ledger import FakeSharingLedger
from tests.support.late_views import LateView

from iai_mcp.domain.errors import InvalidInput, IoFailed
from iai_mcp.domain.event_chain import folded, linked
from iai_mcp.domain.shared_events import Event, Removed, lines_of
from iai_mcp.ports.shared_log import Entry
from iai_mcp.ports.sharing_ledger import Asked
from iai_mcp.sharing import joining, records
from iai_mcp.sharing.circle import Circle
from iai_mcp.sharing.invitations import Grant
from iai_mcp.sharing.keys import KEY_BYTES, DeviceKeys
from iai_mcp.sharing.records import Content, Header

NOW = 1_000_000


class Machine:
    """A device that sees what was delivered to it."""

    def __init__(
        self, circle_id: str, founder: str, place: FakeSharedLog, keys: DeviceKeys
    ) -> None:
        self.keys, self.place = keys, place
        self.view = LateView(place, keys.device)
        self.ledger = FakeSharingLedger(keys.device)
        self.circle = Circle(circle_id, founder, keys, self.view, self.ledger)

    @property
    def id(self) -> str:
        return self.keys.device

    @property
    def members(self) -> set[str]:
        return {one.member for one in self.circle.roster.present().values()}

    def contact(self, *delivered: "Machine") -> None:
        for one in delivered:
            self.view.deliver(one.id)
        self.circle.contact(NOW)

    def asked_by(self, name: str) -> "Machine":
        """A device that asks this one to be let in."""
        made = joining.invite(self.circle, "/place", "team", "", NOW)
        welcome = joining.taken_welcome(self.place, made, NOW)
        guest = Machine(self.circle.id, welcome.founder, self.place, DeviceKeys.made())
        joining.join(guest.circle, welcome, made, name, "laptop")
        guest.contact()
        return guest

    def joined_by(self, name: str) -> "Machine":
        """A device that this one invited and let in."""
        guest = self.asked_by(name)
        self.contact(guest)
        guest.view.deliver_all()
        guest.contact()
        return guest


def settle(*machines: Machine) -> None:
    for _ in range(6):
        for one in machines:
            one.view.deliver_all()
            one.contact()


@pytest.fixture
def ann() -> Machine:
    keys = DeviceKeys.made()
    machine = Machine(joining.new_circle_id(), keys.device, FakeSharedLog(), keys)
    joining.found(machine.circle, "ann", "desk", NOW)
    machine.contact()
    return machine


def test_who_has_the_keys_and_not_the_records_lets_nobody_in_until_they_come(ann: Machine) -> None:
    bob = ann.asked_by("bob")
    ann.contact(bob)
    bob.contact()  # the keys are there, ann's records are not
    assert "have arrived" in bob.circle.held()
    carol = bob.asked_by("carol")
    bob.contact(carol)
    settle(ann, bob, carol)
    assert ann.members == bob.members == carol.members == {"ann", "bob", "carol"}


def test_who_has_the_keys_and_not_the_records_can_remove(ann: Machine) -> None:
    carol = ann.joined_by("carol")
    settle(ann, carol)
    bob = ann.asked_by("bob")
    ann.contact(bob)
    bob.contact()
    bob.circle.remove([carol.id], NOW)
    settle(bob, ann)
    assert ann.members == bob.members == {"ann", "bob"}
    epoch = ann.circle.roster.epoch()
    assert epoch == bob.circle.roster.epoch() != ""
    settle(carol)
    assert epoch not in carol.ledger.epoch_keys()


def test_a_key_that_a_removed_device_made_is_looked_for_in_its_stream(ann: Machine) -> None:
    bob = ann.joined_by("bob")
    carol = bob.joined_by("carol")
    dave = carol.joined_by("dave")
    ann.view.deliver_all()
    ann.contact()  # ann heard the epoch that carol began for dave
    bob.circle.remove([carol.id], NOW)  # bob heard nothing of carol
    eve = ann.joined_by("eve")  # under a key that carol made
    settle(ann, bob, dave, eve)
    everybody = {"ann", "bob", "dave", "eve"}
    assert [one.members for one in (ann, bob, dave, eve)] == [everybody] * 4


def forged(machine: Machine, number: int, event: Event) -> bytes:
    """A record that follows the true one before it."""
    link = linked(lines_of(event)[0])
    before = machine.ledger.digest(machine.id, number - 1)
    epoch, key = min(machine.ledger.epoch_keys().items())
    header = Header(
        circle=machine.circle.id,
        device=machine.id,
        number=number,
        first=number,
        epoch=epoch,
        previous=before.hex(),
        digest=folded(before, [link.leaf]).hex(),
    )
    return records.seal(Content([event], [link]), header, key, machine.keys)


def removed_with_one_record(ann: Machine) -> Machine:
    """A device that was removed, whose two records were made one."""
    bob = ann.joined_by("bob")
    bob.circle.check()
    assert bob.circle.outgoing.lay_anew(1, 2)
    ann.contact(bob)
    ann.circle.remove([bob.id], NOW)
    ann.contact()
    return bob


def test_a_record_laid_beside_those_of_a_removed_device_is_not_heard(ann: Machine) -> None:
    bob = removed_with_one_record(ann)
    word = Removed(device=ann.id, last=0, at=NOW)
    ann.place.streams[bob.id][1] = forged(
        bob, 1, word
    )  # the true one is number 2, and stands for 1
    carol = ann.joined_by("carol")
    settle(ann, carol)
    assert ann.members == carol.members == {"ann", "carol"}


def test_a_removed_device_whose_stream_changes_while_it_is_read_is_not_heard(ann: Machine) -> None:
    bob = removed_with_one_record(ann)
    carol = ann.asked_by("carol")
    ann.contact(carol)
    carol.view.deliver_all()
    word = Removed(device=ann.id, last=0, at=NOW)
    other, looks = Entry(1, forged(bob, 1, word)), 0
    read = carol.view.read

    def changing(device: str, after: int, limit: int) -> list[Entry]:
        nonlocal looks
        if device != bob.id or limit == 1 or after:
            return read(device, after, limit)
        looks += 1
        return read(device, after, limit) if looks == 1 else [other]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(carol.view, "read", changing)
        carol.contact()
    assert looks > 1 and carol.members == {"ann", "carol"}
    settle(ann, carol)
    assert ann.members == carol.members == {"ann", "carol"}


def test_who_was_removed_lets_nobody_in(ann: Machine) -> None:
    bob = ann.joined_by("bob")
    carol = bob.asked_by("carol")
    with pytest.MonkeyPatch.context() as patch, pytest.raises(IoFailed):
        patch.setattr(bob.view, "offer", _fail)  # the keys for carol do not reach the place
        bob.contact(carol)
    ann.contact()
    ann.circle.remove([bob.id], NOW)
    ann.contact()
    bob.contact(ann)
    assert bob.id in bob.circle.roster.removals
    carol.contact(ann, bob)
    assert carol.ledger.asked() is not None and carol.ledger.epoch_keys() == {}


def _fail(*_: object) -> None:
    raise IoFailed("the place went away")


@pytest.mark.parametrize(
    ("keys", "newest"),
    [
        ({"a" * 32: bytes(KEY_BYTES)}, "b" * 32),
        ({"a" * 32: bytes(KEY_BYTES)}, ""),
        ({"a" * 32: b"short"}, "a" * 32),
        ({}, ""),
    ],
)
def test_keys_that_can_not_be_used_are_refused(keys: dict[str, bytes], newest: str) -> None:
    inviter, guest = DeviceKeys.made(), DeviceKeys.made()
    sealed = Grant(keys, newest, [], None).sealed(inviter, guest.sealing_key, "circle")
    asked = Asked("invite", inviter.signing_key, inviter.sealing_key)
    with pytest.raises(InvalidInput):
        Grant.opened(sealed, guest, asked, "circle")
