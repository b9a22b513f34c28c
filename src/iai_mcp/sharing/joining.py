"""Founding a circle, inviting to it, joining it."""

import base64
import binascii
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass

from iai_mcp.domain.errors import InvalidInput
from iai_mcp.domain.shared_events import EpochKey, Hello, Invited
from iai_mcp.ports.shared_log import SharedLog
from iai_mcp.sharing.keys import (
    KEY_BYTES,
    DeviceKeys,
    InviteSecret,
    NotForUs,
    decrypt,
    encrypt_once,
    sealed_for,
)
from iai_mcp.sharing.roster import proof_of
from iai_mcp.sharing.streams import Circle, key_context

_CODE = "iai1-"
_SECRET_BYTES = 16
_CHECK_BYTES = 4
_INCOMPLETE = "this is no invitation code, or not all of it: copy it again from `share invite`"


@dataclass(frozen=True, slots=True)
class Invitation:
    """What a code says: where the circle lies, which one it is, and how to get in."""

    place: str
    circle: str
    secret: InviteSecret

    @property
    def code(self) -> str:
        data = self.secret.secret + bytes.fromhex(self.circle) + self.place.encode()
        checked = data + binascii.crc32(data).to_bytes(_CHECK_BYTES, "big")
        return _CODE + base64.urlsafe_b64encode(checked).decode("ascii").rstrip("=")

    @classmethod
    def read(cls, code: str) -> "Invitation":
        """
        Raises:
            InvalidInput: it is no code, or not all of one.
        """
        letters = "".join(code.split())
        if not letters.startswith(_CODE):
            raise InvalidInput(_INCOMPLETE)
        letters = letters[len(_CODE) :]
        try:
            checked = base64.b64decode(letters + "=" * (-len(letters) % 4), b"-_", validate=True)
            data, check = checked[:-_CHECK_BYTES], checked[-_CHECK_BYTES:]
            place = data[2 * _SECRET_BYTES :].decode()
        except ValueError as broken:
            raise InvalidInput(_INCOMPLETE) from broken
        if binascii.crc32(data).to_bytes(_CHECK_BYTES, "big") != check or not place:
            raise InvalidInput(_INCOMPLETE)
        circle = data[_SECRET_BYTES : 2 * _SECRET_BYTES].hex()
        return cls(place, circle, InviteSecret(data[:_SECRET_BYTES]))


@dataclass(frozen=True, slots=True)
class Welcome:
    """What awaits who joins."""

    name: str  # of the circle
    founder: str
    member: str  # the name the inviter gave; "" leaves it to who joins
    expires: int
    epochs: Mapping[str, bytes]
    newest: str  # epoch
    began: int

    def sealed(self, secret: InviteSecret) -> bytes:
        told = {
            "name": self.name,
            "founder": self.founder,
            "member": self.member,
            "expires": self.expires,
            "epochs": {epoch: key.hex() for epoch, key in self.epochs.items()},
            "newest": self.newest,
            "began": self.began,
        }
        return encrypt_once(secret.welcome_key, json.dumps(told).encode(), secret.name.encode())

    @classmethod
    def opened(cls, sealed: bytes, secret: InviteSecret) -> "Welcome":
        """
        Raises:
            InvalidInput: it is not what was laid there for this code.
        """
        try:
            told = json.loads(decrypt(secret.welcome_key, sealed, secret.name.encode()))
            epochs = {epoch: bytes.fromhex(key) for epoch, key in told.pop("epochs").items()}
            return cls(epochs=epochs, **told)
        except (NotForUs, ValueError, TypeError, KeyError, AttributeError) as broken:
            raise InvalidInput(
                "what awaits in the place does not belong to this code: ask for a new one"
            ) from broken


def new_circle_id() -> str:
    return secrets.token_hex(16)


def found(circle: Circle, member: str, machine: str, now: int) -> None:
    """The first words of the first device."""
    epoch = secrets.token_hex(16)
    circle.ledger.keep_epoch_key(epoch, secrets.token_bytes(KEY_BYTES))
    circle.say([_hello(circle.keys, member, machine)])
    circle.say([_own_key(circle, epoch, now)])


def invite(circle: Circle, place: str, name: str, member: str, expires: int) -> Invitation:
    """Lay a welcome into the place, after the circle was told that somebody may come."""
    secret, newest = InviteSecret.made(), circle.roster.epoch()
    key = secret.proof_key
    circle.say([Invited(invite=secret.name, key=key, member=member, expires=expires)])
    circle.send()
    welcome = Welcome(
        name=name,
        founder=circle.founder,
        member=member,
        expires=expires,
        epochs=circle.ledger.epoch_keys(),
        newest=newest,
        began=circle.roster.epochs[newest],
    )
    circle.log.offer(secret.name, welcome.sealed(secret))
    return Invitation(place, circle.id, secret)


def taken_welcome(log: SharedLog, invitation: Invitation, now: int) -> Welcome:
    """Take the welcome out of the place.

    Raises:
        NotFound: the code was used, or withdrawn.
        InvalidInput: the code's time is over.
    """
    welcome = Welcome.opened(log.take(invitation.secret.name), invitation.secret)
    if welcome.expires < now:
        raise InvalidInput(
            "the code's time is over, or the clock of one of the two machines is wrong: ask for a new one"
        )
    return welcome


def join(
    circle: Circle, welcome: Welcome, invitation: Invitation, member: str, machine: str
) -> None:
    """The first words of a device that was invited."""
    for epoch, key in welcome.epochs.items():
        circle.ledger.keep_epoch_key(epoch, key)
    circle.say([_hello(circle.keys, welcome.member or member, machine, invitation.secret)])
    circle.say([_own_key(circle, welcome.newest, welcome.began)])


def _hello(
    keys: DeviceKeys, member: str, machine: str, secret: InviteSecret | None = None
) -> Hello:
    def told(proof: bytes) -> Hello:
        return Hello(
            member=member,
            machine=machine,
            signing_key=keys.signing_key,
            sealing_key=keys.sealing_key,
            invite="" if secret is None else secret.name,
            proof=proof,
        )

    return told(b"" if secret is None else secret.proof(proof_of(keys.device, told(b""))))


def _own_key(circle: Circle, epoch: str, began: int) -> EpochKey:
    """That this device has the key of an epoch, said to all."""
    key = circle.ledger.epoch_keys()[epoch]
    sealed = sealed_for(circle.keys.sealing_key, key, key_context(circle.id, epoch))
    return EpochKey(epoch=epoch, began=began, sealed={circle.keys.device: sealed})
