"""One circle that is open: contacts with its place, one at a time, and following it."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from iai_mcp.domain.errors import IaiError
from iai_mcp.ports.circles import Circles, KnownCircle
from iai_mcp.ports.journal import Event, Journal
from iai_mcp.ports.shared_log import Oddity, SharedLog
from iai_mcp.ports.surroundings import Clock
from iai_mcp.sharing.circle import Circle, Contact
from iai_mcp.sharing.keys import DeviceKeys, fingerprint
from iai_mcp.sharing.roster import Device

_POLL_SECONDS = 30.0
_CHECK_SECONDS = 600.0  # what is missing in the middle of a stream shows only when all is looked at
_LOOK_SECONDS = 0.5
_GATHER_SECONDS = 0.2  # what is said within this goes out together
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0
_IDENTIFIED_AT_ONCE = 500
_CLOSE_SECONDS = 1.0
_ROLLED_FROM = 32  # records: fewer are not worth it
_ROLLED_BYTES = 2 << 20  # who hears a record holds all of it


@dataclass(slots=True)
class Following:
    """A circle of this store. Every call is safe from any thread."""

    known: KnownCircle
    circles: Circles
    log: SharedLog
    clock: Clock
    journal: Journal
    # As the place was found: records that could not be heard, devices that do not belong, and what is
    # no record.
    behind: int = 0
    strangers: Sequence[str] = ()
    oddities: Sequence[Oddity] = ()
    asking: Mapping[str, str] = field(default_factory=dict)  # device -> the one that invited it
    held: str = ""  # why nothing is sent
    _turn: threading.Lock = field(default_factory=threading.Lock)
    _ended: threading.Event = field(default_factory=threading.Event)
    _circle: Circle | None = None

    @property
    def circle(self) -> Circle:
        """Who asks holds the turn."""
        if self._circle is None:
            self._circle = self.as_stored()
        return self._circle

    def as_stored(self) -> Circle:
        """The circle as the store knows it, for whoever only looks: a contact may take long."""
        keys = DeviceKeys(self.known.signing, self.known.sealing)
        ledger = self.circles.ledger(self.known)
        return Circle(self.known.id, self.known.founder, keys, self.log, ledger)

    def alone(self) -> threading.Lock:
        """Held by whoever works on the circle."""
        return self._turn

    def contact(self) -> Contact:
        """Send and hear, once; what the place has lost is laid there again.

        Raises:
            IaiError: the place can not be used; that is kept for whoever asks how it stands.
        """
        with self._turn:
            try:
                done = self._contact()
            except IaiError as refused:
                self._circle = None  # what is in memory may be ahead of what was written
                self.circles.contacted(self.known.id, 0, refused.message)
                raise
            self.circles.contacted(self.known.id, self.clock.now(), "")
            return done

    def _contact(self) -> Contact:
        while self.circles.identify(_IDENTIFIED_AT_ONCE):
            pass
        before = set(self.circle.roster.present())
        done = self.circle.contact(self.clock.now())
        incoming = self.circle.incoming
        self.behind, self.strangers = incoming.behind, incoming.strangers
        self.asking, self.held = dict(incoming.asking), self.circle.outgoing.held
        self.circle.tidy(self.clock.now())
        present = self.circle.roster.present()
        came = set(present) - before - {self.known.device} if before else set()
        self._tell(done.repaired, [present[one] for one in sorted(came)])
        return done

    def wait_for_entry(self, seconds: float) -> None:
        """Until the device that invited this one let it in, or the time is over."""
        until = time.monotonic() + seconds
        while self.as_stored().held() and (left := until - time.monotonic()) > 0:
            self.log.wait(min(left, _LOOK_SECONDS))
            self.contact()

    def check(self) -> int:
        """Lay down again whatever the place has lost, also from the middle; how many records."""
        with self._turn:
            self.oddities = self.log.oddities()
            return self.circle.check()

    def roll(self) -> int:
        """Make few records of many small ones; how many went."""
        with self._turn:
            if self.circle.ledger.to_seal_anew():
                return 0  # they go out first
            runs = _runs(self.circle.ledger.sizes())
            spared = sum(len(run) - 1 for run in runs)
            if spared < _ROLLED_FROM:
                return 0
            for run in runs:
                if len(run) > 1:
                    self.circle.outgoing.lay_anew(run[0][0], run[-1][1])
            return spared

    def follow(self, stopping: Callable[[], bool]) -> None:
        """Contacts whenever there is a reason for one, until it ends. A place that is away is asked
        again, later and later.
        """
        pause, look_closely = _FIRST_PAUSE, 0.0
        while not stopping() and not self._ended.is_set():
            try:
                self.contact()
                pause = _FIRST_PAUSE
                if time.monotonic() >= look_closely:
                    self.check()
                    look_closely = time.monotonic() + _CHECK_SECONDS
                self._wait(stopping)
            except IaiError:  # kept with the circle: `share status` and `doctor` tell it
                self._ended.wait(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)

    def wake(self) -> None:
        """Something may wait to go out."""
        self.log.wake()

    def end(self) -> None:
        """Let who follows come back."""
        self._ended.set()
        self.log.wake()

    def close(self) -> None:
        """Leave the place. Whoever waits there for an answer is not waited for: what a contact does is
        whole at every moment.
        """
        self.end()
        if self._turn.acquire(timeout=_CLOSE_SECONDS):
            try:
                self.log.close()
            finally:
                self._turn.release()

    def _wait(self, stopping: Callable[[], bool]) -> None:
        """Until something arrived, something waits to go out, or it is time to look."""
        until = time.monotonic() + _POLL_SECONDS
        while (left := until - time.monotonic()) > 0:
            if self.log.wait(left) or stopping() or self._ended.is_set():
                return
            if self.circles.has_pending(self.known.id):
                self._ended.wait(_GATHER_SECONDS)
                return

    def _tell(self, repaired: int, came: Sequence[Device]) -> None:
        now, circle = self.clock.now(), {"circle": self.known.name}
        told = [
            Event(
                "share_joined",
                {
                    **circle,
                    "member": one.member,
                    "machine": one.machine,
                    "fingerprint": fingerprint(one.id),
                },
                now,
            )
            for one in came
        ]
        if repaired:
            told.append(Event("share_place_repaired", {**circle, "records": repaired}, now))
        if told:
            self.journal.record_events(told)


def _runs(sizes: Sequence[tuple[int, int, int]]) -> list[list[tuple[int, int]]]:
    """Records that follow each other, as many together as one record may hold."""
    runs: list[list[tuple[int, int]]] = []
    held = 0
    for first, last, size in sizes:
        held += size
        if not runs or held > _ROLLED_BYTES:
            runs.append([])
            held = size
        runs[-1].append((first, last))
    return runs
