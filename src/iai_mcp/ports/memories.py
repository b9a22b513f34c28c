"""Where memories outlive the process."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from iai_mcp.domain.memories import CleanTurn, Memory
from iai_mcp.domain.ranking.use import Link
from iai_mcp.ports.upkeep import Gone


@dataclass(frozen=True, slots=True)
class Scope:
    """Which memories a question is about. Empty means all; the conditions combine by AND."""

    projects: tuple[str, ...] = ()  # keys of projects; "" is what belongs to none
    not_projects: tuple[str, ...] = ()
    session_id: str = ""
    host: str = ""
    agent: str = ""  # an agent's id or name
    role: str = ""
    since: int | None = None  # microseconds, inclusive
    until: int | None = None  # microseconds, exclusive
    known_at: int | None = None  # only what had been said by then
    said: bool = False  # only what somebody said, not what was derived in sleep
    # "circle/member"; "" is oneself, on whatever machine
    members: tuple[str, ...] = ()
    not_members: tuple[str, ...] = ()
    machines: tuple[str, ...] = ()  # on which it was said; "" is this one

    @property
    def everything(self) -> bool:
        return self == Scope()

    def opens(self, project: str) -> bool:
        """Whether whoever asks may look into that project at all."""
        return project not in self.not_projects


@dataclass(frozen=True, slots=True)
class Stored:
    """What became of one turn."""

    status: str  # "inserted", "duplicate" or "forgotten"
    id: str
    key: int | None


@dataclass(frozen=True, slots=True)
class WordHit:
    """A memory found by its words. `strength` is larger for better; it is not bounded."""

    key: int
    strength: float


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a memory stands in time and how many bytes its words have, without the words."""

    key: int
    at: int  # microseconds
    bytes: int


class Entry(NamedTuple):
    """What recall asks of every memory: narrow, so that all of them fit into memory."""

    key: int
    at: int  # microseconds
    length: int  # in words
    facts: int  # see `domain.traits.Fact`
    session: str
    project: str
    speaker: str
    role: str
    host: str
    agent_id: str
    agent_name: str
    member: str = ""  # who told it, as `Scope` names members
    machine: str = ""


# What of an entry is a name. Few memories have one that no other has.
NAMED = Entry._fields[4:]


class Names(NamedTuple):
    """A column of names: each of them once, as they first occur, and which of them every row has."""

    known: tuple[str, ...]
    numbers: NDArray[np.int32] | None  # None where all have the first

    @classmethod
    def of(cls, said: Sequence[str]) -> "Names":
        if said and said.count(said[0]) == len(said):  # as is nearly always so
            return cls((said[0],), None)
        places = {name: place for place, name in enumerate(dict.fromkeys(said))}
        return cls(tuple(places), np.fromiter(map(places.__getitem__, said), np.int32, len(said)))


@dataclass(frozen=True, slots=True)
class EntryPage:
    """Entries in columns: an object for each of a million takes seconds."""

    keys: NDArray[np.int64]
    at: NDArray[np.int64]
    length: NDArray[np.int32]
    facts: NDArray[np.uint16]
    named: Mapping[str, Names]  # by `NAMED`

    @classmethod
    def of(cls, entries: Sequence[Sequence[object]]) -> "EntryPage":
        """From entries, or tuples of the same."""
        said = list(zip(*entries, strict=True)) if entries else [()] * len(Entry._fields)
        return cls(
            np.array(said[0], np.int64),
            np.array(said[1], np.int64),
            np.array(said[2], np.int32),
            np.array(said[3], np.uint16),
            {name: Names.of(said[4 + place]) for place, name in enumerate(NAMED)},
        )

    def __len__(self) -> int:
        return len(self.keys)

    def __iter__(self) -> Iterator[Entry]:
        columns = [one.tolist() for one in (self.keys, self.at, self.length, self.facts)]
        for known, numbers in (self.named[name] for name in NAMED):
            own = np.zeros(len(self), np.int32) if numbers is None else numbers
            columns.append([known[number] for number in own.tolist()])
        yield from map(Entry._make, zip(*columns, strict=True))

    def part(self, after: int, limit: int) -> "EntryPage":
        """At most so many behind that key. What is left out leaves its names behind."""
        start = int(np.searchsorted(self.keys, after, side="right"))
        own = slice(start, start + limit)
        if own.start == 0 and limit >= len(self):
            return self
        return EntryPage(
            self.keys[own],
            self.at[own],
            self.length[own],
            self.facts[own],
            {
                name: Names(one.known, None if one.numbers is None else one.numbers[own])
                for name, one in self.named.items()
            },
        )


class Renewed(NamedTuple):
    """What was derived anew from a memory's text."""

    key: int
    length: int
    facts: int


@dataclass(frozen=True, slots=True)
class Unembedded:
    """A memory as embedding looks at it."""

    key: int
    text: str
    role: str
    wishes: bool  # whether it states something wished for good
    came: bool = False  # from another device, perhaps with a vector


@dataclass(frozen=True, slots=True)
class Carried:
    """What an imported memory had where it comes from, beside its words."""

    key: int
    pinned: bool
    valid_to: int | None
    supersedes: tuple[str, ...]  # public ids


DISPUTES = "disputes"  # the kind of a link: an agent contradicts what it may not supersede


class Memories(Protocol):
    """The store as the use cases see it. Every call is safe from any thread.

    Each method may raise `StoreError` or `IoFailed` with a sentence for people.
    """

    @property
    def salt(self) -> bytes:
        """The store's own secret that keeps identities from telling anything."""
        ...

    def add(self, turns: Sequence[CleanTurn]) -> list[Stored]:
        """Store all turns durably in one transaction, each at most once, in order.

        A turn that is stored already belongs to this session, too, from then on. A turn whose identity was forgotten is not brought back.
        """
        ...

    def get(self, keys: Sequence[int], longest: int | None = None) -> list[Memory]:
        """The memories that exist among `keys`, in the order asked.

        With `longest` only the first so many characters of each text are read.
        """
        ...

    def find(self, ids: Sequence[str], longest: int | None = None) -> list[Memory]:
        """The memories that exist among the public `ids`, in the order asked; `longest` as in `get`."""
        ...

    def keys_of(self, ids: Sequence[str]) -> list[int]:
        """The keys of the memories that exist among the public `ids`, in the order asked."""
        ...

    def ids_beginning(self, digits: str, limit: int) -> list[str]:
        """Public ids, at most `limit`, that begin with these hexadecimal digits; ids of copies that were
        folded into another memory count too."""
        ...

    def ids_of(self, keys: Sequence[int]) -> list[str]:
        """The public ids of the memories that exist among `keys`, in the order asked."""
        ...

    def timeline(self, scope: Scope, limit: int) -> list[Memory]:
        """The newest `limit` of the scope, oldest first; equal times in order of arrival."""
        ...

    def newest(
        self, scope: Scope, limit: int, before: tuple[int, int] | None = None
    ) -> list[Placed]:
        """Where the newest of the scope stand, newest first; only those before (time, key)."""
        ...

    def notes(self, scope: Scope, limit: int) -> list[Memory]:
        """What somebody marked of the scope, newest first: pinned it, noted it by hand outside of any
        session, or put it in the place of something else."""
        ...

    def arrived(self, after: int, limit: int) -> list[Placed]:
        """Where the next memories that were said stand, in order of arrival, behind that key."""
        ...

    def containing(self, words: str, scope: Scope) -> list[int]:
        """The keys of all memories of the scope with these words in their text, or in what was noted of
        what they answer: whole, in any case."""
        ...

    def neighbours(
        self, memory: Memory, count: int, longest: int | None = None
    ) -> tuple[list[Memory], list[Memory]]:
        """Up to `count` turns before and after it in its session, each in reading order.

        `longest` as in `get`.
        """
        ...

    def keys(self, scope: Scope) -> Sequence[int] | None:
        """All keys of the scope, ascending; None when the scope is everything."""
        ...

    def by_words(self, terms: Sequence[str], scope: Scope, limit: int) -> list[WordHit]:
        """Memories with any of the terms, best first."""
        ...

    def supersede(self, old: Memory, new: CleanTurn, at: int) -> Stored:
        """Store `new` and mark `old` as no longer valid from `at` on, in one transaction."""
        ...

    def dispute(self, old: Memory, new: CleanTurn, at: int) -> Stored:
        """Store `new` with a link to `old`, which it contradicts; `old` holds as before.

        Raises:
            NotFound: `old` was forgotten.
        """
        ...

    def reinstate(self, key: int) -> None:
        """Let a memory hold again that another superseded."""
        ...

    def unforget(self, identities: Sequence[bytes]) -> None:
        """Remove tombstones, so that these turns can be captured again."""
        ...

    def session_projects(self, session: str) -> frozenset[str]:
        """The projects in which something was said or done in a session; "" is for no project."""
        ...

    def link(self, pairs: Iterable[tuple[int, int]], kind: str, step: float, at: int) -> int:
        """Strengthen the links between the pairs, to one at most; how many there were."""
        ...

    def links(self, keys: Sequence[int], kind: str) -> list[Link]:
        """The links of that kind that any of `keys` has, strongest first, some hundred at most."""
        ...

    def forget(
        self,
        keys: Sequence[int],
        at: int,
        *,
        purge: bool = True,
        only_here: bool = False,
        hold: str = "",
    ) -> list[str]:
        """Remove text, vectors and index entries for good, leave tombstones; the ids that went.

        `hold` names who forgets ("agent", "retention") where a person may bring it back: a copy stays
        out of every index, circles are told when that is removed, and backups stay as they are till then.

        What was derived from them goes too. Without `purge` the rest of the words index is left to
        be rewritten later, for callers that forget page by page. Whom they are shared with forgets
        them as well, unless `only_here`.
        """
        ...

    def leave(self, keys: Sequence[int], session: str) -> list[int]:
        """Take memories out of one of their sessions for good; those that belong to others, too."""
        ...

    def in_other_sessions(self, keys: Sequence[int], session: str) -> list[int]:
        """Which of `keys` belong to a session beside that one, ascending."""
        ...

    def lineage(self, session: str) -> frozenset[str]:
        """The session and those whose turns it repeats, because it was forked from them."""
        ...

    def aliases(self, keys: Sequence[int]) -> dict[int, list[str]]:
        """The other public ids that lead to each of `keys`, for those that have any."""
        ...

    def purge(self) -> None:
        """Rewrite the words index without the entries of what was forgotten."""
        ...

    def unreached(self) -> list[Gone]:
        """What was forgotten and may still stand in copies of the store."""
        ...

    def unreached_count(self) -> int:
        """How many those are, counted up to a thousand."""
        ...

    def scrub(self) -> None:
        """Leave nothing of what was forgotten in the words index or in the store's log.

        Raises:
            Busy: somebody reads what is in the log; try again.
        """
        ...

    def reached(self, gone: Sequence[Gone]) -> None:
        """No copy holds these any more."""
        ...

    def after(self, key: int, limit: int) -> list[Memory]:
        """The next `limit` memories that were said, in order of arrival."""
        ...

    def pin(self, key: int, pinned: bool) -> None:
        """Keep a memory whatever retention says, or leave it to retention again."""
        ...

    def supersedes(self, keys: Sequence[int]) -> dict[int, list[str]]:
        """The public ids of what each of `keys` supersedes, for those that do."""
        ...

    def carry_over(self, carried: Sequence[Carried]) -> None:
        """Give imported memories what they had beside their words, in one transaction."""
        ...

    def adopt_salt(self, salt: bytes) -> None:
        """Take over another store's salt; only an empty store may."""
        ...

    def latest(self) -> int:
        """The key of the latest memory that was said and is there; 0 for none."""
        ...

    def entries(self, after: int, limit: int) -> EntryPage:
        """The next narrow rows of memories that were said, behind that key, in order of arrival; none
        at the end.

        Keys ascend in the order in which memories become visible, whoever stored them: behind what
        was read nothing earlier ever appears.
        """
        ...

    def mend(self, limit: int) -> tuple[int, Sequence[int]]:
        """Make those one that an older version stored for each session which repeats them.

        How many memories were looked at, none when all were; and the keys that are gone.
        """
        ...

    def renew(self, limit: int) -> list[Renewed]:
        """Derive again what an earlier version derived from the oldest such memories, words included."""
        ...

    def pending(self, after: int = 0) -> list[int]:
        """The keys behind that one whose vectors are not all made, in the order in which they are wanted:
        of projects in which anything was said in the last week first, and the latest first.
        """
        ...

    def unembedded(self, keys: Sequence[int]) -> Iterator[Unembedded]:
        """These memories, but for what was forgotten.

        Each is read when it is asked for, and once: it may be megabytes long.
        """
        ...

    def said_before(self, key: int) -> Unembedded | None:
        """What was said before that memory in its session."""
        ...

    def pending_count(self) -> int: ...

    def count(self) -> int:
        """How many memories were said; what was derived in sleep comes on top."""
        ...

    def members(self, *, untrusted: bool = False) -> list[str]:
        """Who told any of the memories beside oneself, as scopes name them; or only those whose words
        agents may not be told unasked.
        """
        ...

    def private_projects(self) -> list[str]:
        """The keys of projects whose memories stay among themselves."""
        ...

    def set_private(self, project: str, private: bool) -> None: ...

    def withdraw(self, projects: Sequence[str]) -> None:
        """Let the places of circles hold no longer what was said in these projects."""
        ...

    def projects(self) -> list[str]:
        """The keys of all projects that anything was said in."""
        ...
