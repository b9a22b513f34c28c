"""The keys of devices, circles and invitations. All computing is done by `cryptography`."""

import base64
import os
from dataclasses import dataclass
from functools import cached_property

from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from iai_mcp.domain.shared_events import device_id

KEY_BYTES = 32
_SECRET_BYTES = 16
# Every key below is used for one message only, so the nonce has nothing to tell apart.
_NONCE = bytes(12)


class NotForUs(Exception):
    """It was sealed for somebody else, or is not what was sealed."""


def derived(secret: bytes, purpose: str, *context: bytes, salt: bytes = b"") -> bytes:
    """A key for one purpose. Each part of the context has its length in front of it."""
    info = purpose.encode() + b"".join(len(one).to_bytes(4, "big") + one for one in context)
    return HKDF(SHA256(), KEY_BYTES, salt or None, b"iai-mcp " + info).derive(secret)


def encrypt_once(key: bytes, data: bytes, bound_to: bytes) -> bytes:
    """With a key that encrypts nothing else."""
    return AESGCM(key).encrypt(_NONCE, data, bound_to)


def decrypt(key: bytes, sealed: bytes, bound_to: bytes) -> bytes:
    """
    Raises:
        NotForUs: another key, or other bytes.
    """
    try:
        return AESGCM(key).decrypt(_NONCE, sealed, bound_to)
    except InvalidTag as wrong:
        raise NotForUs from wrong


def epoch_of(key: bytes) -> str:
    """The epoch of a key: nobody can pass another key off as its own. Older versions made epochs up."""
    return derived(key, "epoch id")[:16].hex()


def is_signed(public: bytes, signature: bytes, data: bytes) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, data)
    except (InvalidSignature, ValueError):
        return False
    return True


def can_seal_for(sealing_key: bytes) -> bool:
    """Whether anything can be sealed for that public key: some points of the curve are of no use."""
    try:
        X25519PrivateKey.generate().exchange(X25519PublicKey.from_public_bytes(sealing_key))
    except ValueError:
        return False
    return True


def fingerprint(device: str) -> str:
    """A device's id as two people read it to each other."""
    letters = base64.b32encode(bytes.fromhex(device)).decode("ascii")[:16].lower()
    return "-".join(letters[at : at + 4] for at in range(0, 16, 4))


@dataclass(frozen=True)
class DeviceKeys:
    """The private halves of one device: 32 bytes each."""

    signing: bytes
    sealing: bytes

    @classmethod
    def made(cls) -> "DeviceKeys":
        return cls(os.urandom(KEY_BYTES), os.urandom(KEY_BYTES))

    @cached_property
    def signing_key(self) -> bytes:
        """The public half."""
        return Ed25519PrivateKey.from_private_bytes(self.signing).public_key().public_bytes_raw()

    @cached_property
    def sealing_key(self) -> bytes:
        """The public half."""
        return X25519PrivateKey.from_private_bytes(self.sealing).public_key().public_bytes_raw()

    @cached_property
    def device(self) -> str:
        return device_id(self.signing_key, self.sealing_key)

    def sign(self, data: bytes) -> bytes:
        return Ed25519PrivateKey.from_private_bytes(self.signing).sign(data)

    def opened(self, sealed: bytes, bound_to: bytes) -> bytes:
        """What was sealed for this device with `sealed_for`.

        Raises:
            NotForUs: it was not.
        """
        ephemeral, rest = sealed[:KEY_BYTES], sealed[KEY_BYTES:]
        try:
            shared = X25519PrivateKey.from_private_bytes(self.sealing).exchange(
                X25519PublicKey.from_public_bytes(ephemeral)
            )
        except ValueError as wrong:
            raise NotForUs from wrong
        key = derived(shared, "sealed for a device", ephemeral, self.sealing_key)
        return decrypt(key, rest, bound_to)


def sealed_for(sealing_key: bytes, data: bytes, bound_to: bytes) -> bytes:
    """For the owner of that public key only."""
    own = X25519PrivateKey.generate()
    ephemeral = own.public_key().public_bytes_raw()
    shared = own.exchange(X25519PublicKey.from_public_bytes(sealing_key))
    key = derived(shared, "sealed for a device", ephemeral, sealing_key)
    return ephemeral + encrypt_once(key, data, bound_to)


@dataclass(frozen=True)
class InviteSecret:
    """What an invitation's code carries. Everything else about it follows from it."""

    secret: bytes

    @classmethod
    def made(cls) -> "InviteSecret":
        return cls(os.urandom(_SECRET_BYTES))

    @cached_property
    def name(self) -> str:
        """Under which the welcome lies in the place."""
        return derived(self.secret, "invite name")[:16].hex()

    @cached_property
    def welcome_key(self) -> bytes:
        return derived(self.secret, "welcome")

    @cached_property
    def _signer(self) -> Ed25519PrivateKey:
        return Ed25519PrivateKey.from_private_bytes(derived(self.secret, "invite proof"))

    @cached_property
    def proof_key(self) -> bytes:
        """The public half, which the inviter tells the circle."""
        return self._signer.public_key().public_bytes_raw()

    def proof(self, data: bytes) -> bytes:
        return self._signer.sign(data)
