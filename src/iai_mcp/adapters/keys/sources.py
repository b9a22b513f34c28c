"""Making and fetching a key: the passphrase's derivation, the OS keyring, the key file."""

import os
import secrets
from pathlib import Path

from iai_mcp.adapters.keys.descriptor import Argon2id, KeyDescriptor, Source, check_of
from iai_mcp.adapters.private_files import io_failure, write_private
from iai_mcp.domain.errors import KeyMissing, KeyWrong

PASSPHRASE_VARIABLE = "IAI_MCP_CRYPTO_PASSPHRASE"  # noqa: S105 - the variable's name
KEY_BYTES = 32
_KEYRING_SERVICE = "iai-mcp"


def make(directory: Path, source: Source | None = None) -> tuple[KeyDescriptor, bytes]:
    """A new key kept where `source` says, else in the best place there is.

    The order is the passphrase if one is set, the OS keyring if it works, a 0600 file.
    """
    chosen = source or ("passphrase" if passphrase() else None)
    if chosen == "passphrase":
        return make_from(_needed_passphrase())
    key = secrets.token_bytes(KEY_BYTES)
    account = f"{directory.name}-{secrets.token_hex(4)}"
    if chosen in (None, "keyring"):
        if _keyring_keeps(account, key):
            return KeyDescriptor("keyring", check_of(key), account=account), key
        if chosen == "keyring":
            raise KeyMissing("the OS keyring can not be used here: choose --source file instead")
    name = f"store-{secrets.token_hex(4)}.key"
    write_private(directory / name, key.hex().encode() + b"\n")
    return KeyDescriptor("file", check_of(key), account=name), key


def fetch(directory: Path, descriptor: KeyDescriptor) -> bytes:
    """The key that `descriptor` describes.

    Raises:
        KeyMissing: it is not where it should be.
        KeyWrong: what is there is another key.
    """
    if descriptor.source == "passphrase":
        key = _derive(_needed_passphrase(), descriptor.salt, descriptor.argon2id)
        wrong = (
            f"the passphrase in {PASSPHRASE_VARIABLE} is not this store's: set the one used at init"
        )
    elif descriptor.source == "keyring":
        key = _from_keyring(descriptor.account)
        wrong = "the OS keyring holds another key than this store's: restore the keyring entry"
    else:
        path = directory / descriptor.account
        key = _from_file(path)
        wrong = f"{path} holds another key than this store's: restore the key file from a backup"
    if not descriptor.fits(key):
        raise KeyWrong(f"{wrong}; nothing was changed")
    return key


def discard(directory: Path, descriptor: KeyDescriptor) -> None:
    """Remove a key that no store uses any more."""
    if descriptor.source == "file":
        (directory / descriptor.account).unlink(missing_ok=True)
    elif descriptor.source == "keyring":
        import keyring
        import keyring.errors

        try:
            keyring.delete_password(_KEYRING_SERVICE, descriptor.account)
        except keyring.errors.KeyringError:
            return  # it is gone already, or locked: an unused random key harms nobody


def passphrase() -> str:
    return os.environ.get(PASSPHRASE_VARIABLE, "")


def _needed_passphrase() -> str:
    given = passphrase()
    if not given:
        raise KeyMissing(
            f"this store was made with a passphrase: set {PASSPHRASE_VARIABLE} to it. "
            "Without it what is stored can not be read; nothing was changed"
        )
    return given


def make_from(secret: str) -> tuple[KeyDescriptor, bytes]:
    """A new key derived from a passphrase, with a salt of its own."""
    salt, chosen = secrets.token_bytes(16).hex(), Argon2id()
    key = _derive(secret, salt, chosen)
    return KeyDescriptor("passphrase", check_of(key), salt=salt, argon2id=chosen), key


def _derive(secret: str, salt: str, chosen: Argon2id) -> bytes:
    from argon2.low_level import Type, hash_secret_raw

    return hash_secret_raw(
        secret.encode("utf-8", "surrogateescape"),
        bytes.fromhex(salt),
        time_cost=chosen.passes,
        memory_cost=chosen.memory_kib,
        parallelism=chosen.lanes,
        hash_len=KEY_BYTES,
        type=Type.ID,
    )


def _keyring_keeps(account: str, key: bytes) -> bool:
    """Whether the OS keyring took the key and gives it back."""
    if not _keyring_is_possible():
        return False
    import keyring
    import keyring.errors

    try:
        keyring.set_password(_KEYRING_SERVICE, account, key.hex())
        return keyring.get_password(_KEYRING_SERVICE, account) == key.hex()
    except (keyring.errors.KeyringError, RuntimeError, OSError):
        # No backend, a locked collection, a bus that is gone: the key file serves instead.
        return False


def _keyring_is_possible() -> bool:
    """A cheap look before the expensive import: a desktop session, or macOS."""
    if os.environ.get("PYTHON_KEYRING_BACKEND"):
        return "null" not in os.environ["PYTHON_KEYRING_BACKEND"]
    if os.uname().sysname == "Darwin":
        return True
    return bool(os.environ.get("DBUS_SESSION_BUS_ADDRESS"))


def _from_keyring(account: str) -> bytes:
    import keyring
    import keyring.errors

    try:
        found = keyring.get_password(_KEYRING_SERVICE, account)
    except (keyring.errors.KeyringError, RuntimeError, OSError) as refused:
        raise KeyMissing(
            "the OS keyring that holds this store's key does not answer: unlock it (log in to "
            "your desktop session) and try again; nothing was changed"
        ) from refused
    if not found:
        raise KeyMissing(
            f"the OS keyring has no entry '{account}' for {_KEYRING_SERVICE}: restore it; "
            "without it what is stored can not be read; nothing was changed"
        )
    return bytes.fromhex(found)


def _from_file(path: Path) -> bytes:
    try:
        key = bytes.fromhex(path.read_text("ascii").strip())
    except FileNotFoundError as missing:
        raise KeyMissing(
            f"the key file {path} is missing: restore it from a backup; without it what is "
            "stored can not be read; nothing was changed"
        ) from missing
    except OSError as refused:
        raise io_failure(refused, path) from refused
    except ValueError as broken:
        raise KeyWrong(f"{path} does not hold a key: restore it from a backup") from broken
    if path.stat().st_mode & 0o077:
        path.chmod(0o600)
    return key
