"""Rows to memories, scopes to conditions."""

import json
import uuid
from collections.abc import Sequence

import apsw

from iai_mcp.adapters.sqlite.belonging import IN_SESSION
from iai_mcp.domain.instants import Instant
from iai_mcp.domain.memories import Memory, Provenance
from iai_mcp.ports.memories import Scope

# The agent whose tool wrote a memory; NULL for what a hook or a person wrote.
CAPTURED_BY = "(SELECT agent FROM agent_notes WHERE key = m.key)"
_COLUMNS = (
    "m.key, m.id, m.at, m.ts, m.session, p.key, m.role, m.tier, m.speaker, m.host, m.agent_id, "
    "m.agent_name, m.branch, m.valid_from, m.valid_to, m.successor, m.pinned, m.cue, m.meta, {text}, "
    "m.derived, "
    "(SELECT json_group_array(session) FROM further_sessions WHERE key = m.key AND gone = 0), "
    "(SELECT json_array(t.member, t.machine, c.name) FROM tellers AS t "
    "JOIN circles AS c ON c.id = t.circle WHERE t.id = m.teller), "
    f"{CAPTURED_BY}"
)
# Who told a memory, as scopes name members: "" for oneself, on whatever machine.
MEMBER = (
    "iif(t.member = c.member, '', c.name || '/' || t.member) "
    "FROM tellers AS t JOIN circles AS c ON c.id = t.circle"
)
TOLD_BY = f"coalesce((SELECT {MEMBER} WHERE t.id = m.teller), '')"
# On which machine; "" for this one.
MACHINE = "coalesce((SELECT machine FROM tellers WHERE id = m.teller), '')"
SOURCE = "memories AS m LEFT JOIN projects AS p ON p.id = m.project"


def columns(longest: int | None = None) -> str:
    """What `memory` reads, with only so many characters of the text."""
    return _COLUMNS.format(text="m.text" if longest is None else f"substr(m.text, 1, {longest:d})")


def memory(row: Sequence[object]) -> Memory:
    (key, ident, at, ts, session, project, role, tier, speaker, host, agent_id) = row[:11]
    (agent_name, branch, valid_from, valid_to, successor, pinned, cue, meta, text) = row[11:20]
    derived, also_in, teller, captured_by = row[20:]
    member, machine, circle = json.loads(str(teller)) if teller else ("", "", "")
    assert isinstance(ident, bytes) and isinstance(key, int) and isinstance(at, int)  # noqa: S101 - the schema says so
    return Memory(
        key=key,
        id=public_id(ident),
        text=str(text),
        role=str(role),
        at=Instant(at, str(ts)),
        speaker=str(speaker),
        tier=str(tier),
        cue=str(cue),
        provenance=Provenance(
            session_id=str(session),
            project=str(project) if project is not None else "",
            host=str(host),
            agent_id=str(agent_id),
            agent_name=str(agent_name),
            branch=str(branch),
            captured_by=str(captured_by or ""),
            member=member,
            machine=machine,
            circle=circle,
        ),
        meta=json.loads(str(meta)) if meta else {},
        valid_from=valid_from if isinstance(valid_from, int) else None,
        valid_to=valid_to if isinstance(valid_to, int) else None,
        successor=successor if isinstance(successor, int) else None,
        pinned=bool(pinned),
        derived=bool(derived),
        also_in=() if also_in == "[]" else tuple(json.loads(str(also_in))),
    )


def public_id(identity: bytes) -> str:
    """How the world writes an identity: as a UUID."""
    written = identity.hex()  # by hand: a UUID object takes five times as long
    return f"{written[:8]}-{written[8:12]}-{written[12:16]}-{written[16:20]}-{written[20:]}"


def ids_beginning(db: apsw.Connection, table: str, digits: str, limit: int) -> list[str]:
    """Public ids of `table` that begin with these hexadecimal digits."""
    low, high = (bytes.fromhex(digits.ljust(32, fill)) for fill in "0f")
    sql = f"SELECT id FROM {table} WHERE id BETWEEN ? AND ? ORDER BY id LIMIT ?"
    return [public_id(bytes(row[0])) for row in db.execute(sql, (low, high, limit))]


def identity(public: str) -> bytes | None:
    """The identity behind a public id, or None if it can not be one."""
    try:
        return uuid.UUID(public).bytes
    except (ValueError, AttributeError):
        return None


def condition(scope: Scope) -> tuple[str, list[object]]:
    """The scope as SQL over `m` and `p`; always a valid condition."""
    parts: list[str] = []
    values: list[object] = []

    def add(sql: str, *bound: object) -> None:
        parts.append(sql)
        values.extend(bound)

    if scope.projects:
        marks = ", ".join("?" * len(scope.projects))
        unfiled = "m.project IS NULL OR " if "" in scope.projects else ""
        add(
            f"({unfiled}m.project IN (SELECT id FROM projects WHERE key IN ({marks})))",
            *scope.projects,
        )
    if scope.not_projects:
        marks = ", ".join("?" * len(scope.not_projects))
        add(
            "(m.project IS NULL OR m.project NOT IN "
            f"(SELECT id FROM projects WHERE key IN ({marks})))",
            *scope.not_projects,
        )
    for name, sql, times in (
        (scope.session_id, IN_SESSION, 2),
        (scope.host, "m.host = ?", 1),
        (scope.role, "m.role = ?", 1),
        (scope.agent, "(m.agent_id = ? OR m.agent_name = ?)", 2),
    ):
        if name:
            add(sql, *[name] * times)
    for moment, sql in (
        (scope.since, "m.at >= ?"),
        (scope.until, "m.at < ?"),
        (scope.known_at, "m.at <= ?"),
    ):
        if moment is not None:
            add(sql, moment)
    if scope.said:
        add("m.derived = 0")
    for told, verb, names in (
        (TOLD_BY, "IN", scope.members),
        (TOLD_BY, "NOT IN", scope.not_members),
        (MACHINE, "IN", scope.machines),
    ):
        add(*_among(told, verb, names))
    return (" AND ".join(parts) or "1"), values


def _among(expression: str, verb: str, names: Sequence[str]) -> tuple[str, ...]:
    marks = ", ".join("?" * len(names))
    return (f"{expression} {verb} ({marks})", *names) if names else ("1",)
