"""Reads memories of the original iai-mcp 0.4: a LanceDB database in `<user data>/lancedb`.

Its texts are AES-256-GCM, bound to the record's id, under the 32 bytes of `.crypto.key` or a key
derived from IAI_MCP_CRYPTO_PASSPHRASE. Nothing of it is changed.
"""

import base64
import hashlib
import importlib
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from iai_mcp import paths
from iai_mcp.domain.errors import InvalidInput, IoFailed, NotFound, NotInstalled
from iai_mcp.domain.memories import TIERS

SOURCE = "iai-mcp-0.4"
DIRECTORY = "lancedb"
COMMAND = f"iai-mcp import --from {SOURCE}"

_NOTE = "original-imported"  # in the user data: they are here by now
_KEY_FILE = ".crypto.key"
_KEY_BYTES = 32
_PASSPHRASE = "IAI_MCP_CRYPTO_PASSPHRASE"  # noqa: S105 - the name of a variable
_ENCRYPTED = "iai:enc:v1:"
_NONCE_BYTES = 12
_PBKDF2_ROUNDS = 600_000
_COLUMNS = (
    *("id", "tier", "literal_surface", "provenance_json", "tags_json", "created_at"),
    *("pinned", "tombstoned_at"),
)

Row = Mapping[str, Any]
Tables = Callable[[str, Sequence[str]], Sequence[Row]]  # the rows of a table, by its name
Record = dict[str, object]


def notice(user_data: str | None = None) -> str | None:
    """One sentence about memories of the original that are here and were not imported."""
    root = user_data or paths.user_data()
    if not is_there(root) or os.path.lexists(os.path.join(root, _NOTE)):
        return None
    return (
        f"{os.path.join(root, DIRECTORY)} holds memories of the original iai-mcp 0.4, and is left "
        f"as it is. To bring them here: '{installation()}', then '{COMMAND}'"
    )


def is_there(root: str) -> bool:
    return os.path.isdir(os.path.join(root, DIRECTORY))


def installation() -> str:
    return f"{sys.executable} -m pip install lancedb"


def note_imported() -> None:
    descriptor = os.open(paths.in_user_data(_NOTE), os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    os.close(descriptor)


def tables_of(root: str) -> Tables:
    """
    Raises:
        NotFound: no store of the original is there.
        NotInstalled: the library that reads it is missing.
    """
    if not is_there(root):
        raise NotFound(
            f"there is no {DIRECTORY}/ in {root}: name the directory of the original iai-mcp, as in "
            f"'{COMMAND} ~/.iai-mcp'"
        )
    try:
        lancedb = importlib.import_module("lancedb")
    except ImportError as missing:
        raise NotInstalled(
            f"reading the store of iai-mcp 0.4 needs lancedb: run '{installation()}', then the same "
            "command again"
        ) from missing
    database = lancedb.connect(os.path.join(root, DIRECTORY))

    def rows(name: str, columns: Sequence[str]) -> Sequence[Row]:
        try:
            table = database.open_table(name)
            wanted = [column for column in columns if column in table.schema.names]
            query = table.search().select(wanted).limit(max(1, table.count_rows()))
            found: list[Row] = query.to_arrow().to_pylist()
        except (ValueError, OSError, RuntimeError) as broken:
            raise IoFailed(
                f"the table '{name}' in {os.path.join(root, DIRECTORY)} can not be read: is it a "
                "store of iai-mcp 0.4?"
            ) from broken
        return found

    return rows


class OriginalRecords:
    """The memories as `import_records` takes them, oldest first. `unreadable` counts the others."""

    def __init__(self, root: str, tables: Tables) -> None:
        self._root = root
        self._tables = tables
        self._key: bytes | None = None
        self.unreadable = 0

    def __iter__(self) -> Iterator[Record]:
        edges = self._tables("edges", ("src", "dst", "edge_type", "updated_at"))
        contradictions = [edge for edge in edges if edge["edge_type"] == "contradicts"]
        ended = {str(edge["src"]): _iso(edge["updated_at"]) for edge in contradictions}
        older: dict[str, list[str]] = {}
        for edge in contradictions:
            older.setdefault(str(edge["dst"]), []).append(str(edge["src"]))
        rows = self._tables("records", _COLUMNS)
        for row in sorted(rows, key=lambda each: _iso(each["created_at"])):
            if row.get("tombstoned_at"):
                continue
            record = self._record(row)
            if record is None:
                self.unreadable += 1
                continue
            identity = str(row["id"])
            if identity in ended:
                record["valid_to"] = ended[identity]
            if identity in older:
                record["supersedes"] = older[identity]
            yield record

    def _record(self, row: Row) -> Record | None:
        identity = str(row["id"])
        text = self._plain(identity, row.get("literal_surface"))
        if not text:
            return None
        whence = _first(self._plain(identity, row.get("provenance_json")))
        tags = _parsed(row.get("tags_json"))
        roles = [str(tag)[5:] for tag in tags if str(tag).startswith("role:")] if tags else []
        role = roles[0] if roles else str(whence.get("role") or "user")
        tier = str(row.get("tier") or "episodic")
        return {
            "id": identity,
            "text": text,
            "role": role if role in ("user", "assistant") else "user",
            "ts": _iso(row["created_at"]),
            "session_id": str(whence.get("session_id") or ""),
            "tier": tier if tier in TIERS else "episodic",
            "pinned": bool(row.get("pinned")),
        }

    def _plain(self, identity: str, value: object) -> str | None:
        """The text; None where it was encrypted under another key, or is damaged."""
        if not isinstance(value, str) or not value.startswith(_ENCRYPTED):
            return value if isinstance(value, str) else None
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        if self._key is None:
            self._key = read_key(self._root)
        try:
            sealed = base64.b64decode(value[len(_ENCRYPTED) :], validate=True)
            bound = identity.lower().encode("ascii")
            nonce, rest = sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:]
            return AESGCM(self._key).decrypt(nonce, rest, bound).decode()
        except (InvalidTag, ValueError):
            return None


def read_key(root: str) -> bytes:
    """
    Raises:
        NotFound: neither the key file nor a passphrase is there.
        InvalidInput: the key file is damaged.
    """
    path = os.path.join(root, _KEY_FILE)
    try:
        with open(path, "rb") as file:
            key = file.read(_KEY_BYTES + 1)
    except FileNotFoundError:
        passphrase = os.environ.get(_PASSPHRASE)
        if passphrase:
            salt = hashlib.sha256(b"default").digest()[:16]
            return hashlib.pbkdf2_hmac("sha256", passphrase.encode(), salt, _PBKDF2_ROUNDS)
        raise NotFound(
            f"the key of these memories is missing: there is no {path}. Put it there, or set "
            f"{_PASSPHRASE}; if the key is in a keychain, run 'iai-mcp crypto migrate-to-file' of "
            "version 0.4 first"
        ) from None
    except OSError as refused:
        raise IoFailed(f"{path} can not be read: {refused.strerror}") from refused
    if len(key) != _KEY_BYTES:
        raise InvalidInput(f"{path} is damaged: a key has {_KEY_BYTES} bytes")
    return key


def _iso(value: object) -> str:
    moment = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC).isoformat()


def _parsed(text: object) -> list[Any]:
    try:
        value = json.loads(text) if isinstance(text, str) else None
    except ValueError:
        return []
    return value if isinstance(value, list) else []


def _first(text: str | None) -> Mapping[str, Any]:
    entries = _parsed(text)
    return entries[0] if entries and isinstance(entries[0], dict) else {}
