"""What is to be told to circles, written in the very transaction in which it happens.

Nothing here looks at keys or places: it is a list of what to say, which waits until somebody sends it.
"""

import json
import secrets
import time
from collections.abc import Iterable, Sequence

import apsw

from iai_mcp.adapters.private_areas import private_areas
from iai_mcp.adapters.sqlite.database import fetched
from iai_mcp.adapters.sqlite.shared_tables import AFTER, PIN, Membership, decide, memberships
from iai_mcp.domain.projects.identity import from_key
from iai_mcp.domain.shared_events import (
    Event,
    Forgot,
    Pinned,
    ProjectNamed,
    Superseded,
    encoded,
)
from iai_mcp.ports.circles import SINCE_EVER

_TOLD = """
INSERT INTO outbox (circle, identity)
SELECT p.circle, m.everywhere FROM memories AS m
JOIN circle_projects AS p ON p.project IS m.project AND p.since <= m.at
JOIN circles AS c ON c.id = p.circle AND NOT c.has_left
WHERE m.key IN (SELECT value FROM json_each(?)) AND m.teller IS NULL AND m.derived = 0
    AND NOT EXISTS (SELECT 1 FROM outbox AS o WHERE o.identity = m.everywhere AND o.circle = p.circle)
ORDER BY m.key, p.circle
"""
# The circles that know of a memory: who told it, and whom it was told.
_KNOWN_IN = """
SELECT c.id, c.name, c.device FROM circles AS c WHERE NOT c.has_left AND (
    c.id IN (SELECT circle FROM outbox WHERE identity = :identity)
    OR c.id = (SELECT t.circle FROM memories AS m JOIN tellers AS t ON t.id = m.teller
        WHERE m.everywhere = :identity))
"""


def captured(db: apsw.Connection, keys: Sequence[int]) -> None:
    """These memories are new here: they go to whom their projects are shared with."""
    circles = memberships(db) if keys else []
    if not circles:
        return
    found = json.dumps(list(keys))
    for circle in circles:
        _open_projects(db, circle, found)
    db.execute(_TOLD, (found,))


def forgetting(db: apsw.Connection, keys: Iterable[int], *, only_here: bool) -> None:
    """These memories are about to go. Before they do: who knows of them is told."""
    if not memberships(db):
        return
    for key in keys:
        identity = _identity(db, key)
        if identity is None:
            continue
        if not only_here:
            for circle in _known_in(db, identity):
                say(db, circle.id, [Forgot(identity=identity)])
        unsay(db, identity)


def unsay(db: apsw.Connection, identity: bytes) -> None:
    """What waits to go out does not; records that hold it in a place are to be sealed anew."""
    db.execute("DELETE FROM outbox WHERE identity = ? AND number IS NULL", (identity,))
    _outdate(db, identity)
    db.execute("DELETE FROM decisions WHERE identity = ?", (identity,))


def _outdate(db: apsw.Connection, identity: bytes) -> None:
    db.execute(
        "UPDATE circle_records SET outdated = outdated + 1 WHERE EXISTS (SELECT 1 FROM outbox AS o "
        "WHERE o.identity = ? AND o.circle = circle_records.circle "
        "AND o.number BETWEEN circle_records.first AND circle_records.last)",
        (identity,),
    )


def circles_of(db: apsw.Connection, identity: bytes) -> list[str]:
    """The ids of the circles that know of a memory."""
    return [circle.id for circle in _known_in(db, identity)]


def still_in(db: apsw.Connection, circles: Sequence[str]) -> list[str]:
    """Those of the circles that this device still belongs to."""
    return [circle.id for circle in memberships(db) if circle.id in circles]


def restored(db: apsw.Connection, key: int, identity: bytes) -> None:
    """A memory is here again that no circle was told to forget. Records that were sealed anew without
    it are sealed anew with it, and what waited to go out waits again.
    """
    if memberships(db):
        _outdate(db, identity)
        captured(db, [key])


def withdraw(db: apsw.Connection, projects: Sequence[str]) -> None:
    """Records that hold anything of these projects are to be sealed anew, without it."""
    db.execute(
        "UPDATE circle_records SET outdated = outdated + 1 WHERE EXISTS (SELECT 1 FROM outbox AS o "
        "JOIN memories AS m ON m.everywhere = o.identity JOIN projects AS p ON p.id = m.project "
        "WHERE p.key IN (SELECT value FROM json_each(?)) AND o.circle = circle_records.circle "
        "AND o.number BETWEEN circle_records.first AND circle_records.last)",
        (json.dumps(list(projects)),),
    )


def pinned(db: apsw.Connection, key: int, is_pinned: bool) -> None:
    identity = _identity(db, key)
    if identity is None:
        return
    for circle in _known_in(db, identity):
        at = _later_than_known(db, circle.id, PIN, identity)
        decide(db, circle.id, PIN, identity, (at, circle.device, bytes([is_pinned])))
        say(db, circle.id, [Pinned(identity=identity, pinned=is_pinned, at=at)])


def reinstated(db: apsw.Connection, key: int) -> None:
    """A memory holds again. Who was told that another took its place is told so."""
    identity = _identity(db, key)
    if identity is None:
        return
    for circle in _known_in(db, identity):
        at = _later_than_known(db, circle.id, AFTER, identity)
        decide(db, circle.id, AFTER, identity, (at, circle.device, b""))
        say(db, circle.id, [Superseded(identity=identity, by=b"", at=at)])


def superseded(db: apsw.Connection, old: int, new: int) -> None:
    """One memory took another's place. Who knows the old one is told, if they were told the new."""
    identity, by = _identity(db, old), _identity(db, new)
    if identity is None or by is None:
        return
    told = {one.id for one in _known_in(db, by)}
    for circle in [one for one in _known_in(db, identity) if one.id in told]:
        at = _later_than_known(db, circle.id, AFTER, identity)
        decide(db, circle.id, AFTER, identity, (at, circle.device, by))
        say(db, circle.id, [Superseded(identity=identity, by=by, at=at)])


def shared(db: apsw.Connection, project: int | None, since: int) -> int:
    """All that was said here in a project since then goes to whom it is shared with; how much."""
    sql = (
        "SELECT key FROM memories WHERE project IS ? AND at >= ? AND derived = 0 AND teller IS NULL"
    )
    keys = [int(row[0]) for row in db.execute(f"{sql} ORDER BY key", (project, since))]
    db.execute(_TOLD, (json.dumps(keys),))
    _tell_decisions(db, keys)
    return len(keys)


def say(db: apsw.Connection, circle: str, events: Iterable[Event]) -> None:
    """Let these events go out, as they are."""
    db.executemany(
        "INSERT INTO outbox (circle, event) VALUES (?, ?)",
        [(circle, encoded([event]).decode()) for event in events],
    )


def name_project(
    db: apsw.Connection,
    circle: Membership,
    project: int | None,
    name: str,
    since: int,
    repository: tuple[str, str] = ("", ""),
) -> str:
    """Speak of a project in a circle: under the name it has there already, or a new one; its id."""
    row = db.execute(
        "SELECT id FROM circle_projects WHERE circle = ? AND project IS ? ORDER BY own DESC, id",
        (circle.id, project),
    ).fetchone()
    if row is not None:
        db.execute(
            "UPDATE circle_projects SET own = 1, since = ? WHERE circle = ? AND id = ?",
            (since, circle.id, row[0]),
        )
        return str(row[0])
    identity = "" if project is None else secrets.token_hex(16)
    db.execute(
        "INSERT INTO circle_projects VALUES (?, ?, ?, ?, ?, ?, 1, ?)",
        (circle.id, identity, name, *repository, project, since),
    )
    if identity:
        remote, root = repository
        told = ProjectNamed(project=identity, name=name, remote=remote, root_commit=root)
        say(db, circle.id, [told])
    return identity


def _open_projects(db: apsw.Connection, circle: Membership, keys: str) -> None:
    """A circle that shares everything shares what is new to it, too: not what is private."""
    sql = (
        "SELECT DISTINCT m.project, p.key FROM memories AS m LEFT JOIN projects AS p ON p.id = m.project "
        "WHERE m.key IN (SELECT value FROM json_each(?)) "
        "AND (SELECT everything FROM circles WHERE id = ?) AND NOT EXISTS (SELECT 1 FROM "
        "circle_projects AS s WHERE s.circle = ? AND s.project IS m.project AND s.own)"
    )
    for project, key in without_private(db, fetched(db, sql, (keys, circle.id, circle.id))):
        name_project(db, circle, project, from_key(key).name, SINCE_EVER)


def without_private(
    db: apsw.Connection, projects: Sequence[Sequence[object]]
) -> list[tuple[int | None, str]]:
    """Those of the projects (id and key) that are neither private nor lie in one that is."""
    named = [
        (project if isinstance(project, int) else None, str(key or "")) for project, key in projects
    ]
    areas = private_areas(
        str(row[0]) for row in fetched(db, "SELECT key FROM projects WHERE private")
    )
    return [(project, key) for project, key in named if not areas.covering(key)]


def _tell_decisions(db: apsw.Connection, keys: Sequence[int]) -> None:
    sql = (
        "SELECT key, pinned, successor FROM memories WHERE key IN (SELECT value FROM json_each(?)) "
        "AND (pinned OR successor IS NOT NULL) ORDER BY key"
    )
    for key, is_pinned, successor in fetched(db, sql, (json.dumps(list(keys)),)):
        if is_pinned:
            pinned(db, key, True)
        if successor is not None:
            superseded(db, key, successor)


def _identity(db: apsw.Connection, key: int) -> bytes | None:
    row = db.execute("SELECT everywhere FROM memories WHERE key = ?", (key,)).fetchone()
    return None if row is None or row[0] is None else bytes(row[0])


def _known_in(db: apsw.Connection, identity: bytes) -> list[Membership]:
    return [Membership(*row) for row in db.execute(_KNOWN_IN, {"identity": identity})]


def _later_than_known(db: apsw.Connection, circle: str, kind: str, identity: bytes) -> int:
    """Now, or just after what was decided before: some clock may be ahead of ours."""
    sql = "SELECT at FROM decisions WHERE circle = ? AND kind = ? AND identity = ?"
    row = db.execute(sql, (circle, kind, identity)).fetchone()
    now = time.time_ns() // 1000
    return now if row is None else max(now, int(row[0]) + 1)
