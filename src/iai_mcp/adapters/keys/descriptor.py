"""`key.json`: says where the key comes from and proves a key right, without holding it."""

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from iai_mcp.adapters.private_files import io_failure, write_private_json
from iai_mcp.domain.errors import KeyMissing, StoreTooNew

FILE_NAME = "key.json"
_VERSION = 1

Source = Literal["passphrase", "keyring", "file"]


@dataclass(frozen=True, slots=True)
class Argon2id:
    """How a passphrase becomes a key. The defaults are those of files that do not name them.

    64 MB and two passes take about 100 ms, which no person notices at start-up and which makes
    guessing passphrases dear.
    """

    memory_kib: int = 64 * 1024
    passes: int = 2
    lanes: int = 1

    def __post_init__(self) -> None:
        # The file, or a backup, may be damaged: it must not take all memory or never end.
        for value, most in ((self.memory_kib, 4 << 20), (self.passes, 100), (self.lanes, 64)):
            if type(value) is not int or not 1 <= value <= most:
                raise ValueError("a parameter of Argon2id is out of bounds")


@dataclass(frozen=True, slots=True)
class KeyDescriptor:
    """Where one key comes from. `check` tells a right key from a wrong one before the store does."""

    source: Source
    check: str
    salt: str = ""  # for the passphrase's derivation
    account: str = ""  # the keyring entry, or the key file's name
    argon2id: Argon2id = Argon2id()

    def fits(self, key: bytes) -> bool:
        return hmac.compare_digest(self.check, check_of(key))


@dataclass(frozen=True, slots=True)
class KeyRecord:
    """The key in use and, while a rotation is under way, the one that follows.

    `unused` as long as no store was made under it: then a store that is not there was not lost.
    """

    current: KeyDescriptor
    following: KeyDescriptor | None = None
    unused: bool = False


def check_of(key: bytes) -> str:
    """A digest that reveals nothing about the key and differs for every other key."""
    return hmac.new(key, b"iai-mcp key check", hashlib.sha256).hexdigest()[:32]


def load(directory: Path, name: str = FILE_NAME) -> KeyRecord | None:
    """The record, or None where there is none yet. `name` is another one for a store set aside.

    Raises:
        KeyMissing: the file is there and can not be understood.
    """
    path = directory / name
    try:
        raw = json.loads(path.read_text("utf-8"))
        if raw["version"] > _VERSION:
            raise StoreTooNew(
                f"{path} was written by a newer iai-mcp: upgrade this one; nothing was changed"
            )
        following = raw.get("following")
        return KeyRecord(
            from_json(raw["current"]),
            from_json(following) if following else None,
            unused=raw.get("unused") is True,
        )
    except FileNotFoundError:
        return None
    except OSError as refused:
        raise io_failure(refused, path) from refused
    except (ValueError, KeyError, TypeError) as broken:
        raise KeyMissing(
            f"{path} is damaged, and without it the store's key can not be found: "
            "restore it from a backup; nothing was changed"
        ) from broken


def save(directory: Path, record: KeyRecord) -> None:
    value: dict[str, object] = {"version": _VERSION, "current": to_json(record.current)}
    if record.following:
        value["following"] = to_json(record.following)
    if record.unused:
        value["unused"] = True
    write_private_json(directory / FILE_NAME, value)


def to_json(descriptor: KeyDescriptor) -> dict[str, object]:
    value: dict[str, object] = {
        "source": descriptor.source,
        "check": descriptor.check,
        "salt": descriptor.salt,
        "account": descriptor.account,
    }
    if descriptor.source == "passphrase":
        value["argon2id"] = asdict(descriptor.argon2id)
    return value


def from_json(raw: Mapping[str, Any]) -> KeyDescriptor:
    source: Source
    match raw["source"]:
        case "passphrase" | "keyring" | "file" as known:
            source = known
        case unknown:
            raise ValueError(unknown)
    return KeyDescriptor(
        source,
        raw["check"],
        raw.get("salt", ""),
        raw.get("account", ""),
        Argon2id(**raw.get("argon2id", {})),
    )
