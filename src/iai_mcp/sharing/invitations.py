"""What passes between who invites and who joins: the code, the welcome, the keys.

A code opens a welcome, which holds no keys. Who joins asks the device that invited; that one lets the
new device in and lays the circle's keys into the place, sealed for that device.
"""

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from iai_mcp.domain.errors import InvalidInput
from iai_mcp.domain.shared_events import Event, Seen, decoded, device_id, encoded
from iai_mcp.ports.sharing_ledger import Asked
from iai_mcp.sharing.keys import (
    KEY_BYTES,
    DeviceKeys,
    InviteSecret,
    NotForUs,
    can_seal_for,
    decrypt,
    encrypt_once,
    is_signed,
    sealed_for,
)

_CODE, _OLD_CODE = "iai2-", "iai1-"
_ID_BYTES = 16
_CHECK_BYTES = 4
_SIGNATURE_BYTES = 64
_LONGEST_BROKEN_CODE = 40
_OLDER = (
    "an older version of iai-mcp made this code: upgrade iai-mcp on the machine that invites, and ask"
    " for a new code"
)
_OTHER_WELCOME = "what awaits in the place does not belong to this code: ask for a new one"
_INCOMPLETE = "this is no invitation code, or not all of it: copy it again from `share invite`"


@dataclass(frozen=True, slots=True)
class Invitation:
    """What a code says: where the circle lies, which one it is, which device lets in, and the secret."""

    place: str
    circle: str
    inviter: str
    secret: InviteSecret

    @property
    def code(self) -> str:
        ids = bytes.fromhex(self.circle + self.inviter)
        data = self.secret.secret + ids + self.place.encode()
        checked = data + binascii.crc32(data).to_bytes(_CHECK_BYTES, "big")
        return _CODE + base64.urlsafe_b64encode(checked).decode("ascii").rstrip("=")

    @classmethod
    def read(cls, code: str) -> "Invitation":
        """
        Raises:
            InvalidInput: it is no code, or not all of one.
        """
        letters = "".join(code.split())
        if letters.startswith(_OLD_CODE) and len(letters) > _LONGEST_BROKEN_CODE:
            raise InvalidInput(_OLDER)
        if not letters.startswith(_CODE):
            raise InvalidInput(_INCOMPLETE)
        letters = letters[len(_CODE) :]
        try:
            checked = base64.b64decode(letters + "=" * (-len(letters) % 4), b"-_", validate=True)
            data, check = checked[:-_CHECK_BYTES], checked[-_CHECK_BYTES:]
            place = data[3 * _ID_BYTES :].decode()
        except ValueError as broken:
            raise InvalidInput(_INCOMPLETE) from broken
        if binascii.crc32(data).to_bytes(_CHECK_BYTES, "big") != check or not place:
            raise InvalidInput(_INCOMPLETE)
        circle, inviter = data[_ID_BYTES : 2 * _ID_BYTES], data[2 * _ID_BYTES : 3 * _ID_BYTES]
        return cls(place, circle.hex(), inviter.hex(), InviteSecret(data[:_ID_BYTES]))


@dataclass(frozen=True, slots=True)
class Welcome:
    """What awaits who joins: whom to ask. It holds no keys of the circle."""

    name: str  # of the circle
    founder: str
    member: str  # the name the inviter gave; "" leaves it to who joins
    expires: int
    signing_key: bytes  # of the device that invited
    sealing_key: bytes

    def sealed(self, secret: InviteSecret) -> bytes:
        told = {
            "name": self.name,
            "founder": self.founder,
            "member": self.member,
            "expires": self.expires,
            "signing_key": self.signing_key.hex(),
            "sealing_key": self.sealing_key.hex(),
        }
        return encrypt_once(secret.welcome_key, json.dumps(told).encode(), secret.name.encode())

    @classmethod
    def opened(cls, sealed: bytes, invitation: Invitation) -> "Welcome":
        """
        Raises:
            InvalidInput: it is not what was laid there for this code.
        """
        secret = invitation.secret
        try:
            told = json.loads(decrypt(secret.welcome_key, sealed, secret.name.encode()))
            signing_key, sealing_key = (
                bytes.fromhex(told.pop(name)) for name in ("signing_key", "sealing_key")
            )
            welcome = cls(signing_key=signing_key, sealing_key=sealing_key, **told)
            texts = (welcome.name, welcome.founder, welcome.member)
            is_sound = all(isinstance(one, str) for one in texts) and type(welcome.expires) is int
        except (NotForUs, ValueError, TypeError, KeyError, AttributeError) as broken:
            raise InvalidInput(_OTHER_WELCOME) from broken
        inviter = device_id(signing_key, sealing_key)
        if not is_sound or inviter != invitation.inviter or not can_seal_for(sealing_key):
            raise InvalidInput(_OTHER_WELCOME)
        return welcome


@dataclass(frozen=True, slots=True)
class Grant:
    """What a device gets that was let in: all keys of the circle, and what its inviter knows of who
    belongs, who was removed, and how far the streams go. Streams of removed devices may be gone.
    """

    keys: Mapping[str, bytes]  # by epoch
    newest: str  # epoch
    heard: Sequence[tuple[str, Sequence[Event]]]  # about membership, with the device that said it
    seen: Seen | None

    def sealed(self, inviter: DeviceKeys, sealing_key: bytes, circle: str) -> bytes:
        told = {
            "keys": {epoch: key.hex() for epoch, key in self.keys.items()},
            "newest": self.newest,
            "heard": [[device, encoded(events).decode()] for device, events in self.heard],
            "seen": encoded([] if self.seen is None else [self.seen]).decode(),
        }
        sealed = sealed_for(sealing_key, json.dumps(told).encode(), _grant_context(circle))
        return inviter.sign(_grant_context(circle) + sealed) + sealed

    @classmethod
    def opened(cls, sealed: bytes, keys: DeviceKeys, asked: Asked, circle: str) -> "Grant":
        """
        Raises:
            InvalidInput: it is not what the inviter laid there for this device.
        """
        signature, rest = sealed[:_SIGNATURE_BYTES], sealed[_SIGNATURE_BYTES:]
        if not is_signed(asked.signing_key, signature, _grant_context(circle) + rest):
            raise InvalidInput(_OTHER_WELCOME)
        try:
            told = json.loads(keys.opened(rest, _grant_context(circle)))
            epochs = {str(epoch): bytes.fromhex(key) for epoch, key in told["keys"].items()}
            heard = [(str(device), decoded(events.encode())) for device, events in told["heard"]]
            seen = [one for one in decoded(told["seen"].encode()) if isinstance(one, Seen)]
            grant = cls(epochs, str(told["newest"]), heard, seen[0] if seen else None)
        except (NotForUs, ValueError, TypeError, KeyError, AttributeError) as broken:
            raise InvalidInput(_OTHER_WELCOME) from broken
        if grant.newest not in epochs or {len(one) for one in epochs.values()} != {KEY_BYTES}:
            raise InvalidInput(_OTHER_WELCOME)
        return grant


def grant_name(invite: str) -> str:
    """Under which the keys lie for who came with that invitation."""
    return f"{invite}-keys"


def _grant_context(circle: str) -> bytes:
    return f"keys of {circle}".encode()
