"""Memories as documents: out a page at a time, and in again exactly once."""

from collections.abc import Sequence
from dataclasses import dataclass

from iai_mcp.domain.instants import from_micros
from iai_mcp.domain.memories import CleanTurn, Memory, NewTurn, clean
from iai_mcp.memory.capture import Captured, placed
from iai_mcp.memory.room import Room, in_portions, weight
from iai_mcp.memory.scoping import unknown
from iai_mcp.ports.memories import Carried, Memories, Scope
from iai_mcp.ports.surroundings import Projects, Redactor

FORMAT = 1
_BYTES_OF_AN_ID = 42


@dataclass(frozen=True, slots=True)
class Exported:
    """A memory with the ids of what it supersedes, and its own other ones."""

    memory: Memory
    supersedes: tuple[str, ...]
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ExportPage:
    """Memories in order of arrival. `next`: the key behind which the next page begins, if any."""

    salt: bytes
    records: tuple[Exported, ...]
    next: int | None
    large: str | None = None  # the id of one that no answer holds: it stands alone


@dataclass(frozen=True, slots=True)
class Arrival:
    """A memory from another store, as it was exported there."""

    identity: bytes
    turn: NewTurn
    pinned: bool = False
    valid_to: int | None = None  # microseconds
    supersedes: tuple[str, ...] = ()
    aliases: tuple[bytes, ...] = ()
    sessions: tuple[str, ...] = ()  # beside the turn's own


@dataclass(frozen=True, slots=True)
class Transfer:
    """Out of this store, and into it."""

    memories: Memories
    projects: Projects
    redact: Redactor

    def page(self, after: int, limit: int, view: Scope) -> ExportPage:
        """The next memories behind that key, as many as an answer holds and the view opens."""
        found = self.memories.arrived(after, limit)
        keys = [one.key for one in found]
        older, others = self.memories.supersedes(keys), self.memories.aliases(keys)
        room = Room()
        records: list[tuple[int, Exported]] = []
        last = found[-1].key if len(found) == limit else None
        large: str | None = None
        for place, memory in in_portions(self.memories, found):
            if not view.opens(memory.provenance.project):
                continue
            supersedes = tuple(older.get(memory.key, ()))
            aliases = tuple(others.get(memory.key, ()))
            ids = len(supersedes) + len(aliases)
            if not room.takes(weight(memory) + _BYTES_OF_AN_ID * ids):
                last = records[-1][0] if records else place.key
                large = None if records else memory.id
                break
            records.append((place.key, Exported(memory, supersedes, aliases)))
        return ExportPage(self.memories.salt, tuple(one for _, one in records), last, large)

    def one(self, public_id: str, view: Scope) -> Exported:
        """
        Raises:
            NotFound: there is none that the view opens.
        """
        found = self.memories.find([public_id])
        if not found or not view.opens(found[0].provenance.project):
            raise unknown(public_id)
        key = found[0].key
        older, others = self.memories.supersedes([key]), self.memories.aliases([key])
        return Exported(found[0], tuple(older.get(key, ())), tuple(others.get(key, ())))

    def take_in(self, arrivals: Sequence[Arrival], salt: bytes = b"") -> Captured:
        """Store exported memories under the ids they had; those that are here already stay as they are.

        An empty store takes over the exporting store's salt, so that what its hooks capture again
        later is recognised as the same turns.
        """
        if salt and self.memories.count() == 0:
            self.memories.adopt_salt(salt)
        outcomes = self.memories.add([self._clean(one) for one in arrivals])
        self.memories.carry_over(
            [
                Carried(outcome.key, one.pinned, one.valid_to, one.supersedes)
                for one, outcome in zip(arrivals, outcomes, strict=True)
                if outcome.status == "inserted" and outcome.key is not None
            ]
        )
        statuses = [outcome.status for outcome in outcomes]
        return Captured(
            inserted=statuses.count("inserted"),
            duplicates=statuses.count("duplicate"),
            skipped=statuses.count("forgotten"),
        )

    def _clean(self, one: Arrival) -> CleanTurn:
        project = self.projects.key_of(one.turn.project, "")
        names = (one.identity, *one.aliases)
        turn = placed(one.turn, names, project, from_micros(0), one.sessions)
        # What this program exported is clean; what others wrote in its form may not be.
        return clean(turn, self.redact(turn.text).text, lambda text: self.redact(text).text)
