"""Circles as people handle them: found, invite, join, share, see, trust, remove, leave."""

import re
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from iai_mcp.domain.errors import IaiError, InvalidInput, NotFound
from iai_mcp.ports.circles import Circles, KnownCircle, SharedProject
from iai_mcp.ports.journal import Journal
from iai_mcp.ports.shared_log import Oddity, SharedLog
from iai_mcp.ports.sharing_ledger import SetAside
from iai_mcp.ports.surroundings import Clock, Redactor
from iai_mcp.sharing import joining
from iai_mcp.sharing.circle import Circle, Contact
from iai_mcp.sharing.differences import Difference
from iai_mcp.sharing.following import Following
from iai_mcp.sharing.invitations import Invitation
from iai_mcp.sharing.keys import DeviceKeys, fingerprint
from iai_mcp.sharing.roster import Device

_DAY = 86_400_000_000  # microseconds
_NAME = re.compile(r"[^\W_][\w .+-]{0,63}\Z")
_SAMPLES = 3
_SAMPLE_LETTERS = 200


@dataclass(frozen=True, slots=True)
class Preview:
    """What would leave, as it would leave."""

    turns: int
    redacted: int  # those in which today's rules find something that stays here
    samples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Present:
    """A device of a circle, and up to which record it was heard."""

    device: Device
    number: int
    trusted: bool
    own: bool  # of this member: all that it says is one's own

    @property
    def fingerprint(self) -> str:
        return fingerprint(self.device.id)


@dataclass(frozen=True, slots=True)
class Asking:
    """A device that asks to be let in, and who invited it."""

    device: str
    inviter: str  # the member's name


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How one circle stands."""

    known: KnownCircle
    pending: int
    applied: int
    behind: int
    set_aside: Sequence[SetAside]
    devices: Sequence[Present]
    projects: Sequence[SharedProject]
    doubted: Sequence[str] = ()  # invitations that several devices came with
    strangers: Sequence[str] = ()  # devices with a stream there that do not belong
    oddities: Sequence[Oddity] = ()  # what lies in the place and is no record
    asking: Sequence[Asking] = ()  # devices that ask another one to be let in
    held: str = ""  # why nothing is sent
    differences: Sequence[Difference] = ()  # between what was heard here and elsewhere
    older: Sequence[Device] = ()  # devices of which nothing of this version was heard
    removed: bool = False  # whether somebody removed this machine


@dataclass(slots=True)
class Sharing:
    """All circles of one store. Every call is safe from any thread."""

    circles: Circles
    open_log: Callable[[str, str, bool], SharedLog]  # place, circle, whether it may be made
    clock: Clock
    journal: Journal
    redact: Redactor
    user: str
    machine: str
    # Called when there is another circle to follow, or one less.
    changed: Callable[[], None] = lambda: None
    _open: dict[str, Following] = field(default_factory=dict)
    _opening: threading.Lock = field(default_factory=threading.Lock)

    # Founding and joining

    def create(self, name: str, place: str, member: str = "", *, everything: bool) -> KnownCircle:
        """
        Raises:
            AlreadyExists: there is one of that name here.
            IaiError: the place can not be used.
        """
        keys = DeviceKeys.made()
        known = self._new(
            joining.new_circle_id(), name, place, keys.device, keys, member, everything=everything
        )
        log = self.open_log(place, known.id, True)
        try:
            log.heads()
            self.circles.add(known)
        finally:
            log.close()
        following = self.of(name)
        try:
            with following.alone():
                joining.found(following.circle, known.member, known.machine, self.clock.now())
            if everything:
                self.circles.share_everything(known.id)
            following.contact()
        except IaiError:
            self._drop(known)
            raise
        self._note("share_created", known)
        return known

    def invite(self, name: str, member: str, days: int) -> tuple[Invitation, int]:
        """A code that is good once, and until when."""
        following = self.of(name)
        following.contact()
        if member:
            _checked(member, "a member's name")
        expires = self.clock.now() + days * _DAY
        with following.alone():
            place = following.known.place
            made = joining.invite(following.circle, place, name, member, expires)
        self._note("share_invited", following.known)
        return made, expires

    def join(
        self,
        code: str,
        place: str = "",
        member: str = "",
        *,
        everything: bool = False,
        patience: float = 0.0,
    ) -> KnownCircle:
        """Ask to be let in. `patience`: seconds to wait until that is done.

        Raises:
            InvalidInput: no code, or its time is over.
            NotFound: it was used.
        """
        invitation = Invitation.read(code)
        if any(one.id == invitation.circle for one in self.circles.all()):
            raise InvalidInput("this machine belongs to that circle already: iai-mcp share list")
        place = place or invitation.place
        log = self.open_log(place, invitation.circle, False)
        try:
            welcome = joining.taken_welcome(log, invitation, self.clock.now())
        finally:
            log.close()
        name = self._free_name(welcome.name)
        known = self._new(
            invitation.circle,
            name,
            place,
            welcome.founder,
            DeviceKeys.made(),
            welcome.member or member,
            everything=everything,
        )
        self.circles.add(known)
        following = self.of(name)
        with following.alone():
            joining.join(following.circle, welcome, invitation, known.member, known.machine)
        self._note("share_joined_here", known)
        if everything:
            self.circles.share_everything(known.id)
        with suppress(IaiError):  # it asked: the rest follows, and `status` tells what is wrong
            following.contact()
            following.wait_for_entry(patience)
        return known

    # Projects

    def share(
        self, name: str, project: str, shown: str, since: int, repository: tuple[str, str]
    ) -> int:
        """Tell a circle of what is said in a project; how many turns go out first."""
        known = self.of(name).known
        while self.circles.identify(500):
            pass
        told = self.circles.share(known.id, project, shown, since, repository)
        self._note("share_project", known)
        self.wake()
        return told

    def unshare(self, name: str, project: str) -> None:
        known = self.of(name).known
        self.circles.unshare(known.id, project)
        self._note("share_unshared", known)

    def preview(self, project: str, since: int) -> Preview:
        turns = redacted = 0
        samples: list[str] = []
        for text in self.circles.said_in(project, since):
            clean = self.redact(text)
            turns += 1
            redacted += clean.text != text
            if len(samples) < _SAMPLES or clean.text != text:
                samples = [*samples[-_SAMPLES + 1 :], clean.text[:_SAMPLE_LETTERS]]
        return Preview(turns, redacted, tuple(samples))

    # Members

    def trust(self, name: str, member: str, trusted: bool) -> None:
        """
        Raises:
            NotFound: nobody of that name belongs to it.
        """
        following = self.of(name)
        members = {one.member for one in following.as_stored().roster.devices().values()}
        if member not in members:
            raise NotFound(f"nobody called {member!r} is in {name!r}: iai-mcp share members {name}")
        self.circles.trust(following.known.id, member, trusted)
        self._note("share_trusted" if trusted else "share_untrusted", following.known)

    def remove(self, name: str, who: str) -> list[Device]:
        """Let a member, or one device, belong no more. What they had, they keep.

        Raises:
            NotFound: no such member or device.
        """
        following = self.of(name)
        with suppress(IaiError):  # what they said until now still counts, where that can be heard
            following.contact()
        with following.alone():
            circle = following.circle
            present = circle.roster.present()
            found = [one for one in present.values() if _is_meant(one, who)]
            if following.known.device in {one.id for one in found}:
                raise InvalidInput(
                    "that is this machine: to go yourself, iai-mcp share leave; to remove another "
                    "machine of yours, give its fingerprint"
                )
            if following.known.device not in present:
                raise InvalidInput(f"this machine is not in {name!r} itself: iai-mcp share status")
            if not found:
                raise NotFound(
                    f"nobody called {who!r} is in {name!r}: iai-mcp share members {name}"
                )
            circle.remove([one.id for one in found], self.clock.now())
        with suppress(IaiError):  # it waits to go out; `status` says so
            following.contact()
        self._note("share_removed", following.known)
        return found

    def leave(self, name: str) -> bool:
        """Belong no more; whether the others could be told."""
        following = self.of(name)
        told = False
        with suppress(IaiError):
            following.contact()
        with suppress(IaiError), following.alone():
            told = following.circle.leave(self.clock.now())
        self._drop(following.known)
        self._note("share_left", following.known)
        return told

    # Seeing

    def status(self, name: str = "") -> list[Standing]:
        """How the circles stand, as far as this store knows; the place is not asked."""
        return [self._standing(self.of(one.name)) for one in self._chosen(name)]

    def members(self, name: str) -> list[Present]:
        return list(self._standing(self.of(name)).devices)

    # Contacts

    def now(self, name: str = "") -> list[tuple[KnownCircle, Contact]]:
        """Send and hear at once, in one circle or in all.

        Raises:
            IaiError: a place can not be used; the others were asked before that is said.
        """
        done: list[tuple[KnownCircle, Contact]] = []
        refused: IaiError | None = None
        for known in self._chosen(name):
            following = self.of(known.name)
            try:
                contact = following.contact()
                done.append(
                    (known, replace(contact, repaired=contact.repaired + following.check()))
                )
            except IaiError as failed:
                refused = failed
        if refused is not None:
            raise refused
        return done

    def roll(self) -> int:
        """Make few records of many small ones, in all circles."""
        return sum(self.of(one.name).roll() for one in self.circles.all())

    def wake(self) -> None:
        """Something may wait to go out."""
        for one in list(self._open.values()):
            one.wake()

    def of(self, name: str) -> Following:
        """
        Raises:
            NotFound: this machine belongs to no circle of that name.
        """
        (known,) = self._chosen(name)
        with self._opening:
            if known.id not in self._open:
                log = self.open_log(known.place, known.id, False)
                self._open[known.id] = Following(known, self.circles, log, self.clock, self.journal)
            return self._open[known.id]

    def end(self) -> None:
        """Let those who follow come back."""
        for one in list(self._open.values()):
            one.end()

    def close(self) -> None:
        for one in list(self._open.values()):
            one.close()
        self._open.clear()

    def _chosen(self, name: str) -> list[KnownCircle]:
        known = self.circles.all()
        if not name:
            return known
        found = [one for one in known if one.name == name]
        if not found:
            raise NotFound(f"this machine is in no circle called {name!r}: iai-mcp share list")
        return found

    def _standing(self, following: Following) -> Standing:
        known = following.known
        (fresh,) = self._chosen(known.name)
        traffic, trusted = self.circles.traffic(known.id), self.circles.trusted(known.id)
        circle = following.as_stored()
        devices = [
            Present(one, _heard(circle, one), one.member in trusted, one.member == known.member)
            for one in circle.roster.present().values()
        ]
        return Standing(
            known=fresh,
            pending=traffic.pending,
            applied=traffic.applied,
            behind=following.behind,
            set_aside=circle.ledger.set_aside(),
            devices=sorted(devices, key=lambda one: (one.device.member, one.device.id)),
            projects=self.circles.projects(known.id),
            doubted=sorted(circle.roster.doubted()),
            strangers=following.strangers,
            oddities=following.oddities,
            asking=[
                Asking(device, _member_of(circle, inviter))
                for device, inviter in following.asking.items()
            ],
            held=following.held or circle.held(),
            differences=circle.differences(),
            older=circle.older(),
            removed=known.device in circle.roster.removals,
        )

    def _new(
        self,
        circle: str,
        name: str,
        place: str,
        founder: str,
        keys: DeviceKeys,
        member: str,
        *,
        everything: bool = False,
    ) -> KnownCircle:
        return KnownCircle(
            id=circle,
            name=_checked(name, "a circle's name"),
            place=place,
            founder=founder,
            device=keys.device,
            signing=keys.signing,
            sealing=keys.sealing,
            member=_checked(member or self.user, "a member's name"),
            machine=self.machine[:64],
            everything=everything,
        )

    def _free_name(self, wanted: str) -> str:
        """Two circles of one name can be joined: the second is called after it here."""
        taken = {one.name for one in self.circles.all()}
        number, name = 2, wanted
        while name in taken:
            name, number = f"{wanted} {number}", number + 1
        return name

    def _drop(self, known: KnownCircle) -> None:
        with self._opening:
            following = self._open.pop(known.id, None)
        if following is not None:
            following.close()
        self.circles.leave(known.id)

    def _note(self, kind: str, known: KnownCircle) -> None:
        self.journal.record_event(kind, {"circle": known.name}, self.clock.now())
        self.changed()


def _heard(circle: Circle, device: Device) -> int:
    """The number of the last record of a device that is known here."""
    ledger = circle.ledger
    return ledger.last_sent() if device.id == circle.keys.device else ledger.cursor(device.id)


def _member_of(circle: Circle, device: str) -> str:
    hello = circle.roster.hello(device)
    return "" if hello is None else hello.member


def _is_meant(device: Device, who: str) -> bool:
    return who in (device.member, device.id, fingerprint(device.id))


def _checked(name: str, what: str) -> str:
    if not _NAME.match(name):
        raise InvalidInput(f"{what} has letters, digits, blanks and . + - only, 64 at most")
    return name
