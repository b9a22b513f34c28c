"""One narrow row per memory, in columns held in memory: what recall asks of every candidate.

About forty bytes a memory. Rows are in order of arrival, so a key is found by bisection; the
turns of a session are linked in the order they were said. Rows come in by one way only, read from
the log behind the last that is there: whoever stored a memory, none is left out or out of order.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from iai_mcp.domain.memories import SUMMARY
from iai_mcp.domain.traits import WISH, Fact
from iai_mcp.ports.memories import NAMED, EntryPage, Names, Renewed, Scope

Numbers = NDArray[np.int32]
Mask = NDArray[np.bool_]

NOBODY = -1  # no such row, no such name
_PAGE = 4_096  # rows taken in while readers wait
_MASKS_KEPT = 4  # one byte a memory: a question, and the rules of its projects
_PROMPT = "user"  # the role that begins an exchange, unless it is said within one

_COLUMNS: dict[str, type[np.generic]] = {
    "keys": np.int64,
    "at": np.int64,
    "length": np.int32,
    "facts": np.uint16,
    "alive": np.bool_,
    "before": np.int32,
    "after": np.int32,
    "head": np.int32,
    **dict.fromkeys(NAMED, np.int32),
}


@dataclass(frozen=True, slots=True)
class View:
    """The columns as they were at one moment. Names are numbers; see `Columns.number`."""

    keys: NDArray[np.int64]
    at: NDArray[np.int64]
    length: Numbers
    facts: NDArray[np.uint16]  # see `domain.traits.Fact`
    alive: Mask
    before: Numbers  # the row of the turn before it in its session, or NOBODY
    after: Numbers
    head: Numbers  # the row of the first turn of its exchange
    session: Numbers
    project: Numbers
    speaker: Numbers
    role: Numbers
    host: Numbers
    agent_id: Numbers
    agent_name: Numbers
    member: Numbers
    machine: Numbers
    no_session: int  # what stands in `session` for memories that belong to none
    lost: (
        int  # how many were forgotten or read anew so far: until then words only become more common
    )

    def rows_of(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """The rows of the keys that have one, in the order asked."""
        if not len(self.keys):
            return np.zeros(0, dtype=np.int64)
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        known: NDArray[np.int64] = places[self.keys[places] == keys]
        return known

    @property
    def spoken(self) -> Mask:
        return having(self.facts, Fact.SPOKEN)

    @property
    def in_session(self) -> Mask:
        """Which rows are turns of a session that are still there."""
        held: Mask = self.alive & (self.session != self.no_session)
        return held

    @property
    def conversed(self) -> Mask:
        """Which rows a person said in a session."""
        said: Mask = self.spoken & (self.session != self.no_session)
        return said

    def sessions(self, rows: NDArray[np.int64]) -> Numbers:
        """The session of each row; a memory that belongs to none is alone in one of its own."""
        own = self.session[rows]
        alone = np.flatnonzero(own == self.no_session)
        own[alone] = NOBODY - 1 - np.arange(len(alone))
        return own

    @property
    def standing(self) -> Mask:
        """Which rows hold a wish that goes on being one."""
        return having(self.facts, WISH)


def having(facts: NDArray[np.uint16], which: int) -> Mask:
    """Where any of these facts holds."""
    # A plain number: one of an enumeration would make every byte of the column eight.
    held: Mask = (facts & int(which)) != 0
    return held


class Log(Protocol):
    """The part of `Memories` that the columns are read from."""

    def keys(self, scope: Scope) -> Sequence[int] | None: ...

    def latest(self) -> int: ...

    def entries(self, after: int, limit: int) -> EntryPage: ...


class Columns:
    """Append-only rows with tombstones. Readers take a view; they never wait for writers."""

    def __init__(self, log: Log) -> None:
        self._log = log
        # Held while rows are read and put in: what is forgotten or corrected meanwhile is so after it.
        self._arriving = threading.Lock()
        self._lock = threading.Lock()
        self._used = 0
        self._last = 0  # the key of the last row
        self._numbers: dict[str, dict[str, int]] = {name: {} for name in NAMED}
        self._last_of: dict[int, int] = {}  # session -> the row said last in it
        self._columns = _blank(1024)
        self._changes = 0
        self._lost = 0
        self._masked: dict[tuple[Scope, tuple[int, ...]], tuple[int, Mask]] = {}

    def current(self) -> View:
        """The columns with everything that is stored by now."""
        self.catch_up()
        return self.view()

    def catch_up(self) -> None:
        """Take in what was stored since the last time."""
        if self._log.latest() <= self._last:
            return
        with self._arriving:
            if not self._used:
                # About as many as there are: the room is made once, and what is not used takes none.
                self._make_room(self._log.latest())
            while self._log.latest() > self._last:
                page = self._log.entries(self._last, _PAGE)
                if not len(page):
                    return  # what was the latest has been forgotten
                self._add(page)

    def drop(self, keys: Sequence[int]) -> None:
        """Leave out what was forgotten."""
        with self._arriving, self._lock:
            for row in self._view().rows_of(np.asarray(keys, dtype=np.int64)):
                self._unlink(int(row))

    def correct(self, renewed: Sequence[Renewed]) -> None:
        """Put in what was derived anew from the texts of memories."""
        with self._arriving, self._lock:
            for one in renewed:
                for row in self._view().rows_of(np.array([one.key], dtype=np.int64)):
                    self._columns["length"][row] = one.length
                    changed = int(self._columns["facts"][row]) ^ one.facts
                    self._columns["facts"][row] = one.facts
                    if changed & Fact.WITHIN and self._columns["alive"][row]:
                        self._lead(int(row))
                    self._changes += 1
                    self._lost += 1

    def view(self) -> View:
        with self._lock:
            return self._view()

    def exchanges(self, key: int, around: int = 0) -> list[list[int]]:
        """The keys of the exchange that a memory belongs to, between so many exchanges before and after it
        in its session; empty if the memory is not there."""
        view = self.current()
        rows = view.rows_of(np.array([key], dtype=np.int64))
        if not len(rows) or not view.alive[rows[0]]:
            return []
        first = int(view.head[rows[0]])
        heads = [first]
        for _ in range(around):
            left = int(view.before[heads[0]])
            if left == NOBODY:
                break
            heads.insert(0, int(view.head[left]))
        found: list[list[int]] = []
        row, last = heads[0], heads.index(first) + around
        while row != NOBODY and row < len(view.keys) and len(found) <= last:
            head, own = int(view.head[row]), []
            while row != NOBODY and row < len(view.keys) and view.head[row] == head:
                own.append(int(view.keys[row]))
                row = int(view.after[row])
            found.append(own)
        return found

    def number(self, column: str, name: str) -> int:
        """The number that stands for a name in a column; NOBODY if it never occurred."""
        return self._numbers[column].get(name, NOBODY)

    def names(self, column: str) -> list[str]:
        """All names that ever occurred in a column, by their numbers."""
        return list(self._numbers[column])

    def within(self, view: View, scope: Scope) -> Mask:
        """Which rows the scope holds. Not to be written to: the last few are kept."""
        asked = scope, self._of_session(scope.session_id)
        changes = self._changes
        kept = self._masked.get(asked)
        if kept is not None and kept[0] == changes and len(kept[1]) == len(view.keys):
            return kept[1]
        mask = self._mask(view, *asked)
        if len(self._masked) >= _MASKS_KEPT:
            self._masked = {}
        self._masked[asked] = (changes, mask)
        return mask

    def _of_session(self, session_id: str) -> tuple[int, ...]:
        """The keys of a session, as the log has it: a memory may belong to several, and leave one."""
        return tuple(self._log.keys(Scope(session_id=session_id)) or ()) if session_id else ()

    def _mask(self, view: View, scope: Scope, of_session: Sequence[int]) -> Mask:
        mask = view.alive.copy()
        if scope.session_id:
            own = np.zeros(len(mask), dtype=np.bool_)
            own[view.rows_of(np.asarray(of_session, dtype=np.int64))] = True
            mask &= own
        for column, wanted, keep in (
            ("project", scope.projects, True),
            ("project", scope.not_projects, False),
            ("member", scope.members, True),
            ("member", scope.not_members, False),
            ("machine", scope.machines, True),
        ):
            if wanted:
                numbers = [self.number(column, name) for name in wanted]
                mask &= np.isin(getattr(view, column), numbers) == keep
        for column, name in (
            ("host", scope.host),
            ("role", scope.role),
        ):
            if name:
                mask &= getattr(view, column) == self.number(column, name)
        if scope.agent:
            mask &= (view.agent_id == self.number("agent_id", scope.agent)) | (
                view.agent_name == self.number("agent_name", scope.agent)
            )
        if scope.since is not None:
            mask &= view.at >= scope.since
        if scope.until is not None:
            mask &= view.at < scope.until
        if scope.known_at is not None:
            mask &= view.at <= scope.known_at
        return mask

    def _add(self, page: EntryPage) -> None:
        with self._lock:
            start, end = self._used, self._used + len(page)
            self._make_room(end)
            columns = self._columns
            columns["alive"][start:end] = True
            for name in ("keys", "at", "length", "facts"):
                columns[name][start:end] = getattr(page, name)
            for name, said in page.named.items():
                columns[name][start:end] = self._numbered(name, said)
            self._link_all(start, end)
            self._used = end
            self._last = int(page.keys[-1])
            self._changes += len(page)

    def _view(self) -> View:
        columns: dict[str, NDArray[Any]] = self._columns
        return View(
            **{name: column[: self._used] for name, column in columns.items()},
            no_session=self.number("session", ""),
            lost=self._lost,
        )

    def _numbered(self, column: str, said: Names) -> "Numbers | int":
        """The numbers of names; one that none had before gets the next."""
        known = self._numbers[column]
        own = [known.setdefault(name, len(known)) for name in said.known]
        if said.numbers is None:
            return own[0]
        numbers: Numbers = np.array(own, np.int32)[said.numbers]
        return numbers

    def _link_all(self, start: int, end: int) -> None:
        """Put each row where it belongs in its session: nearly always at the end."""
        columns = self._columns
        before, after, head = (columns[name] for name in ("before", "after", "head"))
        before[start:end] = after[start:end] = NOBODY
        head[start:end] = np.arange(start, end)
        # The rows of each session side by side, in the order of arrival. Memories without a session
        # are no conversation.
        session = columns["session"][start:end]
        rows = start + np.argsort(session, kind="stable")
        rows = rows[self._conversed(rows)]
        if not rows.size:
            return
        own = columns["session"][rows]
        first = np.append(True, own[1:] != own[:-1])
        left = np.append(NOBODY, rows[:-1])
        left[first] = [self._last_of.get(one, NOBODY) for one in own[first].tolist()]
        linked = left != NOBODY
        if (linked & (columns["at"][left] > columns["at"][rows])).any():
            self._link_each(start, end)
            return
        before[rows] = left
        after[left[linked]] = rows[linked]
        last = np.append(first[1:], True)
        self._last_of.update(zip(own[last].tolist(), rows[last].tolist(), strict=True))
        # The head is that of the turn before, up to one that begins an exchange.
        prompts = columns["role"][rows] == self._numbers["role"].get(_PROMPT, NOBODY)
        begins = ~linked | (prompts & ~having(columns["facts"][rows], Fact.WITHIN))
        heads = np.where(begins, rows, head[left])
        known = np.where(first | begins, np.arange(len(rows)), 0)
        head[rows] = heads[np.maximum.accumulate(known)]

    def _link_each(self, start: int, end: int) -> None:
        """Some were said before others that came earlier: each by itself."""
        for row in np.flatnonzero(self._conversed(np.arange(start, end))).tolist():
            self._link(start + row)

    def _conversed(self, rows: NDArray[np.int64]) -> Mask:
        """Which rows are turns of a conversation: of a session, and no summary of one."""
        session, role = self._columns["session"][rows], self._columns["role"][rows]
        alone = self._numbers["session"].get("", NOBODY)
        conversed: Mask = (session != alone) & (role != self._numbers["role"].get(SUMMARY, NOBODY))
        return conversed

    def _link(self, row: int) -> None:
        """Put a row of a session between those that were said before and after it."""
        columns = self._columns
        before, after, at = columns["before"], columns["after"], columns["at"]
        session = int(columns["session"][row])
        left, right = self._last_of.get(session, NOBODY), NOBODY
        while left != NOBODY and at[left] > at[row]:
            left, right = int(before[left]), left
        before[row], after[row] = left, right
        if left != NOBODY:
            after[left] = row
        if right != NOBODY:
            before[right] = row
        else:
            self._last_of[session] = row
        self._lead(row)

    def _unlink(self, row: int) -> None:
        if not self._columns["alive"][row]:
            return
        before, after = self._columns["before"], self._columns["after"]
        left, right = int(before[row]), int(after[row])
        if left != NOBODY:
            after[left] = right
        if right != NOBODY:
            before[right] = left
        elif self._last_of.get(int(self._columns["session"][row])) == row:
            self._last_of[int(self._columns["session"][row])] = left
        self._columns["alive"][row] = False
        self._lead(right)
        self._changes += 1
        self._lost += 1

    def _lead(self, row: int) -> None:
        """Give the row and what follows it, up to the next prompt, the head of their exchange."""
        before, after, head = (self._columns[name] for name in ("before", "after", "head"))
        while row != NOBODY:
            left = int(before[row])
            first = row if left == NOBODY or self._begins(row) else int(head[left])
            if head[row] == first and after[row] != NOBODY and head[after[row]] == first:
                return  # and so have all that follow
            head[row] = first
            row = int(after[row])
            if row != NOBODY and self._begins(row):
                return

    def _begins(self, row: int) -> bool:
        """Whether an exchange begins with it: a prompt that is not said within another one."""
        if self._columns["role"][row] != self._numbers["role"].get(_PROMPT):
            return False
        return not int(self._columns["facts"][row]) & Fact.WITHIN

    def _make_room(self, needed: int) -> None:
        old = self._columns
        if needed <= len(old["keys"]):
            return
        # Half again, not double: the spare room counts as resident memory.
        self._columns = _blank(max(needed, len(old["keys"]) * 3 // 2))
        for name, column in old.items():
            self._columns[name][: self._used] = column[: self._used]


def _blank(capacity: int) -> dict[str, NDArray[Any]]:
    return {name: np.zeros(capacity, dtype=kind) for name, kind in _COLUMNS.items()}
