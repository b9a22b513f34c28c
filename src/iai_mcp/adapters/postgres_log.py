"""A circle's streams in PostgreSQL: one table, keyed by circle, device and number.

Notifications only wake who waits; looking at the numbers is the truth, and all there is where an
engine has no notifications.
"""

import os
import re
import select
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.resources import files
from typing import Any, LiteralString

import psycopg
from psycopg import conninfo, errors

from iai_mcp.domain.errors import (
    AlreadyExists,
    DiskFull,
    InvalidInput,
    IoFailed,
    NotFound,
    ReadOnly,
    RemoteFailed,
    TimedOut,
)
from iai_mcp.ports.shared_log import (
    NO_OFFER,
    PORTION_BYTES,
    UNKNOWN_AT_ONCE,
    Entry,
    Oddity,
)

_CHANNEL = "iai_share"
_VERSION = 1
_LARGEST = 17 << 20  # bytes: no record has more
_CONNECT_SECONDS = 10
_STATEMENT_MS = 30_000
_ANSWER_SECONDS = 40.0  # longer than a statement may take: then the database does not even refuse
_SAFE_MODES = ("require", "verify-ca", "verify-full")
_SPEAK_POSTGRES_WITHOUT_NOTIFY = ("cockroach", "yugabyte")
_INIT = "run what `iai-mcp share init-postgres --print` prints as an administrator of the database"

_APPEND_SILENTLY: LiteralString = (
    "INSERT INTO iai_share.records (circle, device, number, sealed)"
    " VALUES (%(circle)s, %(device)s, %(number)s, %(sealed)s) RETURNING 1"
)
# One question, and so one transaction: who is told of it finds it.
_APPEND: LiteralString = (
    f"WITH added AS ({_APPEND_SILENTLY}) SELECT pg_notify(%(channel)s, %(circle)s) FROM added"
)

# Of the known devices, and of those that follow `after`. It goes from one device to the next by the
# index: no stream is read, however long it is.
_HEADS: LiteralString = (
    "WITH RECURSIVE walked (device, further) AS ("
    " SELECT (SELECT min(device) FROM iai_share.records"
    " WHERE circle = %(circle)s AND device > %(after)s), %(most)s::int"
    " UNION ALL SELECT (SELECT min(device) FROM iai_share.records"
    " WHERE circle = %(circle)s AND device > walked.device), further - 1"
    " FROM walked WHERE walked.device IS NOT NULL AND further > 0),"
    " wanted (device, is_known) AS (SELECT device, false FROM walked WHERE device IS NOT NULL"
    " UNION ALL SELECT device, true FROM unnest(%(known)s::text[]) AS known (device))"
    " SELECT device, (SELECT max(number) FROM iai_share.records"
    " WHERE circle = %(circle)s AND device = wanted.device), is_known FROM wanted"
)
# What is larger than any record is not fetched; of many large ones a portion.
_READ: LiteralString = (
    "SELECT device, number, sealed FROM (SELECT wanted.device, found.number, found.sealed,"
    " sum(length(found.sealed)) OVER (ORDER BY wanted.device, found.number"
    " ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before"
    " FROM unnest(%s::text[], %s::bigint[]) AS wanted (device, after) CROSS JOIN LATERAL"
    " (SELECT number, CASE WHEN length(sealed) <= %s THEN sealed ELSE ''::bytea END AS sealed"
    " FROM iai_share.records WHERE circle = %s"
    " AND device = wanted.device AND number > wanted.after ORDER BY number LIMIT %s) AS found"
    " ORDER BY wanted.device, found.number LIMIT %s) AS portion"
    " WHERE coalesce(before, 0) <= %s ORDER BY device, number"
)
_DEVICE = re.compile(r"[0-9a-f]{32}\Z")

_Row = tuple[Any, ...]
_Refusal = IoFailed | RemoteFailed | TimedOut


def schema_sql() -> str:
    """What makes a database a place."""
    return files("iai_mcp.adapters").joinpath("postgres_log.sql").read_text(encoding="utf-8")


class _Patient(psycopg.Connection[_Row]):
    """A connection whose other end may fall silent: nobody waits for it for ever."""

    def wait(self, gen: Any, interval: float = 0.1, timeout: float | None = None) -> Any:
        try:
            return super().wait(gen, interval, _ANSWER_SECONDS if timeout is None else timeout)
        except errors._WaitTimeout as silent:
            if timeout is not None:
                raise
            self.close()
            raise errors.QueryCanceled("no answer") from silent


class PostgresLog:
    """One circle in one database, over one connection that is made anew when it breaks."""

    def __init__(self, url: str, circle: str) -> None:
        self._arguments = _arguments(url)
        self._circle = circle
        self._link: psycopg.Connection[_Row] | None = None
        self._notified = True
        self._known: list[str] = []
        self._after = ""
        self._awake, self._waker = os.pipe()
        os.set_blocking(self._waker, False)

    def prepare(self) -> None:
        """Make the tables where they are not there yet and may be made."""
        with self._connected() as link:
            try:
                row = link.execute("SELECT max(version) FROM iai_share.version").fetchone()
            except (errors.InvalidSchemaName, errors.UndefinedTable):
                self._make(link)
                return
        version = row[0] if row is not None and row[0] is not None else 0
        if version > _VERSION:
            raise RemoteFailed("the database was prepared by a newer version: upgrade iai-mcp here")

    def heads(self, known: Collection[str] = ()) -> dict[str, int]:
        self._known = sorted(known) if known else self._known
        # Whoever can write there can make up any number of devices: some more of them are seen each time.
        most = len(self._known) + UNKNOWN_AT_ONCE
        names = {"circle": self._circle, "known": self._known, "after": self._after, "most": most}
        with self._connected() as link:
            rows = link.execute(_HEADS, names).fetchall()
        walked = [str(row[0]) for row in rows if not row[2]]
        self._after = walked[-1] if len(walked) > most else ""
        return {
            str(device): int(number)
            for device, number, _ in rows
            if number is not None and _DEVICE.match(str(device))
        }

    def append(self, device: str, number: int, sealed: bytes) -> None:
        with self._connected() as link:
            try:
                done = link.execute(
                    _APPEND if self._notified else _APPEND_SILENTLY,
                    {
                        "circle": self._circle,
                        "device": device,
                        "number": number,
                        "sealed": sealed,
                        "channel": _CHANNEL,
                    },
                ).fetchall()
            except errors.UniqueViolation as taken:
                raise AlreadyExists(f"record {number} is in the place already") from taken
            if not done:
                raise AlreadyExists(f"record {number} of this device is in the place already")

    def numbers(self, device: str) -> list[int]:
        query = "SELECT number FROM iai_share.records WHERE circle = %s AND device = %s ORDER BY 1"
        return [int(row[0]) for row in self._rows(query, self._circle, device)]

    def read(self, device: str, after: int, limit: int) -> list[Entry]:
        return self.read_all({device: after}, limit).get(device, [])

    def read_all(
        self, after: Mapping[str, int], limit: int, *, each: int | None = None
    ) -> dict[str, list[Entry]]:
        rows = self._rows(
            _READ,
            list(after),
            list(after.values()),
            _LARGEST,
            self._circle,
            each or limit,
            limit,
            PORTION_BYTES,
        )
        found: dict[str, list[Entry]] = {}
        for device, number, sealed in rows:
            found.setdefault(str(device), []).append(Entry(int(number), bytes(sealed)))
        return found

    def replace(self, device: str, first: int, last: int, sealed: bytes) -> None:
        with self._connected() as link, link.transaction():
            link.execute(
                "INSERT INTO iai_share.records (circle, device, number, sealed)"
                " VALUES (%s, %s, %s, %s) ON CONFLICT (circle, device, number)"
                " DO UPDATE SET sealed = excluded.sealed",
                (self._circle, device, last, sealed),
            )
            link.execute(
                "DELETE FROM iai_share.records"
                " WHERE circle = %s AND device = %s AND number >= %s AND number < %s",
                (self._circle, device, first, last),
            )
            self._tell(link)

    def offer(self, name: str, sealed: bytes) -> None:
        with self._connected() as link:
            link.execute(
                "INSERT INTO iai_share.offers VALUES (%s, %s, %s)"
                " ON CONFLICT (circle, name) DO UPDATE SET sealed = excluded.sealed",
                (self._circle, name, sealed),
            )

    def take(self, name: str) -> bytes:
        query = "DELETE FROM iai_share.offers WHERE circle = %s AND name = %s RETURNING sealed"
        for row in self._rows(query, self._circle, name):
            return bytes(row[0])
        raise NotFound(NO_OFFER)

    def offered(self, name: str) -> bytes | None:
        query = "SELECT sealed FROM iai_share.offers WHERE circle = %s AND name = %s"
        rows = self._rows(query, self._circle, name)
        return bytes(rows[0][0]) if rows else None

    def withdraw(self, name: str) -> None:
        self._rows(
            "DELETE FROM iai_share.offers WHERE circle = %s AND name = %s RETURNING 1",
            self._circle,
            name,
        )

    def oddities(self) -> list[Oddity]:
        return []  # the table's key admits nothing but records

    def wait(self, seconds: float) -> bool:
        """The connection is only looked at: nobody's turn at it is taken meanwhile."""
        until = time.monotonic() + seconds
        while True:
            with self._connected() as link:
                # Some may have come with the answers to other questions.
                notes = [
                    note.payload for note in link.notifies(timeout=0)
                ]  # all: one look is enough
                if self._circle in notes:
                    return True
                left = max(0.0, until - time.monotonic())
                ready, _, _ = select.select([link.fileno(), self._awake], [], [], left)
                if self._awake in ready:
                    os.read(self._awake, 4096)
                    return False
                if not ready:
                    return False

    def wake(self) -> None:
        with suppress(BlockingIOError, OSError):  # full: it is awake already; closed: nobody waits
            os.write(self._waker, b"!")

    def close(self) -> None:
        self._disconnect()
        for end in (self._awake, self._waker):
            with suppress(OSError):
                os.close(end)

    def _disconnect(self) -> None:
        if self._link is not None:
            self._link.close()
            self._link = None

    def _make(self, link: psycopg.Connection[_Row]) -> None:
        try:
            with link.transaction():
                link.execute(schema_sql().encode())
        except errors.InsufficientPrivilege as refused:
            raise ReadOnly(f"this role may not prepare the database: {_INIT}") from refused

    def _tell(self, link: psycopg.Connection[_Row]) -> None:
        if self._notified:
            link.execute("SELECT pg_notify(%s, %s)", (_CHANNEL, self._circle))

    def _rows(self, query: LiteralString, *values: object) -> list[_Row]:
        with self._connected() as link:
            return link.execute(query, values).fetchall()

    @contextmanager
    def _connected(self) -> Iterator[psycopg.Connection[_Row]]:
        """The connection; what the database says against it, as a sentence.

        No sentence repeats what the database or the library said: that may hold a password.
        """
        try:
            yield self._connection()
        except psycopg.Error as refused:
            if self._link is not None and self._link.broken:
                self._disconnect()
            raise _sentence(refused) from refused

    def _connection(self) -> psycopg.Connection[_Row]:
        if self._link is not None and not self._link.closed:
            return self._link
        link = _Patient.connect(**self._arguments, autocommit=True)
        row = link.execute("SELECT version()").fetchone()
        said = "" if row is None else str(row[0]).lower()
        self._notified = not any(name in said for name in _SPEAK_POSTGRES_WITHOUT_NOTIFY)
        if self._notified:
            link.execute(f"LISTEN {_CHANNEL}".encode())
        self._link = link
        return link


def _arguments(url: str) -> dict[str, Any]:
    """How to connect: bounded in time, and encrypted unless it stays on this machine."""
    try:
        given = conninfo.conninfo_to_dict(url)
    except psycopg.ProgrammingError as broken:
        raise InvalidInput(
            "the address of the database can not be read: write it as"
            " postgresql://user@host/database"
        ) from broken
    host = str(given.get("host") or "")
    here = host.startswith("/") or host in ("", "localhost", "127.0.0.1", "::1")
    if not here and given.get("sslmode") not in _SAFE_MODES:
        given["sslmode"] = "require"
    given.setdefault("connect_timeout", _CONNECT_SECONDS)
    given.setdefault("application_name", "iai-mcp")
    given.setdefault("tcp_user_timeout", 1000 * _CONNECT_SECONDS)  # a network that was cut
    given["options"] = f"{given.get('options') or ''} -c statement_timeout={_STATEMENT_MS}".strip()
    return dict(given)


def _sentence(refused: psycopg.Error) -> _Refusal:
    for kind, made in _SENTENCES:
        if isinstance(refused, kind):
            return made()
    return RemoteFailed("the database refused; its own log says why")


_SENTENCES: tuple[tuple[type[psycopg.Error], Callable[[], _Refusal]], ...] = (
    (errors.DiskFull, lambda: DiskFull("the database's disk is full")),
    (errors.QueryCanceled, lambda: TimedOut("the database takes too long to answer")),
    (errors.ReadOnlySqlTransaction, lambda: ReadOnly("the database is read-only at the moment")),
    (
        errors.InsufficientPrivilege,
        lambda: ReadOnly(f"this role may not use the place: {_INIT}"),
    ),
    (errors.InvalidSchemaName, lambda: RemoteFailed(f"the database is not prepared: {_INIT}")),
    (errors.UndefinedTable, lambda: RemoteFailed(f"the database is not prepared: {_INIT}")),
    (
        errors.InvalidPassword,
        lambda: RemoteFailed("the database does not accept the role and password"),
    ),
    (
        errors.ConnectionTimeout,
        lambda: TimedOut("the database does not answer"),
    ),
    (
        psycopg.OperationalError,
        lambda: RemoteFailed("the database can not be reached, or ended the connection"),
    ),
)
