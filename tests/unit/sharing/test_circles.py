"""Devices of one circle that meet in a place, with everything that goes wrong there."""

import copy
import random

import pytest
from tests.fakes.shared_log import FakeSharedLog
from tests.fakes.sharing_ledger import FakeSharingLedger

from iai_mcp.domain.errors import InvalidInput, IoFailed, NotFound
from iai_mcp.domain.shared_events import Forgot, Pinned, Said
from iai_mcp.ports.shared_log import Entry, SharedLog
from iai_mcp.sharing import joining
from iai_mcp.sharing.circle import Circle
from iai_mcp.sharing.invitations import Invitation
from iai_mcp.sharing.keys import DeviceKeys

NOW = 1_000_000


def said(text: str) -> Said:
    identity = text.encode().ljust(16, b".")[:16]
    return Said(identity=identity, project="p", session_id="s", role="user", text=text, at=NOW)


class Machine:
    """A device with its store, which can be stopped, killed and put back to an older copy."""

    def __init__(self, circle_id: str, founder: str, log: SharedLog, keys: DeviceKeys) -> None:
        self.ledger = FakeSharingLedger(keys.device)
        self._of = (circle_id, founder, keys)
        self.log = log
        self.restart()

    def restart(self) -> None:
        circle_id, founder, keys = self._of
        self.circle = Circle(circle_id, founder, keys, self.log, self.ledger)

    @property
    def id(self) -> str:
        return self.circle.keys.device

    def texts(self) -> list[str]:
        return sorted(one.told.turn.text for one in self.ledger.replica.standing().values())


def founded(log: SharedLog) -> Machine:
    keys = DeviceKeys.made()
    machine = Machine(joining.new_circle_id(), keys.device, log, keys)
    joining.found(machine.circle, "ann", "desk", NOW)
    return machine


def invited(host: Machine, member: str = "", expires: int = NOW + 1) -> Invitation:
    made = joining.invite(host.circle, "/place", "team", member, expires)
    return Invitation.read(made.code)


def asked(invitation: Invitation, log: SharedLog, member: str = "bob") -> Machine:
    """A machine that asked to be let in."""
    welcome = joining.taken_welcome(log, invitation, NOW)
    machine = Machine(invitation.circle, welcome.founder, log, DeviceKeys.made())
    joining.join(machine.circle, welcome, invitation, member, "laptop")
    machine.circle.contact()
    return machine


def joined(host: Machine, log: SharedLog, member: str = "bob") -> Machine:
    """A machine that the other one invited and let in."""
    machine = asked(invited(host), log, member)
    host.circle.contact()
    machine.circle.contact()
    return machine


def settle(*machines: Machine) -> None:
    """Contacts until nobody has anything to say or to hear."""
    while any((done := one.circle.contact()).sent + done.heard for one in machines):
        pass


@pytest.fixture
def log() -> FakeSharedLog:
    return FakeSharedLog()


def test_what_one_says_the_other_hears(log: FakeSharedLog) -> None:
    ann = founded(log)
    bob = joined(ann, log)
    ann.circle.say([said("from ann")])
    bob.circle.say([said("from bob")])
    settle(ann, bob)
    assert ann.texts() == bob.texts() == ["from ann", "from bob"]
    assert {one.member for one in bob.circle.roster.present().values()} == {"ann", "bob"}


def test_who_joins_late_hears_everything_from_before(log: FakeSharedLog) -> None:
    ann = founded(log)
    ann.circle.say([said(f"earlier {n}") for n in range(3)])
    settle(ann)
    bob = joined(ann, log)
    settle(bob)  # ann is not there at that moment
    assert bob.texts() == ann.texts()


def test_a_code_is_good_once_and_for_its_time(log: FakeSharedLog) -> None:
    ann = founded(log)
    code = invited(ann)
    asked(code, log)
    with pytest.raises(NotFound):
        asked(code, log)
    with pytest.raises(InvalidInput, match="time is over"):
        asked(invited(ann, expires=NOW - 1), log)


@pytest.mark.parametrize("broken", ["", "iai1-", "hello", "iai1-AAAA", "iai1-ä"])
def test_what_is_no_code_is_told_in_a_sentence(log: FakeSharedLog, broken: str) -> None:
    with pytest.raises(InvalidInput, match="copy it again"):
        Invitation.read(broken)
    code = joining.invite(founded(log).circle, "/place", "team", "", NOW).code
    assert Invitation.read(f" {code[:20]}\n{code[20:]} ").place == "/place"
    for wrong in (code[:-3], code[:10] + "A" + code[11:] if code[10] != "A" else code[:-1]):
        with pytest.raises(InvalidInput, match="copy it again"):
            Invitation.read(wrong)


def test_a_stranger_with_access_to_the_place_is_heard_by_nobody(log: FakeSharedLog) -> None:
    ann = founded(log)
    settle(ann)
    keys = DeviceKeys.made()
    stranger = Machine(ann.circle.id, keys.device, log, keys)
    joining.found(stranger.circle, "ann", "desk", NOW)
    stranger.circle.say([said("believe me")])
    stranger.circle.send()
    settle(ann)
    assert ann.texts() == []
    assert ann.circle.incoming.strangers == [stranger.id]


def test_forgetting_reaches_every_replica_and_the_place(log: FakeSharedLog) -> None:
    ann = founded(log)
    bob = joined(ann, log)
    ann.circle.say([said("keep"), said("secret words")])
    settle(ann, bob)
    before = dict(log.streams[ann.id])
    bob.circle.say([Forgot(identity=said("secret words").identity)])
    settle(bob, ann)
    assert ann.texts() == bob.texts() == ["keep"]
    changed = [n for n, sealed in log.streams[ann.id].items() if before.get(n, sealed) != sealed]
    assert len(changed) == 1  # the one record that held it
    late = joined(ann, log, "carol")
    settle(late, ann)
    assert late.texts() == ["keep"]


def test_what_is_forgotten_before_it_went_out_never_does(log: FakeSharedLog) -> None:
    ann = founded(log)
    settle(ann)
    ann.circle.say([said("never mind")])
    ann.circle.say([Forgot(identity=said("never mind").identity)])
    sent = [one.event for one in ann.ledger.waiting]
    assert sent == [Forgot(identity=said("never mind").identity)]


def test_who_was_removed_hears_nothing_new_and_is_not_heard(log: FakeSharedLog) -> None:
    ann = founded(log)
    bob, carol = joined(ann, log), joined(ann, log, "carol")
    settle(ann, bob, carol)
    ann.circle.remove([bob.id], NOW)
    ann.circle.say([said("without bob")])
    settle(ann, carol)
    bob.ledger.say([said("still here")])  # a bob whose program does not listen
    bob.circle.send()
    settle(ann, carol, bob)
    assert ann.texts() == carol.texts() == ["without bob"]
    assert "without bob" not in bob.texts()
    carol.circle.say([said("from carol")])
    settle(carol, ann)
    assert "from carol" in ann.texts()


def test_who_was_removed_can_not_come_back_with_a_code_made_before(log: FakeSharedLog) -> None:
    ann = founded(log)
    bob = joined(ann, log)
    settle(ann, bob)
    code = invited(bob)
    settle(ann, bob)
    ann.circle.remove([bob.id], NOW)
    settle(ann)
    again = asked(code, log, "bob again")
    settle(again, ann)
    assert {one.member for one in ann.circle.roster.present().values()} == {"ann"}


def test_a_damaged_record_is_told_and_heard_when_it_is_whole_again(
    log: FakeSharedLog,
) -> None:
    ann = founded(log)
    bob = joined(ann, log)
    settle(ann, bob)
    ann.circle.say([said("hurt")])
    ann.circle.send()
    ann.circle.say([said("later")])
    ann.circle.send()
    number = max(log.streams[ann.id]) - 1
    whole = log.streams[ann.id][number]
    log.streams[ann.id][number] = whole[:-10]
    settle(bob)
    assert bob.texts() == []  # what follows it waits: a cursor never moves over what is not signed
    assert [(one.device, one.number) for one in bob.ledger.set_aside()] == [(ann.id, number)]
    log.streams[ann.id][number] = whole
    settle(bob)
    assert bob.texts() == ["hurt", "later"]
    assert bob.ledger.set_aside() == []


def test_a_record_that_has_not_arrived_is_waited_for(log: FakeSharedLog) -> None:
    ann = founded(log)
    bob = joined(ann, log)
    settle(ann, bob)
    for text in ("one", "two", "three"):
        ann.circle.say([said(text)])
        ann.circle.send()
    number = max(log.streams[ann.id]) - 1
    late = log.streams[ann.id].pop(number)
    settle(bob)
    assert bob.texts() == ["one"]
    log.streams[ann.id][number] = late
    settle(bob)
    assert bob.texts() == ["one", "three", "two"]


def test_rolled_records_are_heard_from_any_cursor(log: FakeSharedLog) -> None:
    ann = founded(log)
    bob, carol = joined(ann, log), joined(ann, log, "carol")
    settle(ann, bob, carol)
    for number in range(6):
        ann.circle.say([said(f"turn {number}")])
        ann.circle.send()
        if number == 2:
            settle(bob)
    last = ann.ledger.last_sent()
    ann.circle.outgoing.lay_anew(last - 4, last)
    assert len(log.numbers(ann.id)) == last - 4
    settle(bob, carol)
    assert bob.texts() == carol.texts() == ann.texts()


def test_the_owner_repairs_what_the_place_lost(log: FakeSharedLog) -> None:
    ann = founded(log)
    ann.circle.say([said("precious")])
    code = invited(ann)
    settle(ann)
    log.streams[ann.id].clear()
    assert ann.circle.check() > 0
    assert ann.circle.check() == 0
    bob = asked(code, log)
    settle(bob, ann)
    assert bob.texts() == ["precious"]


def test_a_store_that_was_restored_from_an_older_copy_learns_what_it_had_said(
    log: FakeSharedLog,
) -> None:
    ann = founded(log)
    bob = joined(ann, log)
    settle(ann, bob)
    copy_of_ann = copy.deepcopy(ann.ledger)
    ann.circle.say([said("after the backup")])
    settle(ann, bob)
    ann.ledger = copy_of_ann
    ann.restart()
    ann.circle.say([said("after the restore")])
    settle(ann, bob)
    assert ann.texts() == bob.texts() == ["after the backup", "after the restore"]


def test_a_key_that_changes_while_much_waits_is_no_riddle(log: FakeSharedLog) -> None:
    ann = founded(log)
    bob, carol = joined(ann, log), joined(ann, log, "carol")
    settle(ann, bob, carol)
    for number in range(3):
        ann.circle.say([said(f"before {number}")])
    ann.circle.begin_epoch(NOW)
    carol.circle.begin_epoch(NOW)  # both at once
    ann.circle.say([said("after")])
    settle(ann, bob, carol)
    dave = joined(bob, log, "dave")
    settle(ann, bob, carol, dave)
    assert dave.texts() == bob.texts() == ann.texts()
    assert len({one.circle.roster.epoch() for one in (ann, bob, carol, dave)}) == 1


def test_who_joins_with_a_code_from_before_a_new_key_gets_it(log: FakeSharedLog) -> None:
    ann = founded(log)
    code = invited(ann)
    ann.circle.begin_epoch(NOW)
    ann.circle.say([said("under the new key")])
    settle(ann)
    bob = asked(code, log)
    settle(bob, ann)
    assert bob.texts() == ["under the new key"]


class Unreliable:
    """A place that fails now and then, before or after it did what was asked, and hides records."""

    def __init__(self, log: FakeSharedLog, chance: random.Random) -> None:
        self._log, self._chance = log, chance
        self.calm = False

    def _arrived(self, entries: list[Entry]) -> list[Entry]:
        return [one for one in entries if self._chance.random() < 0.9]

    def __getattr__(self, name: str) -> object:
        method = getattr(self._log, name)
        if self.calm or name in ("offer", "take"):
            return method

        def call(*args: object, **named: object) -> object:
            if self._chance.random() < 0.1:
                raise IoFailed("cut before")
            result = method(*args, **named)
            if self._chance.random() < 0.1:
                raise IoFailed("cut after")
            if name == "read":
                return self._arrived(result)
            if name == "read_all":
                found = {device: self._arrived(entries) for device, entries in result.items()}
                return {device: entries for device, entries in found.items() if entries}
            return result

        return call


@pytest.mark.parametrize("seed", range(20))
def test_nothing_is_lost_or_doubled_whatever_fails(seed: int) -> None:
    chance = random.Random(seed)
    log = FakeSharedLog()
    machines = [founded(log)]
    machines += [joined(machines[0], log, f"member {n}") for n in range(3)]
    unreliable = Unreliable(log, chance)
    for one in machines:
        one.log = unreliable  # type: ignore[assignment]  # it is what it wraps, less reliably
        one.restart()
    expected: set[str] = set()
    for step in range(60):
        one = chance.choice(machines)
        text = f"{step}"
        if chance.random() < 0.8:
            one.circle.say([said(text)])
            expected.add(text)
        elif expected:
            gone = chance.choice(sorted(expected))
            one.circle.say([Forgot(identity=said(gone).identity)])
            expected.discard(gone)
        one.circle.say([Pinned(identity=said(text).identity, pinned=True, at=chance.randrange(3))])
        try:
            one.circle.contact()
        except IoFailed:
            if chance.random() < 0.5:
                one.restart()
    unreliable.calm = True
    settle(*machines)
    for one in machines:
        assert one.texts() == sorted(expected)
        assert one.ledger.replica == machines[0].ledger.replica
        assert one.ledger.set_aside() == []
