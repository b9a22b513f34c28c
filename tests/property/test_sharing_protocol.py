"""The protocol of docs/sharing.md as a model: whatever happens in whatever order, those who belong come
to the same, and those who were removed learn nothing new and are not heard.
"""

import itertools
import os
import random
import secrets
from contextlib import suppress
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from tests.fakes.shared_log import FakeSharedLog
from tests.fakes.sharing_ledger import FakeSharingLedger
from tests.support.late_views import LateView

from iai_mcp.domain.errors import InvalidInput, IoFailed
from iai_mcp.domain.event_chain import folded, linked
from iai_mcp.domain.shared_events import Event, Removed, Said, lines_of
from iai_mcp.sharing import joining, records
from iai_mcp.sharing.circle import Circle
from iai_mcp.sharing.keys import DeviceKeys
from iai_mcp.sharing.records import Content, Header

NOW = 1_000_000
PICK = st.integers(0, 1 << 16)
JUNK = (b"", b"x", b"iaiR\x02\x00\x00\x00\x02{}" + bytes(64), b"iaiR\x09" + bytes(100))


def said(text: str) -> Said:
    identity = text.encode().ljust(16, b".")[:16]
    return Said(identity=identity, project="p", session_id="s", role="user", text=text, at=NOW)


@dataclass
class Machine:
    """A device with its store and its view of the place."""

    circle_id: str
    founder: str
    keys: DeviceKeys
    view: LateView
    host: "Machine | None" = None
    targeted: bool = False  # somebody removed it, or it left
    ledger: FakeSharingLedger = field(init=False)
    circle: Circle = field(init=False)

    def __post_init__(self) -> None:
        self.ledger = FakeSharingLedger(self.keys.device)
        self.start()

    def start(self) -> None:
        self.circle = Circle(self.circle_id, self.founder, self.keys, self.view, self.ledger)

    @property
    def id(self) -> str:
        return self.keys.device

    @property
    def is_sound(self) -> bool:
        """Whether nobody ever removed it, nor anybody in the line of those who let it in."""
        return not self.targeted and (self.host is None or self.host.is_sound)

    def texts(self) -> set[str]:
        return {one.told.turn.text for one in self.ledger.replica.standing().values()}

    def knows_removed(self, device: str) -> bool:
        return device in self.circle.roster.removals


class Sharing(RuleBasedStateMachine):
    """Machines of one circle, honest ones and such that go on after they were removed."""

    @initialize(seed=st.integers(0, 1 << 16))
    def found(self, seed: int) -> None:
        # Ids follow from keys, and their order matters: a run that fails has to fail again.
        self.keys_made = pytest.MonkeyPatch()
        self.keys_made.setattr(os, "urandom", random.Random(seed).randbytes)
        self.keys_made.setattr(secrets, "token_bytes", random.Random(~seed).randbytes)
        self.place = FakeSharedLog()
        self.texts = (f"text {n}" for n in itertools.count())
        self.secret_from: dict[str, set[str]] = {}  # a removed device -> what it must not learn
        self.forged: set[str] = set()
        self.authors: dict[str, str] = {}  # text -> device
        self.forgers: set[str] = set()
        keys = DeviceKeys.made()
        self.machines = [
            Machine(joining.new_circle_id(), keys.device, keys, LateView(self.place, keys.device))
        ]
        joining.found(self.machines[0].circle, "member 0", "m", NOW)
        self.machines[0].circle.contact(NOW)

    def pick(self, number: int) -> Machine:
        return self.machines[number % len(self.machines)]

    def honest(self, number: int) -> Machine:
        those = [one for one in self.machines if not one.targeted]
        return those[number % len(those)] if those else self.machines[0]

    def act(self, machine: Machine) -> None:
        """A contact, which a kill may end anywhere."""
        try:
            machine.circle.contact(NOW)
        except IoFailed:
            machine.start()

    @rule(who=PICK)
    def say(self, who: int) -> None:
        machine, text = self.honest(who), next(self.texts)
        for other in self.machines:
            if machine.knows_removed(other.id) and machine is not other:
                self.secret_from.setdefault(other.id, set()).add(text)
        self.authors[text] = machine.id
        machine.circle.say([said(text)])

    @rule(who=PICK)
    def contact(self, who: int) -> None:
        self.act(self.pick(who))

    @rule(who=PICK, calls=st.integers(0, 8))
    def killed(self, who: int, calls: int) -> None:
        machine = self.pick(who)
        machine.view.fails_after = calls
        self.act(machine)
        machine.view.fails_after = None
        machine.start()

    @rule(who=PICK)
    def deliver(self, who: int) -> None:
        self.pick(who).view.deliver_all()

    @rule(who=PICK, whose=PICK, up_to=st.none() | st.integers(1, 12))
    def deliver_a_part(self, who: int, whose: int, up_to: int | None) -> None:
        self.pick(who).view.deliver(self.pick(whose).id, up_to)

    @precondition(lambda self: len(self.machines) < 6)
    @rule(who=PICK, lets_in=st.booleans())
    def invite(self, who: int, lets_in: bool) -> None:
        host = self.honest(who)
        if host.id not in host.circle.roster.present():
            return
        made = joining.invite(host.circle, "/place", "team", "", NOW)
        welcome = joining.taken_welcome(self.place, made, NOW)
        keys = DeviceKeys.made()
        view = LateView(self.place, keys.device)
        guest = Machine(host.circle_id, welcome.founder, keys, view, host)
        joining.join(guest.circle, welcome, made, f"member {len(self.machines)}", "m")
        self.machines.append(guest)
        self.act(guest)
        if lets_in:
            host.view.deliver(guest.id)
            self.act(host)
            guest.view.deliver_all()
            self.act(guest)

    @rule(who=PICK, whom=PICK)
    def remove(self, who: int, whom: int) -> None:
        machine, target = self.honest(who), self.pick(whom)
        if machine is target or target.id not in machine.circle.roster.present():
            return
        if machine.id not in machine.circle.roster.present():
            return
        machine.circle.remove([target.id], NOW)
        target.targeted = True

    @rule(who=PICK)
    def leave(self, who: int) -> None:
        machine = self.honest(who)
        if machine.host is None:
            return  # the founder stays, so that somebody does
        with suppress(IoFailed):
            machine.circle.leave(NOW)
        machine.targeted = True

    @rule(
        whose=PICK,
        number=st.sampled_from([1, 2, 5, 9, 40, 900_000_000]),
        what=st.sampled_from(JUNK),
    )
    def junk(self, whose: int, number: int, what: bytes) -> None:
        """Somebody who can write to the place puts a file behind a stream's end."""
        stream = self.place.streams.get(self.pick(whose).id, {})
        if number not in stream and number > max((one for one in stream if one < 1000), default=0):
            stream[number] = what

    @rule(who=PICK)
    def roll(self, who: int) -> None:
        machine = self.honest(who)
        records_there = machine.ledger.sizes()
        run = [one for one in records_there if one[2] < 1 << 30][-2:]
        if len(run) == 2 and run[0][1] + 1 == run[1][0] and not machine.circle.held():
            machine.circle.outgoing.lay_anew(run[0][0], run[1][1])

    @rule(who=PICK)
    def check(self, who: int) -> None:
        machine = self.pick(who)
        with suppress(IoFailed):
            machine.circle.check()

    @rule(who=PICK, which=PICK)
    def forge(self, who: int, which: int) -> None:
        """Who was removed, and everybody knows it, writes an old record anew, and one more."""
        gone = [one for one in self.machines if one.targeted]
        if not gone or not gone[who % len(gone)].ledger.last_sent():
            return
        machine = gone[who % len(gone)]
        sound = [one for one in self.machines if one.is_sound]
        if not all(
            one.knows_removed(machine.id)
            and one.ledger.asked() is None
            and one.ledger.cursor(machine.id) >= one.circle.roster.cuts(machine.id)[0].last
            for one in sound
        ):
            return
        text = f"forged {next(self.texts)}"
        self.forged.add(text)
        self.forgers.add(machine.id)
        events: list[Event] = [said(text), Removed(device=self.machines[0].id, last=0, at=NOW)]
        last = machine.ledger.last_sent()
        for number in {1 + which % last, last + 1}:
            self._forge(machine, number, events)

    def _forge(self, machine: Machine, number: int, events: list[Event]) -> None:
        links = [linked(lines_of(event)[0]) for event in events]
        before = machine.ledger.digest(machine.id, number - 1)
        digest = folded(before, [one.leaf for one in links])
        keys = machine.ledger.epoch_keys()
        if not keys:
            return
        epoch = sorted(keys)[0]
        header = Header(
            circle=machine.circle_id,
            device=machine.id,
            number=number,
            first=number,
            epoch=epoch,
            previous=before.hex(),
            digest=digest.hex(),
        )
        record = records.seal(Content(events, links), header, keys[epoch], machine.keys)
        self.place.streams.setdefault(machine.id, {})[number] = record

    def teardown(self) -> None:
        if hasattr(self, "machines"):
            try:
                self._all_agree()
            finally:
                self.keys_made.undo()

    def _all_agree(self) -> None:
        sound = [one for one in self.machines if one.is_sound]
        for _ in range(12):
            for machine in sound:
                machine.view.deliver_all()
                machine.view.fails_after = None
                machine.circle.contact(NOW)
        for machine in sound:
            machine.circle.check()
        for machine in sound:
            machine.view.deliver_all()
            machine.circle.contact(NOW)
        inside = [one for one in sound if one.ledger.asked() is None]
        for one, other in itertools.pairwise(inside):
            assert set(one.circle.roster.present()) == set(other.circle.roster.present())
            assert self._left_whole(one) == self._left_whole(other)
            if not self.forgers:
                assert one.ledger.replica == other.ledger.replica
        for machine in inside:
            assert {one.id for one in inside} <= set(machine.circle.roster.present())
            assert not self.forged & machine.texts()
            assert machine.circle.held() == ""
            assert machine.ledger.waiting == []
            assert not [one for one in machine.circle.differences() if one.kind != "cut"]
        self._removed_learn_nothing()

    def _left_whole(self, machine: Machine) -> set[str]:
        """What it holds, but of those who wrote over it: newcomers do not hear that."""
        return {one for one in machine.texts() if self.authors.get(one) not in self.forgers}

    def _removed_learn_nothing(self) -> None:
        for machine in self.machines:
            secret = self.secret_from.get(machine.id, set())
            machine.view.deliver_all()
            with suppress(IoFailed):
                machine.circle.contact(NOW)
            assert not secret & machine.texts()
            keys = machine.ledger.epoch_keys()
            for stream in self.place.streams.values():
                for record in stream.values():
                    with suppress(InvalidInput):
                        header = records.header_of(record)
                        if header.epoch in keys:
                            opened = records.opened(record, keys[header.epoch]).events
                            told = {one.text for one in opened if isinstance(one, Said)}
                            assert not secret & told


TestSharing = Sharing.TestCase
TestSharing.settings = settings(
    max_examples=100,
    stateful_step_count=50,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
