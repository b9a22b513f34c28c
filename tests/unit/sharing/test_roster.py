"""Who belongs to a circle."""

import itertools
from dataclasses import replace

import pytest

from iai_mcp.domain.shared_events import Admitted, EpochKey, Event, Hello, Invited, Removed
from iai_mcp.sharing.keys import DeviceKeys, InviteSecret
from iai_mcp.sharing.roster import Roster, proof_of


class Guest:
    """A device with its keys, and what it says when it comes."""

    def __init__(self, member: str, invite: InviteSecret | None = None) -> None:
        self.keys = DeviceKeys.made()
        self.id = self.keys.device
        bare = self._hello(member, invite, b"")
        proof = invite.proof(proof_of(self.id, bare)) if invite is not None else b""
        self.hello = self._hello(member, invite, proof)

    def _hello(self, member: str, invite: InviteSecret | None, proof: bytes) -> Hello:
        return Hello(
            member=member,
            machine="machine",
            signing_key=self.keys.signing_key,
            sealing_key=self.keys.sealing_key,
            invite=invite.name if invite is not None else "",
            proof=proof,
        )


def _invited(secret: InviteSecret, member: str = "") -> Invited:
    return Invited(invite=secret.name, key=secret.proof_key, member=member, expires=1)


def _roster(founder: Guest, *said: tuple[Guest, Event]) -> Roster:
    roster = Roster(founder.id)
    for who, event in said:
        roster.hear(who.id, [event])
    return roster


@pytest.fixture
def founder() -> Guest:
    return Guest("ann")


def test_the_founder_belongs_and_strangers_do_not(founder: Guest) -> None:
    stranger = Guest("ann")
    roster = _roster(founder, (founder, founder.hello), (stranger, stranger.hello))
    assert set(roster.present()) == {founder.id}


def test_who_was_let_in_belongs_whatever_came_first(founder: Guest) -> None:
    first, second = InviteSecret.made(), InviteSecret.made()
    bob = Guest("bob", first)
    carol = Guest("carol", second)  # bob invites her
    said: list[tuple[Guest, Event]] = [
        (founder, founder.hello),
        (founder, _invited(first)),
        (founder, Admitted(invite=first.name, device=bob.id)),
        (bob, bob.hello),
        (bob, _invited(second)),
        (bob, Admitted(invite=second.name, device=carol.id)),
        (carol, carol.hello),
    ]
    orders = [*itertools.islice(itertools.permutations(said), 0, None, 7), said[::-1]]
    for order in orders:
        roster = _roster(founder, *order)
        assert {one.member for one in roster.present().values()} == {"ann", "bob", "carol"}


def test_nobody_comes_under_a_name_that_was_not_meant(founder: Guest) -> None:
    secret = InviteSecret.made()
    mallory = Guest("ann", secret)
    roster = _roster(
        founder,
        (founder, founder.hello),
        (founder, _invited(secret, "mallory")),
        (mallory, mallory.hello),
    )
    assert set(roster.present()) == {founder.id}


def test_a_hello_is_that_of_its_keys_whoever_passes_it_on(founder: Guest) -> None:
    secret = InviteSecret.made()
    guest = Guest("bob", secret)
    roster = _roster(founder, (founder, founder.hello), (founder, _invited(secret)))
    roster.hear("f" * 32, [guest.hello, Admitted(invite=secret.name, device=guest.id)])
    roster.hear(founder.id, [Admitted(invite=secret.name, device=guest.id)])
    assert set(roster.present()) == {founder.id}
    roster.hear(founder.id, [guest.hello])
    assert set(roster.present()) == {founder.id, guest.id}
    assert "f" * 32 not in roster.devices()


def test_a_name_that_somebody_else_put_into_a_hello_lets_nobody_in(founder: Guest) -> None:
    secret = InviteSecret.made()
    guest = Guest("bob", secret)
    renamed = replace(guest.hello, member="ann")
    roster = _roster(founder, (founder, founder.hello), (founder, _invited(secret)))
    roster.hear("f" * 32, [renamed])
    roster.hear(founder.id, [Admitted(invite=secret.name, device=guest.id)])
    assert set(roster.present()) == {founder.id}


def test_of_two_with_one_code_neither_belongs_until_the_inviter_says_which(founder: Guest) -> None:
    secret = InviteSecret.made()
    meant, thief = Guest("bob", secret), Guest("bob", secret)
    roster = _roster(
        founder,
        (founder, founder.hello),
        (founder, _invited(secret)),
        (meant, meant.hello),
    )
    assert roster.unconfirmed(founder.id, 1) == [(secret.name, meant.id)]
    assert roster.unconfirmed(founder.id, 2) == []  # the invitation's time is over
    roster.hear(thief.id, [thief.hello])
    assert set(roster.present()) == {founder.id}
    assert roster.doubted() == {secret.name: sorted((meant.id, thief.id))}
    roster.hear(thief.id, [Admitted(invite=secret.name, device=thief.id)])  # not theirs to say
    assert set(roster.present()) == {founder.id}
    roster.hear(founder.id, [Admitted(invite=secret.name, device=meant.id)])
    assert set(roster.present()) == {founder.id, meant.id}
    assert roster.doubted() == {}


def test_the_furthest_that_anybody_heard_of_a_removed_device_counts(founder: Guest) -> None:
    first, second = InviteSecret.made(), InviteSecret.made()
    bob, carol = Guest("bob", first), Guest("carol", second)
    roster = _roster(
        founder,
        (founder, founder.hello),
        (founder, _invited(first)),
        (founder, _invited(second)),
        (founder, Admitted(invite=first.name, device=bob.id)),
        (founder, Admitted(invite=second.name, device=carol.id)),
        (bob, bob.hello),
        (carol, carol.hello),
    )
    assert set(roster.present()) == {founder.id, bob.id, carol.id}
    roster.hear(founder.id, [Removed(device=bob.id, last=7, at=1, digest=b"7" * 24)])
    roster.hear(carol.id, [Removed(device=bob.id, last=9, at=1, digest=b"9" * 24)])
    assert [cut.last for cut in roster.cuts(bob.id)] == [9, 7]
    assert set(roster.present()) == {founder.id, carol.id}
    assert bob.id in roster.devices()


def test_an_epoch_whose_key_a_removed_device_has_is_not_used_any_more(founder: Guest) -> None:
    secret = InviteSecret.made()
    bob = Guest("bob", secret)
    both = {founder.id: b"k", bob.id: b"k"}
    roster = _roster(
        founder,
        (founder, founder.hello),
        (founder, _invited(secret)),
        (founder, Admitted(invite=secret.name, device=bob.id, epochs=bytes(16))),
        (bob, bob.hello),
        (founder, EpochKey(epoch="00" * 16, began=0, sealed={founder.id: b"k"})),
        (founder, EpochKey(epoch="two", began=2, sealed={founder.id: b"k"})),
        (founder, EpochKey(epoch="three", began=3, sealed=both)),
        (founder, EpochKey(epoch="one", began=1, sealed=both)),
    )
    assert roster.epoch() == "three"
    assert set(roster.without_key("two")) == {bob.id}
    assert roster.without_key("one") == roster.without_key("00" * 16) == {}
    assert roster.common_epochs([bob.id]) == ["three", "one", "00" * 16]
    roster.hear(founder.id, [Removed(device=bob.id, last=7, at=1)])
    assert (
        roster.epoch() == ""
    )  # who began it did not know of the removal, and may give bob the key
    knowing = EpochKey(
        epoch="four", began=0, sealed={founder.id: b"k"}, without=bytes.fromhex(bob.id)
    )
    roster.hear(founder.id, [knowing])
    assert roster.epoch() == "four"


def test_a_device_whose_key_nothing_can_be_sealed_for_is_not_known(founder: Guest) -> None:
    keys = DeviceKeys.made()
    bad = Hello(member="bob", machine="m", signing_key=keys.signing_key, sealing_key=bytes(32))
    roster = _roster(founder)
    roster.hear(bad.device, [bad])
    assert roster.hellos == {}
