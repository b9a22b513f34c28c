"""`Circles` in the encrypted file."""

from collections.abc import Callable, Iterator

import apsw

from iai_mcp.adapters.sqlite import outgoing
from iai_mcp.adapters.sqlite.adding import free_identity, project_id
from iai_mcp.adapters.sqlite.circle_ledger import SqliteSharingLedger
from iai_mcp.adapters.sqlite.database import Database, fetched, scalar
from iai_mcp.adapters.sqlite.incoming import Merged
from iai_mcp.adapters.sqlite.saying import Own
from iai_mcp.adapters.sqlite.shared_tables import Membership, memberships
from iai_mcp.domain.errors import AlreadyExists
from iai_mcp.domain.projects.identity import from_key
from iai_mcp.domain.shared_events import ProjectNamed, Said
from iai_mcp.ports.circles import SINCE_EVER, KnownCircle, SharedProject, Traffic

_COLUMNS = "id, name, place, founder, device, signing, sealing, member, machine, everything, contact, trouble"
_OF_ONE_CIRCLE = (
    "circle_keys",
    "circle_heard",
    "circle_cursors",
    "circle_aside",
    "circle_chains",
    "circle_seen",
    "circle_asked",
    "circle_records",
    "circle_projects",
    "outbox",
)
_PENDING = """
FROM outbox WHERE circle = :circle AND
    coalesce(number > (SELECT coalesce(max(last), 0) FROM circle_records WHERE circle = :circle), 1)
"""


class SqliteCircles:
    """The circles of one store; see `SqliteSharingLedger` for what is handed on to each."""

    def __init__(
        self,
        database: Database,
        *,
        tell: Callable[[Own], Said | None],
        project_here: Callable[[ProjectNamed], str],
        changed: Callable[[Merged], None],
    ) -> None:
        self._db = database
        self._tell = tell
        self._project_here = project_here
        self._changed = changed

    def all(self) -> list[KnownCircle]:
        sql = f"SELECT {_COLUMNS} FROM circles WHERE NOT has_left ORDER BY name"
        with self._db.reading() as db:
            return [_known(row) for row in db.execute(sql)]

    def add(self, circle: KnownCircle) -> None:
        with self._db.writing() as db:
            sql = "SELECT id FROM circles WHERE (name = ? OR id = ?) AND NOT has_left"
            if fetched(db, sql, (circle.name, circle.id)):
                raise AlreadyExists(
                    f"this machine is in a circle called {circle.name!r} already: see iai-mcp share list"
                )
            # A circle that was left may have had the name: who spoke there is still known by it.
            db.execute(
                "UPDATE circles SET name = name || ' (' || substr(id, 1, 8) || ')' WHERE name = ?",
                (circle.name,),
            )
            db.execute(
                f"INSERT OR REPLACE INTO circles ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                tuple(getattr(circle, name) for name in _COLUMNS.split(", ")),
            )

    def leave(self, circle: str) -> None:
        with self._db.writing() as db:
            sql = "UPDATE circles SET has_left = 1, signing = x'', sealing = x'' WHERE id = ?"
            db.execute(sql, (circle,))
            for table in _OF_ONE_CIRCLE:
                db.execute(f"DELETE FROM {table} WHERE circle = ?", (circle,))

    def contacted(self, circle: str, at: int, trouble: str) -> None:
        with self._db.writing(repeatable=True) as db:
            db.execute(
                "UPDATE circles SET contact = max(contact, ?), trouble = ? WHERE id = ?",
                (at, trouble, circle),
            )

    def ledger(self, circle: KnownCircle) -> SqliteSharingLedger:
        return SqliteSharingLedger(
            self._db,
            Membership(circle.id, circle.name, circle.device),
            tell=self._tell,
            project_here=self._project_here,
            changed=self._changed,
        )

    def identify(self, limit: int) -> int:
        nameless = "FROM memories WHERE everywhere IS NULL AND derived = 0"
        with self._db.reading() as db:
            if not fetched(db, f"SELECT 1 {nameless} LIMIT 1"):
                return 0  # nearly always
        with self._db.writing(repeatable=True) as db:
            sql = f"SELECT key, session, role, text, at {nameless} ORDER BY key LIMIT ?"
            page = fetched(db, sql, (limit,))
            for key, session, role, text, at in page:
                identity = free_identity(db, session, role, text, at)
                db.execute("UPDATE memories SET everywhere = ? WHERE key = ?", (identity, key))
        return len(page)

    def share(
        self, circle: str, project: str, name: str, since: int, repository: tuple[str, str]
    ) -> int:
        with self._db.writing() as db:
            member = _membership(db, circle)
            here = project_id(db, project)
            outgoing.name_project(db, member, here, name, since, repository)
            return outgoing.shared(db, here, since)

    def share_everything(self, circle: str) -> int:
        sql = "SELECT id, key FROM projects ORDER BY id"
        with self._db.writing() as db:
            member = _membership(db, circle)
            told = 0
            for here, key in [(None, ""), *outgoing.without_private(db, fetched(db, sql))]:
                name, since = from_key(key).name, SINCE_EVER
                outgoing.name_project(db, member, here, name, since)
                told += outgoing.shared(db, here, since)
        return told

    def unshare(self, circle: str, project: str) -> None:
        with self._db.writing() as db:
            here = project_id(db, project)
            db.execute(
                "UPDATE circle_projects SET since = NULL, own = 1 WHERE circle = ? AND project IS ?",
                (circle, here),
            )
            db.execute(
                "DELETE FROM outbox WHERE circle = ? AND number IS NULL AND identity IN "
                "(SELECT everywhere FROM memories WHERE project IS ?)",
                (circle, here),
            )

    def projects(self, circle: str) -> list[SharedProject]:
        sql = (
            "SELECT c.id, c.name, coalesce(p.key, ''), c.since IS NOT NULL, c.remote, c.root_commit "
            "FROM circle_projects AS c LEFT JOIN projects AS p ON p.id = c.project "
            "WHERE c.circle = ? ORDER BY c.name, c.id"
        )
        with self._db.reading() as db:
            rows = fetched(db, sql, (circle,))
        return [SharedProject(row[0], row[1], row[2], bool(row[3]), row[4], row[5]) for row in rows]

    def said_in(self, project: str, since: int) -> Iterator[str]:
        sql = (
            "SELECT m.text FROM memories AS m JOIN projects AS p ON p.id = m.project WHERE p.key = ? "
            "AND m.at >= ? AND m.derived = 0 AND m.teller IS NULL ORDER BY m.at, m.key"
        )
        with self._db.reading() as db:  # row by row: never all the texts at once
            for row in db.execute(sql, (project, since)):
                yield str(row[0])

    def trust(self, circle: str, member: str, trusted: bool) -> None:
        sql = "DELETE FROM circle_trust WHERE circle = ? AND member = ?"
        if trusted:
            sql = "INSERT OR IGNORE INTO circle_trust VALUES (?, ?)"
        with self._db.writing() as db:
            db.execute(sql, (circle, member))

    def trusted(self, circle: str) -> list[str]:
        sql = "SELECT member FROM circle_trust WHERE circle = ? ORDER BY member"
        with self._db.reading() as db:
            return [str(row[0]) for row in db.execute(sql, (circle,))]

    def has_pending(self, circle: str) -> bool:
        with self._db.reading() as db:
            return bool(db.execute(f"SELECT 1 {_PENDING} LIMIT 1", {"circle": circle}).fetchall())

    def traffic(self, circle: str) -> Traffic:
        told = "SELECT count(*) FROM memories WHERE teller IN (SELECT id FROM tellers WHERE circle = ?)"
        with self._db.reading() as db:
            ((pending,),) = db.execute(f"SELECT count(*) {_PENDING}", {"circle": circle}).fetchall()
            applied = scalar(db, told, (circle,))
        return Traffic(int(str(pending)), int(str(applied)))


def _known(row: tuple[object, ...]) -> KnownCircle:
    values = dict(zip(_COLUMNS.split(", "), row, strict=True))
    return KnownCircle(**{**values, "everything": bool(values["everything"])})  # type: ignore[arg-type]  # the schema says so


def _membership(db: apsw.Connection, circle: str) -> Membership:
    return next(one for one in memberships(db) if one.id == circle)
