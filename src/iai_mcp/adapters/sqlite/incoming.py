"""Merging what a circle's devices say into the store: the meaning of `domain.merging.Replica`, in SQL.

What comes in was sealed and signed by a member, and is still only what somebody wrote: names are cut
to what a name may be, times to what can be shown.
"""

import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, dataclass, field, replace
from itertools import groupby

import apsw

from iai_mcp.adapters.sqlite import outgoing, told_vectors
from iai_mcp.adapters.sqlite.adding import Arriving, insert_all, key_everywhere, project_id
from iai_mcp.adapters.sqlite.database import fetched, scalar
from iai_mcp.adapters.sqlite.forgetting import forget_one
from iai_mcp.adapters.sqlite.saying import said_of
from iai_mcp.adapters.sqlite.shared_tables import AFTER, PIN, Membership, decide, is_forgotten
from iai_mcp.domain import pieces
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
from iai_mcp.domain.traits import Traits, traits_of

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


@dataclass(frozen=True, slots=True)
class Ready:
    """A turn with what follows from its words, worked out before anybody has to wait for the writer."""

    said: Said
    turn: CleanTurn  # of no project yet
    traits: Traits
    whole: bool  # its vectors came along, and are what they should be


def prepared(events: Iterable[Event], salt: bytes) -> list[Event | Ready]:
    """The events as they are merged; what says nothing is left out."""
    found: list[Event | Ready] = []
    for event in events:
        if not isinstance(event, Said):
            found.append(event)
        elif event.text.strip():
            pieces.breathe()
            turn = _turn(event, salt)
            traits = traits_of(turn.text, turn.role, turn.meta)
            found.append(Ready(event, turn, traits, told_vectors.are_sound(event)))
    return found


@dataclass(slots=True)
class Merging:
    """A batch of events of one device, inside the caller's transaction."""

    db: apsw.Connection
    circle: Membership
    device: str
    # Which project here a repository is that others share; "" for none.
    project_here: Callable[[ProjectNamed], str]
    merged: Merged = field(default_factory=Merged)
    _me: int | None = None  # the teller's key
    _space: told_vectors.Space | None = None
    _projects: dict[str, int | None] = field(default_factory=dict)
    _decisions: bool = True  # whether anything was decided that may be about what comes

    def __post_init__(self) -> None:
        self._me, self._space = self._teller(), told_vectors.space_here(self.db)
        self._decisions = bool(fetched(self.db, "SELECT 1 FROM decisions LIMIT 1"))

    def __call__(self, events: Sequence[Event | Ready]) -> Merged:
        for are_turns, run in groupby(events, lambda one: isinstance(one, Ready)):
            if are_turns:
                self._said([one for one in run if isinstance(one, Ready)])
            else:
                for event in run:
                    self._happened(event)
        return self.merged

    def _happened(self, event: Event | Ready) -> None:
        match event:
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

    def _said(self, turns: Sequence[Ready]) -> None:
        """Most are new: what is known of all of them is asked at once, and they are stored at once."""
        identities = [one.said.identity for one in turns]
        forgotten = _among(self.db, "SELECT identity FROM forgotten_everywhere", identities)
        known = _among(self.db, "SELECT everywhere FROM memories", identities)
        fresh: list[Ready] = []
        for one in turns:
            identity = one.said.identity
            if identity in forgotten:
                continue
            if identity in known:
                self._insert(fresh)
                fresh = []
                self._said_again(one)
            else:
                known.add(identity)
                fresh.append(one)
        self._insert(fresh)

    def _said_again(self, one: Ready) -> None:
        key = key_everywhere(self.db, one.said.identity)
        if key is not None and self._stands_before(one.said, key):
            self._take_out(key)
            self._insert([one])

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

    def _insert(self, turns: Sequence[Ready]) -> None:
        if not turns:
            return
        space = self._space
        fit = [space is not None and one.whole and space.fits(one.said) for one in turns]
        keys = insert_all(
            self.db,
            [
                Arriving(one.turn, one.traits, self._project(one.said.project), self._me, whole)
                for one, whole in zip(turns, fit, strict=True)
            ],
        )
        if space is not None and any(fit):
            theirs = zip(keys, turns, fit, strict=True)
            space.keep(self.db, [(key, one.said) for key, one, whole in theirs if whole])
        self.merged.came += keys
        if self._decisions:
            for one in turns:
                self._apply_all(one.said.identity)

    def _apply_all(self, identity: bytes) -> None:
        for kind in (PIN, AFTER):
            self._apply(kind, identity)
        sql = "SELECT identity FROM decisions WHERE kind = ? AND value = ?"
        for (older,) in fetched(self.db, sql, (AFTER, identity)):
            self._apply(AFTER, older)

    def _project(self, identity: str) -> int | None:
        """What a circle's project is here."""
        if identity in self._projects or not identity:
            return self._projects.get(identity)
        sql = "SELECT project FROM circle_projects WHERE circle = ? AND id = ?"
        row = self.db.execute(sql, (self.circle.id, identity)).fetchone()
        if row is None:
            self._named(ProjectNamed(project=identity, name=f"project-{identity[:8]}"))
            row = self.db.execute(sql, (self.circle.id, identity)).fetchone()
        self._projects[identity] = None if row is None else row[0]
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
        """A device, maybe another than the one that speaks: who lets it in passes its hello on."""
        self.db.execute(
            "INSERT INTO tellers (circle, device, member, machine) VALUES (?, ?, ?, ?) "
            "ON CONFLICT DO UPDATE SET member = excluded.member, machine = excluded.machine "
            "WHERE member = ''",
            (
                self.circle.id,
                hello.device,
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


def _among(db: apsw.Connection, select: str, identities: Sequence[bytes]) -> set[bytes]:
    """Those of the identities that a query of one column finds."""
    column = select.split()[1]
    marks = ", ".join("?" * len(identities))
    return {
        bytes(row[0]) for row in db.execute(f"{select} WHERE {column} IN ({marks})", identities)
    }


def _turn(said: Said, salt: bytes) -> CleanTurn:
    names = (said.session_id, said.host, said.agent_id, said.agent_name, said.branch)
    session, host, agent_id, agent_name, branch = (one[:_LONGEST_NAME] for one in names)
    return CleanTurn(
        identity=turn_identity(salt, "", turn_id=f"shared {said.identity.hex()}"),
        everywhere=said.identity,
        text=said.text,
        role=said.role[:_LONGEST_NAME],
        at=from_micros(_within(said.at)),
        speaker=said.speaker[:_LONGEST_NAME],
        tier=said.tier if said.tier in TIERS else "episodic",
        cue=said.cue,
        provenance=Provenance(
            session_id=session,
            host=host,
            agent_id=agent_id,
            agent_name=agent_name,
            branch=branch,
        ),
        meta=said.meta if said.meta and _is_meta(said.meta) else "",
    )


def _words(said: Said) -> tuple[object, ...]:
    """What two words about the same turn are compared by. Vectors follow from the rest, and what a
    project is called is each circle's own.
    """
    bare = replace(said, project="", model="", vector=b"", parts=b"", topics=0, context=False)
    return astuple(replace(bare, whole=False))


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
