"""Merging what a circle's devices say into the store: the meaning of `domain.merging.Replica`, in SQL.

What comes in was sealed and signed by a member, and is still only what somebody wrote: names are cut
to what a name may be, times to what can be shown.
"""

import json
import struct
import time
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, field, replace

import apsw

from iai_mcp.adapters.sqlite import outgoing
from iai_mcp.adapters.sqlite.adding import insert, key_everywhere, project_id
from iai_mcp.adapters.sqlite.database import fetched, scalar
from iai_mcp.adapters.sqlite.forgetting import forget_one
from iai_mcp.adapters.sqlite.saying import said_of
from iai_mcp.adapters.sqlite.shared_tables import AFTER, PIN, Membership, decide, is_forgotten
from iai_mcp.domain.instants import from_micros
from iai_mcp.domain.memories import META_LIMIT, TIERS, CleanTurn, Provenance, turn_identity
from iai_mcp.domain.shared_events import (
    Event,
    Forgot,
    Hello,
    Pinned,
    ProjectNamed,
    Said,
    Superseded,
)

_LONGEST_NAME = 512
_EARLIEST, _LATEST = -62_000_000_000_000_000, 253_000_000_000_000_000  # the years 5 and 9987


@dataclass(slots=True)
class Merged:
    """What changed: keys that came, and keys that went."""

    came: list[int] = field(default_factory=list)
    gone: list[int] = field(default_factory=list)
    forgot: list[bytes] = field(
        default_factory=list
    )  # ids of memories, for the copies of the store


@dataclass(slots=True)
class Merging:
    """One batch of events of one device, inside the caller's transaction."""

    db: apsw.Connection
    circle: Membership
    device: str
    # Which project here a repository is that others share; "" for none.
    project_here: Callable[[ProjectNamed], str]
    merged: Merged = field(default_factory=Merged)
    _salt: bytes = b""
    _me: int | None = None  # the teller's key
    _projects: dict[str, str] = field(default_factory=dict)
    _decisions: bool = True  # whether anything was decided that may be about what comes

    def __call__(self, events: Sequence[Event]) -> Merged:
        salt = scalar(self.db, "SELECT value FROM meta WHERE name = 'salt'")
        assert isinstance(salt, bytes)  # noqa: S101 - written as such with the schema
        self._salt, self._me = salt, self._teller()
        self._decisions = bool(fetched(self.db, "SELECT 1 FROM decisions LIMIT 1"))
        for event in events:
            match event:
                case Said():
                    self._said(event)
                case Forgot():
                    self._forgot(event.identity)
                case Pinned():
                    self._decided(PIN, event.identity, event.at, bytes([event.pinned]))
                case Superseded():
                    self._decided(AFTER, event.identity, event.at, event.by)
                case ProjectNamed():
                    self._named(event)
                case Hello():
                    self._met(event)
                case _:
                    pass  # about membership: kept as it is
        return self.merged

    def _said(self, said: Said) -> None:
        if not said.text.strip() or is_forgotten(self.db, said.identity):
            return
        key = key_everywhere(self.db, said.identity)
        if key is None:
            self._insert(said)
        elif self._stands_before(said, key):
            self._take_out(key)
            self._insert(said)

    def _stands_before(self, said: Said, key: int) -> bool:
        """Whether this word about a turn holds, and not the one that is there."""
        row = self.db.execute(
            "SELECT t.circle, t.device FROM memories AS m JOIN tellers AS t ON t.id = m.teller "
            "WHERE m.key = ?",
            (key,),
        ).fetchone()
        circle, device = (self.circle.id, self.circle.device) if row is None else row
        if circle != self.circle.id or self.device != device:
            return bool(circle == self.circle.id and self.device < device)
        known = said_of(self.db, self.circle.id, said.identity)
        return known is not None and _words(said) < _words(known.said)

    def _take_out(self, key: int) -> None:
        """Remove a memory that another word stands for: nothing is forgotten."""
        self.db.execute("UPDATE memories SET successor = NULL WHERE successor = ?", (key,))
        self.db.execute("DELETE FROM words WHERE rowid = ?", (key,))
        self.db.execute("DELETE FROM memories WHERE key = ?", (key,))
        self.merged.gone.append(key)

    def _insert(self, said: Said) -> None:
        key = insert(self.db, self._turn(said), teller=self._me)
        self._put_vector(key, said)
        self.merged.came.append(key)
        if not self._decisions:
            return
        for kind in (PIN, AFTER):
            self._apply(kind, said.identity)
        sql = "SELECT identity FROM decisions WHERE kind = ? AND value = ?"
        for (older,) in fetched(self.db, sql, (AFTER, said.identity)):
            self._apply(AFTER, older)

    def _turn(self, said: Said) -> CleanTurn:
        names = (said.session_id, said.host, said.agent_id, said.agent_name, said.branch)
        session, host, agent_id, agent_name, branch = (one[:_LONGEST_NAME] for one in names)
        return CleanTurn(
            identity=turn_identity(self._salt, "", turn_id=f"shared {said.identity.hex()}"),
            everywhere=said.identity,
            text=said.text,
            role=said.role[:_LONGEST_NAME],
            at=from_micros(_within(said.at)),
            speaker=said.speaker[:_LONGEST_NAME],
            tier=said.tier if said.tier in TIERS else "episodic",
            cue=said.cue,
            provenance=Provenance(
                session_id=session,
                project=self._project(said.project),
                host=host,
                agent_id=agent_id,
                agent_name=agent_name,
                branch=branch,
            ),
            meta=said.meta if _is_meta(said.meta) else "",
        )

    def _project(self, identity: str) -> str:
        """The key of what a circle's project is here."""
        if identity in self._projects or not identity:
            return self._projects.get(identity, "")
        sql = (
            "SELECT p.key FROM circle_projects AS c JOIN projects AS p ON p.id = c.project "
            "WHERE c.circle = ? AND c.id = ?"
        )
        row = self.db.execute(sql, (self.circle.id, identity)).fetchone()
        if row is None:
            self._named(ProjectNamed(project=identity, name=f"project-{identity[:8]}"))
            row = self.db.execute(sql, (self.circle.id, identity)).fetchone()
        self._projects[identity] = "" if row is None else str(row[0])
        return self._projects[identity]

    def _named(self, told: ProjectNamed) -> None:
        """A project that is none of this machine's lives under its name in the circle."""
        if not told.project:
            return
        self._projects.pop(told.project, None)
        key = self.project_here(told) or f"{_plain_name(told.name)}@{self.circle.name}"
        self.db.execute(
            "INSERT INTO circle_projects (circle, id, name, remote, root_commit, project) "
            "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET name = excluded.name, "
            "remote = coalesce(nullif(excluded.remote, ''), remote), "
            "root_commit = coalesce(nullif(excluded.root_commit, ''), root_commit), "
            "project = CASE WHEN own THEN project ELSE excluded.project END",
            (
                self.circle.id,
                told.project,
                _plain_name(told.name),
                told.remote[:_LONGEST_NAME],
                told.root_commit[:_LONGEST_NAME],
                project_id(self.db, key),
            ),
        )

    def _met(self, hello: Hello) -> None:
        self.db.execute(
            "INSERT INTO tellers (circle, device, member, machine) VALUES (?, ?, ?, ?) "
            "ON CONFLICT DO UPDATE SET member = excluded.member, machine = excluded.machine "
            "WHERE member = ''",
            (
                self.circle.id,
                self.device,
                hello.member[:_LONGEST_NAME],
                hello.machine[:_LONGEST_NAME],
            ),
        )

    def _teller(self) -> int | None:
        """Who tells it; None for ourselves."""
        if self.device == self.circle.device:
            return None
        whose = (self.circle.id, self.device)
        self.db.execute("INSERT OR IGNORE INTO tellers (circle, device) VALUES (?, ?)", whose)
        found = scalar(self.db, "SELECT id FROM tellers WHERE circle = ? AND device = ?", whose)
        assert isinstance(found, int)  # noqa: S101 - a primary key
        return found

    def _forgot(self, identity: bytes) -> None:
        key = key_everywhere(self.db, identity)
        self.db.execute("INSERT OR IGNORE INTO forgotten_everywhere VALUES (?)", (identity,))
        outgoing.unsay(self.db, identity)
        gone = None if key is None else forget_one(self.db, key, time.time_ns() // 1000)
        if key is not None and gone is not None:
            self.merged.gone.append(key)
            self.merged.forgot += gone[0]

    def _decided(self, kind: str, identity: bytes, at: int, value: bytes) -> None:
        if not is_forgotten(self.db, identity):
            self._decisions = True
            decide(self.db, self.circle.id, kind, identity, (_within(at), self.device, value))
            self._apply(kind, identity)

    def _apply(self, kind: str, identity: bytes) -> None:
        """Let the memory have what was decided about it, if both are there."""
        row = self.db.execute(
            "SELECT at, value FROM decisions WHERE kind = ? AND identity = ? "
            "ORDER BY at DESC, device DESC, value DESC LIMIT 1",
            (kind, identity),
        ).fetchone()
        key = key_everywhere(self.db, identity)
        if row is None or key is None:
            return
        at, value = int(row[0]), bytes(row[1])
        if kind == PIN:
            self.db.execute("UPDATE memories SET pinned = ? WHERE key = ?", (value[0], key))
            return
        by = key_everywhere(self.db, value) if value else None
        self.db.execute(
            "UPDATE memories SET valid_to = ?, successor = ? WHERE key = ?",
            (at if value else None, None if by == key else by, key),
        )

    def _put_vector(self, key: int, said: Said) -> None:
        """A vector that came along serves until one is made here with all its parts."""
        if len(said.vector) <= 4:
            return
        self.db.execute(
            "INSERT OR IGNORE INTO vectors SELECT ?, id, ?, ? FROM spaces "
            "WHERE model = ? AND dimensions = ?",
            (
                key,
                scale_of(said.vector),
                said.vector[4:],
                said.model,
                len(said.vector) - 4,
            ),
        )


def scale_of(vector: bytes) -> float:
    """What one step of a vector that travels is worth; its numbers follow."""
    scale = float(struct.unpack_from("<f", vector)[0])
    return scale if 0 < scale < 1 else 0.0


def _words(said: Said) -> tuple[object, ...]:
    """What two words about the same turn are compared by. Vectors follow from the rest, and what a
    project is called is each circle's own.
    """
    return astuple(replace(said, project="", model="", vector=b""))


def _within(at: int) -> int:
    return min(max(at, _EARLIEST), _LATEST)


def _plain_name(name: str) -> str:
    """A project's name as a key: what has a slash would be a path."""
    return "".join(one if one.isprintable() and one != "/" else "-" for one in name)[:100] or "-"


def _is_meta(text: str) -> bool:
    try:
        return len(text) <= META_LIMIT and isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False
