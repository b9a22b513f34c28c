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
from iai_mcp.domain.shared_events import (
    Admitted,
    EpochKey,
    Event,
    Hello,
    Invited,
    ProjectNamed,
    Removed,
    Said,
    decoded,
    encoded,
)
from iai_mcp.ports.sharing_ledger import ALONE, Batch, Heard, SetAside

_BRINGS_A_KEY = f'{{"type":"{EpochKey.type}"%'  # as `encoded` begins
_BESIDE_THE_TEXT = 2500  # bytes of a turn: its names, and the vectors of one that is not long
_ABOUT_MEMBERS = (Hello, Invited, Admitted, Removed, EpochKey)
# Others write in between: as long as this and one merging take, they may have to wait.
_WRITING_SECONDS = 0.05
_MERGED_AT_ONCE = 128
_PREPARED_AT_ONCE = 1024
_AT_ONCE = 5000
_ROWS = "SELECT position, identity, event FROM outbox WHERE circle = ? AND"


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
        with self._db.reading() as db:
            number = _last_sent(db, self._circle.id) + 1
            rows = db.execute(f"{_ROWS} number = ? ORDER BY position", (self._circle.id, number))
            events = [one for row in rows.fetchall() if (one := self._event(db, row)) is not None]
        return Batch(number, tuple(events)) if events else None

    def assign(self, limit_bytes: int) -> Batch | None:
        taken, dropped = self._waiting(limit_bytes)
        if not taken and not dropped:
            return None
        with self._db.writing() as db:
            number = _last_sent(db, self._circle.id) + 1
            db.executemany("DELETE FROM outbox WHERE position = ?", [(one,) for one in dropped])
            db.executemany(
                "UPDATE outbox SET number = ? WHERE position = ?", [(number, at) for at in taken]
            )
            # What was forgotten since it was read is not there any more.
            sql = "SELECT position FROM outbox WHERE circle = ? AND number = ?"
            left = {row[0] for row in fetched(db, sql, (self._circle.id, number))}
        events = tuple(event for at, event in taken.items() if at in left)
        # Where all of it had nothing left to say, something else may wait behind it.
        return Batch(number, events) if events else self.assign(limit_bytes)

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
                alone = isinstance(event, EpochKey)
                if size >= limit_bytes or (alone and taken):
                    break
                taken[row[0]] = event
                size += _size(event)
                if alone:
                    break
        return taken, dropped

    def sent(self, number: int) -> None:
        with self._db.writing() as db:
            self._keep_record(db, number, number)

    def recovered(self, first: int, number: int, events: Sequence[Event]) -> None:
        circle = self._circle.id
        with self._db.writing() as db:
            db.execute(
                "UPDATE outbox SET number = NULL WHERE circle = ? AND number > ?",
                (circle, _last_sent(db, circle)),
            )
            merged = self._merge(db, self._circle.device, events)
            db.executemany(
                "INSERT INTO outbox (circle, number, identity, event) VALUES (?, ?, ?, ?)",
                [(circle, number, *_kept(event)) for event in events],
            )
            self._keep_record(db, first, number)
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
        with self._db.reading() as db:
            rows = db.execute(
                f"{_ROWS} number BETWEEN ? AND ? ORDER BY number, position",
                (self._circle.id, first, last),
            )
            self._sealing[first, last] = _outdated(db, self._circle.id, first, last)
            events = [one for row in rows.fetchall() if (one := self._event(db, row)) is not None]
        return Batch(last, tuple(events))

    def to_seal_anew(self) -> list[tuple[int, int]]:
        return self._records("outdated")

    def sealed_anew(self, first: int, last: int) -> None:
        circle = self._circle.id
        with self._db.writing() as db:
            # What was forgotten while it was sealed is in it still.
            since = _outdated(db, circle, first, last) - self._sealing.pop((first, last), 0)
            db.execute(
                "DELETE FROM circle_records WHERE circle = ? AND last BETWEEN ? AND ?",
                (circle, first, last),
            )
            db.execute(
                "INSERT INTO circle_records VALUES (?, ?, ?, ?)", (circle, last, first, since)
            )

    def say(self, events: Sequence[Event]) -> None:
        with self._db.writing() as db:
            merged = self._merge(db, self._circle.device, events)
            db.executemany(
                "INSERT INTO outbox (circle, identity, event) VALUES (?, ?, ?)",
                [(self._circle.id, *_kept(event)) for event in events],
            )
        self._changed(merged)

    # Hearing

    def cursor(self, device: str) -> int:
        return self.cursors().get(device, 0)

    def cursors(self) -> dict[str, int]:
        sql = "SELECT device, number FROM circle_cursors WHERE circle = ?"
        with self._db.reading() as db:
            return {
                str(device): int(number) for device, number in db.execute(sql, (self._circle.id,))
            }

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
        circle = self._circle.id
        db.executemany(
            "DELETE FROM circle_aside WHERE circle = ? AND device = ? AND number BETWEEN ? AND ?",
            [(circle, device, one.first, one.number) for one in records],
        )
        if records:
            self._move_cursor(db, device, max(one.number for one in records))

    def heard(self) -> list[tuple[str, Sequence[Event]]]:
        with self._db.reading() as db:
            sql = "SELECT device, event FROM circle_heard WHERE circle = ? ORDER BY position"
            rows = db.execute(sql, (self._circle.id,)).fetchall()
        return [(str(device), decoded(str(event).encode())) for device, event in rows]

    def set_aside(self) -> list[SetAside]:
        sql = "SELECT device, number, why FROM circle_aside WHERE circle = ? ORDER BY 1, 2"
        with self._db.reading() as db:
            return [SetAside(*row) for row in db.execute(sql, (self._circle.id,))]

    def put_aside(self, one: SetAside) -> None:
        with self._db.writing() as db:
            db.execute(
                "INSERT OR REPLACE INTO circle_aside VALUES (?, ?, ?, ?)",
                (self._circle.id, one.device, one.number, one.why),
            )
            self._move_cursor(db, one.device, one.number)

    def epoch_keys(self) -> Mapping[str, bytes]:
        with self._db.reading() as db:
            sql = "SELECT epoch, key FROM circle_keys WHERE circle = ?"
            return {str(epoch): bytes(key) for epoch, key in db.execute(sql, (self._circle.id,))}

    def keep_epoch_key(self, epoch: str, key: bytes) -> None:
        with self._db.writing() as db:
            sql = "INSERT OR IGNORE INTO circle_keys VALUES (?, ?, ?)"
            db.execute(sql, (self._circle.id, epoch, key))

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
                if isinstance(event, _ABOUT_MEMBERS)
            ],
        )
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

    def _keep_record(self, db: apsw.Connection, first: int, last: int) -> None:
        """A record is in the place. What was forgotten before that was known may be in it."""
        circle = self._circle.id
        sql = (
            "SELECT identity FROM outbox WHERE circle = ? AND number BETWEEN ? AND ? "
            "AND identity IS NOT NULL"
        )
        identities = [row[0] for row in fetched(db, sql, (circle, first, last))]
        outdated = any(is_forgotten(db, one) for one in identities)
        db.execute(
            "INSERT OR REPLACE INTO circle_records (circle, last, first, outdated) "
            "VALUES (?, ?, ?, ?)",
            (circle, last, first, int(outdated)),
        )

    def _event(self, db: apsw.Connection, row: Sequence[object]) -> Event | None:
        """What a row of the outbox says today; None where nothing is left of it to say."""
        _, identity, event = row
        if not isinstance(identity, bytes):
            return decoded(str(event).encode())[0]
        own = said_of(db, self._circle.id, identity)
        return None if own is None else self._tell(own)

    def _records(self, condition: str) -> list[tuple[int, int]]:
        sql = (
            f"SELECT first, last FROM circle_records WHERE circle = ? AND {condition} ORDER BY last"
        )
        with self._db.reading() as db:
            return [(int(first), int(last)) for first, last in db.execute(sql, (self._circle.id,))]

    def _move_cursor(self, db: apsw.Connection, device: str, number: int) -> None:
        db.execute(
            "INSERT INTO circle_cursors VALUES (?, ?, ?) ON CONFLICT DO UPDATE "
            "SET number = max(number, excluded.number)",
            (self._circle.id, device, number),
        )


def _last_sent(db: apsw.Connection, circle: str) -> int:
    found = scalar(
        db, "SELECT coalesce(max(last), 0) FROM circle_records WHERE circle = ?", (circle,)
    )
    assert isinstance(found, int)  # noqa: S101 - a number or the 0 above
    return found


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
