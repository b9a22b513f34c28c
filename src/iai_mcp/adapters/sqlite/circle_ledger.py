"""`SharingLedger` in the encrypted file."""

import time
from collections.abc import Callable, Mapping, Sequence

import apsw

from iai_mcp.adapters.sqlite import forgetting
from iai_mcp.adapters.sqlite.database import Database, fetched, scalar
from iai_mcp.adapters.sqlite.incoming import Merged, Merging, Ready, prepared
from iai_mcp.adapters.sqlite.saying import Own, said_of
from iai_mcp.adapters.sqlite.shared_tables import Membership, is_forgotten
from iai_mcp.domain import pieces
from iai_mcp.domain.errors import InvalidInput
from iai_mcp.domain.event_chain import SALT_BYTES, Link
from iai_mcp.domain.shared_events import (
    DIGEST_BYTES,
    LONGEST_TEXT,
    MEMBERSHIP,
    EpochKey,
    Event,
    ProjectNamed,
    Said,
    Seen,
    decoded,
    encoded,
)
from iai_mcp.ports.sharing_ledger import (
    ALONE,
    Asked,
    Batch,
    Heard,
    Item,
    Laid,
    Recovered,
    SetAside,
    Witness,
    goes_with,
)

_BRINGS_A_KEY = f'{{"type":"{EpochKey.type}"%'  # as `encoded` begins
_BESIDE_THE_TEXT = 2500  # bytes of a turn: its names, and the vectors of one that is not long
# Others write in between: as long as this and one merging take, they may have to wait.
_WRITING_SECONDS = 0.05
_MERGED_AT_ONCE = 128
_PREPARED_AT_ONCE = 1024
_AT_ONCE = 5000
_ROWS = "SELECT position, identity, event, leaf FROM outbox WHERE circle = ? AND"


class SqliteSharingLedger:
    """One circle.

    Args:
        tell: a memory as it may leave; None if it may not.
        project_here: the key of the project here that another device speaks of; "" for none.
        changed: told what came and went, after it is durable.
    """

    def __init__(
        self,
        database: Database,
        circle: Membership,
        *,
        tell: Callable[[Own], Said | None] = lambda own: own.said,
        project_here: Callable[[ProjectNamed], str] = lambda _: "",
        changed: Callable[[Merged], None] = lambda _: None,
    ) -> None:
        self._db = database
        self._circle = circle
        self._tell = tell
        self._project_here = project_here
        self._changed = changed
        # How often records were outdated when they were read to be sealed.
        self._sealing: dict[tuple[int, int], int] = {}

    # Sending

    def assigned(self) -> Batch | None:
        circle = self._circle.id
        with self._db.reading() as db:
            number = _last_sent(db, circle) + 1
            rows = db.execute(f"{_ROWS} number = ? ORDER BY position", (circle, number)).fetchall()
            batch = Batch(number, self._items(db, rows), _digest_before(db, circle, number))
        return batch if batch.events else None

    def assign(self, limit_bytes: int) -> Batch | None:
        taken, dropped = self._waiting(limit_bytes)
        if not taken and not dropped:
            return None
        circle = self._circle.id
        with self._db.writing() as db:
            number = _last_sent(db, circle) + 1
            db.executemany("DELETE FROM outbox WHERE position = ?", [(one,) for one in dropped])
            db.executemany(
                "UPDATE outbox SET number = ? WHERE position = ?", [(number, at) for at in taken]
            )
            # What was forgotten since it was read is not there any more.
            sql = "SELECT position FROM outbox WHERE circle = ? AND number = ?"
            left = {row[0] for row in fetched(db, sql, (circle, number))}
            previous = _digest_before(db, circle, number)
        items = tuple(Item(at, event) for at, event in taken.items() if at in left)
        # Where all of it had nothing left to say, something else may wait behind it.
        return Batch(number, items, previous) if items else self.assign(limit_bytes)

    def _waiting(self, limit_bytes: int) -> tuple[dict[int, Event], list[int]]:
        """The next events by their positions, and the positions of what has nothing left to say.

        Redacting takes a while, so nobody waits for the writer meanwhile.
        """
        taken: dict[int, Event] = {}
        dropped: list[int] = []
        size = 0
        with self._db.reading() as db:
            sql = f"{_ROWS} number IS NULL ORDER BY position LIMIT ?"
            for row in fetched(db, sql, (self._circle.id, _AT_ONCE)):
                event = self._event(db, row)
                if event is None:
                    dropped.append(row[0])
                    continue
                if size >= limit_bytes or not goes_with(event, taken.values()):
                    break
                taken[row[0]] = event
                size += _size(event)
        return taken, dropped

    def sent(self, laid: Laid) -> None:
        with self._db.writing() as db:
            self._keep_links(db, laid)
            self._keep_record(db, laid)

    def recovered(self, record: Recovered) -> None:
        circle, number = self._circle.id, record.number
        covered = iter(record.events)
        rows: list[tuple[bytes | None, str | None, bytes | None]] = [
            (*_kept(next(covered)), link.salt + link.leaf) if link.salt else (None, None, link.leaf)
            for link in record.links
        ]
        rows += [(*_kept(event), None) for event in covered]
        with self._db.writing() as db:
            db.execute(
                "UPDATE outbox SET number = NULL WHERE circle = ? AND number > ?",
                (circle, _last_sent(db, circle)),
            )
            merged = self._merge(db, self._circle.device, record.events)
            db.executemany(
                "INSERT INTO outbox (circle, number, identity, event, leaf) VALUES (?, ?, ?, ?, ?)",
                [(circle, number, *row) for row in rows],
            )
            self._keep_record(db, Laid(record.first, number, record.digest))
        self._changed(merged)

    def last_sent(self) -> int:
        with self._db.reading() as db:
            return _last_sent(db, self._circle.id)

    def own_records(self) -> list[tuple[int, int]]:
        return self._records("1")

    def sizes(self) -> list[tuple[int, int, int]]:
        sql = (
            "SELECT r.first, r.last, CASE WHEN max(o.event LIKE ?) THEN ? "
            "ELSE coalesce(sum(coalesce(length(m.text), length(o.event)) + ?), 0) END "
            "FROM circle_records AS r LEFT JOIN outbox AS o ON o.circle = r.circle "
            "AND o.number BETWEEN r.first AND r.last LEFT JOIN memories AS m ON m.everywhere = o.identity "
            "WHERE r.circle = ? GROUP BY r.last ORDER BY r.last"
        )
        with self._db.reading() as db:
            rows = db.execute(sql, (_BRINGS_A_KEY, ALONE, _BESIDE_THE_TEXT, self._circle.id))
            return [(int(first), int(last), int(size)) for first, last, size in rows]

    def went_out(self, first: int, last: int) -> Batch:
        circle = self._circle.id
        with self._db.reading() as db:
            rows = db.execute(
                f"{_ROWS} number BETWEEN ? AND ? ORDER BY number, position", (circle, first, last)
            ).fetchall()
            self._sealing[first, last] = _outdated(db, circle, first, last)
            previous, digest = _digest_before(db, circle, first), _digest_at(db, circle, last)
            return Batch(last, self._items(db, rows), previous, digest)

    def to_seal_anew(self) -> list[tuple[int, int]]:
        return self._records("outdated")

    def sealed_anew(self, laid: Laid) -> None:
        circle, first, last = self._circle.id, laid.first, laid.number
        with self._db.writing() as db:
            self._keep_links(db, laid)
            # What was forgotten while it was sealed is in it still.
            since = _outdated(db, circle, first, last) - self._sealing.pop((first, last), 0)
            db.execute(
                "DELETE FROM circle_records WHERE circle = ? AND last BETWEEN ? AND ?",
                (circle, first, last),
            )
            db.execute(
                "INSERT INTO circle_records VALUES (?, ?, ?, ?, ?)",
                (circle, last, first, since, laid.digest or None),
            )

    def say(self, events: Sequence[Event]) -> None:
        with self._db.writing() as db:
            merged = self._merge(db, self._circle.device, events)
            db.executemany(
                "INSERT INTO outbox (circle, identity, event) VALUES (?, ?, ?)",
                [(self._circle.id, *_kept(event)) for event in events],
            )
        self._changed(merged)

    def withhold(self) -> None:
        with self._db.writing() as db:
            circle = self._circle.id
            sql = "DELETE FROM outbox WHERE circle = ? AND (number IS NULL OR number > ?)"
            db.execute(sql, (circle, _last_sent(db, circle)))

    # Hearing

    def cursor(self, device: str) -> int:
        return self.cursors().get(device, 0)

    def cursors(self) -> dict[str, int]:
        sql = "SELECT device, number FROM circle_cursors WHERE circle = ?"
        with self._db.reading() as db:
            return {
                str(device): int(number) for device, number in db.execute(sql, (self._circle.id,))
            }

    def digest(self, device: str, number: int) -> bytes:
        circle = self._circle.id
        with self._db.reading() as db:
            if device == self._circle.device:
                return _digest_at(db, circle, number)
            sql = "SELECT digest FROM circle_chains WHERE circle = ? AND device = ? AND number = ?"
            return _blob(fetched(db, sql, (circle, device, number)))

    def hear(self, device: str, records: Sequence[Heard]) -> None:
        events = [event for record in records for event in record.events]
        while len(events) > _PREPARED_AT_ONCE:
            part, events = events[:_PREPARED_AT_ONCE], events[_PREPARED_AT_ONCE:]
            self._hear_part(device, part, ())
        self._hear_part(device, events, records)

    def _hear_part(self, device: str, events: Sequence[Event], done: Sequence[Heard]) -> None:
        """Merge events; with the last of them the records are `done`.

        Their words are read before anybody has to wait for the writer, and others write in between:
        what is cut off in the middle is heard again, and recognised. So is what power loss takes back.
        """
        ready = prepared(events, self._salt())
        while True:
            with self._db.writing(repeatable=True) as db:
                until = time.monotonic() + _WRITING_SECONDS
                merging = Merging(db, self._circle, device, self._project_here)
                while ready and time.monotonic() < until:
                    self._merge_ready(merging, ready[:_MERGED_AT_ONCE])
                    ready = ready[_MERGED_AT_ONCE:]
                if not ready:
                    self._done(db, device, done)
            self._changed(merging.merged)
            if not ready:
                return
            pieces.breathe()

    def _done(self, db: apsw.Connection, device: str, records: Sequence[Heard]) -> None:
        whose = (self._circle.id, device)
        db.executemany(
            "DELETE FROM circle_aside WHERE circle = ? AND device = ? AND number BETWEEN ? AND ?",
            [(*whose, one.first, one.number) for one in records],
        )
        db.executemany(
            "INSERT OR REPLACE INTO circle_aside VALUES (?, ?, ?, ?, 1)",
            [(*whose, one.number, one.why) for one in records if one.why],
        )
        db.executemany(
            "INSERT OR REPLACE INTO circle_chains VALUES (?, ?, ?, ?)",
            [(*whose, one.number, one.digest) for one in records if one.digest],
        )
        if records:
            db.execute(
                "INSERT INTO circle_cursors VALUES (?, ?, ?) ON CONFLICT DO UPDATE "
                "SET number = max(number, excluded.number)",
                (*whose, max(one.number for one in records)),
            )

    def heard(self) -> list[tuple[str, Sequence[Event]]]:
        with self._db.reading() as db:
            sql = "SELECT device, event FROM circle_heard WHERE circle = ? ORDER BY position"
            rows = db.execute(sql, (self._circle.id,)).fetchall()
        # What an older version took and this one does not is left out.
        found = [(str(device), _decoded(str(event))) for device, event in rows]
        return [(device, events) for device, events in found if events]

    def set_aside(self) -> list[SetAside]:
        sql = "SELECT device, number, why, passed FROM circle_aside WHERE circle = ? ORDER BY 1, 2"
        with self._db.reading() as db:
            rows = fetched(db, sql, (self._circle.id,))
        return [SetAside(row[0], row[1], row[2], bool(row[3])) for row in rows]

    def blocked(self, records: Sequence[SetAside]) -> None:
        wanted = {one for one in records if not one.passed}
        if {one for one in self.set_aside() if not one.passed} == wanted:
            return
        with self._db.writing() as db:
            circle = self._circle.id
            db.execute("DELETE FROM circle_aside WHERE circle = ? AND NOT passed", (circle,))
            db.executemany(
                "INSERT OR REPLACE INTO circle_aside VALUES (?, ?, ?, ?, 0)",
                [(circle, one.device, one.number, one.why) for one in wanted],
            )

    def witnesses(self) -> list[Witness]:
        sql = (
            "SELECT witness, device, number, digest FROM circle_seen WHERE circle = ? ORDER BY 1, 2"
        )
        with self._db.reading() as db:
            rows = fetched(db, sql, (self._circle.id,))
        return [Witness(row[0], row[1], row[2], bytes(row[3])) for row in rows]

    def epoch_keys(self) -> Mapping[str, bytes]:
        with self._db.reading() as db:
            sql = "SELECT epoch, key FROM circle_keys WHERE circle = ?"
            return {str(epoch): bytes(key) for epoch, key in db.execute(sql, (self._circle.id,))}

    def keep_epoch_keys(self, keys: Mapping[str, bytes]) -> None:
        with self._db.writing() as db:
            db.executemany(
                "INSERT OR IGNORE INTO circle_keys VALUES (?, ?, ?)",
                [(self._circle.id, epoch, key) for epoch, key in keys.items()],
            )

    def asked(self) -> Asked | None:
        sql = "SELECT invite, signing, sealing FROM circle_asked WHERE circle = ?"
        with self._db.reading() as db:
            row = db.execute(sql, (self._circle.id,)).fetchone()
        return None if row is None else Asked(str(row[0]), bytes(row[1]), bytes(row[2]))

    def ask(self, asked: Asked | None) -> None:
        circle = self._circle.id
        with self._db.writing() as db:
            db.execute("DELETE FROM circle_asked WHERE circle = ?", (circle,))
            if asked is not None:
                row = (circle, asked.invite, asked.signing_key, asked.sealing_key)
                db.execute("INSERT INTO circle_asked VALUES (?, ?, ?, ?)", row)

    # Both

    def _merge(self, db: apsw.Connection, device: str, events: Sequence[Event]) -> Merged:
        merging = Merging(db, self._circle, device, self._project_here)
        return self._merge_ready(merging, prepared(events, self._salt()))

    def _merge_ready(self, merging: Merging, ready: Sequence[Event | Ready]) -> Merged:
        db, forgot = merging.db, len(merging.merged.forgot)
        merged = merging(ready)
        db.executemany(
            "INSERT OR IGNORE INTO circle_heard (circle, device, event) VALUES (?, ?, ?)",
            [
                (self._circle.id, merging.device, encoded([event]).decode())
                for event in ready
                if isinstance(event, MEMBERSHIP)
            ],
        )
        for event in ready:
            if isinstance(event, Seen):
                self._keep_seen(db, merging.device, event)
        if len(merged.forgot) > forgot:
            db.executemany(
                "INSERT OR IGNORE INTO unreached VALUES (?)", [(one,) for one in merged.forgot]
            )
            forgetting.purge(db)
        return merged

    def _salt(self) -> bytes:
        with self._db.reading() as db:
            salt = scalar(db, "SELECT value FROM meta WHERE name = 'salt'")
        assert isinstance(salt, bytes)  # noqa: S101 - written as such with the schema
        return salt

    def _keep_seen(self, db: apsw.Connection, witness: str, seen: Seen) -> None:
        db.executemany(
            "INSERT INTO circle_seen VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE "
            "SET number = excluded.number, digest = excluded.digest "
            "WHERE excluded.number >= number",
            [
                (self._circle.id, witness, device, int.from_bytes(head[:8], "big"), head[8:])
                for device, head in seen.heads.items()
            ],
        )

    def _keep_links(self, db: apsw.Connection, laid: Laid) -> None:
        db.executemany(
            "UPDATE outbox SET leaf = ? WHERE position = ?",
            [(link.salt + link.leaf, key) for key, link in laid.links.items()],
        )

    def _keep_record(self, db: apsw.Connection, laid: Laid) -> None:
        """A record is in the place. What was forgotten before that was known may be in it; one that
        is not chained yet is to be.
        """
        circle = self._circle.id
        sql = (
            "SELECT identity FROM outbox WHERE circle = ? AND number BETWEEN ? AND ? "
            "AND identity IS NOT NULL"
        )
        identities = [row[0] for row in fetched(db, sql, (circle, laid.first, laid.number))]
        outdated = not laid.digest or any(is_forgotten(db, one) for one in identities)
        db.execute(
            "INSERT OR REPLACE INTO circle_records (circle, last, first, outdated, digest) "
            "VALUES (?, ?, ?, ?, ?)",
            (circle, laid.number, laid.first, int(outdated), laid.digest or None),
        )

    def _items(self, db: apsw.Connection, rows: Sequence[Sequence[object]]) -> tuple[Item, ...]:
        found = []
        for row in rows:
            leaf = row[3] if isinstance(row[3], bytes) else b""
            cut = SALT_BYTES if len(leaf) > DIGEST_BYTES else 0
            link = Link(leaf[:cut], leaf[cut:]) if leaf else None
            found.append(Item(int(str(row[0])), self._event(db, row), link))
        return tuple(found)

    def _event(self, db: apsw.Connection, row: Sequence[object]) -> Event | None:
        """What a row of the outbox says today; None where nothing is left of it to say."""
        _, identity, event, _ = row
        if not isinstance(identity, bytes):
            return next(iter(_decoded(str(event))), None) if event else None
        own = said_of(db, self._circle.id, identity)
        told = None if own is None else self._tell(own)
        if told is not None and len(told.text) > LONGEST_TEXT // 4:
            return (
                told if len(told.text.encode()) <= LONGEST_TEXT else None
            )  # others take no longer
        return told

    def _records(self, condition: str) -> list[tuple[int, int]]:
        sql = (
            f"SELECT first, last FROM circle_records WHERE circle = ? AND {condition} ORDER BY last"
        )
        with self._db.reading() as db:
            return [(int(first), int(last)) for first, last in db.execute(sql, (self._circle.id,))]


def _last_sent(db: apsw.Connection, circle: str) -> int:
    found = scalar(
        db, "SELECT coalesce(max(last), 0) FROM circle_records WHERE circle = ?", (circle,)
    )
    assert isinstance(found, int)  # noqa: S101 - a number or the 0 above
    return found


def _digest_at(db: apsw.Connection, circle: str, number: int) -> bytes:
    """Of one's own stream after that record."""
    sql = "SELECT digest FROM circle_records WHERE circle = ? AND last = ?"
    return _blob(fetched(db, sql, (circle, number)))


def _digest_before(db: apsw.Connection, circle: str, number: int) -> bytes:
    sql = (
        "SELECT digest FROM circle_records WHERE circle = ? AND last < ? ORDER BY last DESC LIMIT 1"
    )
    return _blob(fetched(db, sql, (circle, number)))


def _blob(rows: Sequence[Sequence[object]]) -> bytes:
    """The one value of the first row; b"" where there is none."""
    value = rows[0][0] if rows else None
    return value if isinstance(value, bytes) else b""


def _decoded(event: str) -> list[Event]:
    """A stored event; none where an older version took what can not be."""
    try:
        return decoded(event.encode("utf-8", "replace"))
    except InvalidInput:
        return []


def _outdated(db: apsw.Connection, circle: str, first: int, last: int) -> int:
    """How often something was forgotten that these records hold."""
    sql = (
        "SELECT coalesce(sum(outdated), 0) FROM circle_records "
        "WHERE circle = ? AND last BETWEEN ? AND ?"
    )
    found = scalar(db, sql, (circle, first, last))
    assert isinstance(found, int)  # noqa: S101 - a sum of numbers
    return found


def _size(event: Event) -> int:
    """About as many bytes as it has in a record."""
    if isinstance(event, Said):
        return len(event.text) + 4 * (len(event.vector) + len(event.parts)) // 3 + 300
    return len(encoded([event]))


def _kept(event: Event) -> tuple[bytes | None, str | None]:
    """How the outbox keeps an event: a turn is in the store already."""
    if isinstance(event, Said):
        return event.identity, None
    return None, encoded([event]).decode()
