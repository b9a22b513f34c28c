"""One memory whole, and the exchange it belongs to: the request, all replies, and the work in between."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from iai_mcp.domain.memories import Memory
from iai_mcp.domain.work import Record
from iai_mcp.memory.room import Room, Shown, weight
from iai_mcp.memory.scoping import Access, Caller, unknown
from iai_mcp.ports.memories import Memories, Scope
from iai_mcp.ports.works import Works

_EXCERPT = 4_000  # characters of a neighbouring turn that no answer can hold
_PIECE = 1_000_000  # characters; in the worst case a fifth of a line carries as many
_MOST_WORK = 2_000  # commands and edits of one exchange
_MOST_TURNS = 2_000
_LONGEST_TURN = 1_000_000  # characters of one turn of an exchange


@dataclass(frozen=True, slots=True)
class Opened:
    """One memory, or a piece of a very long one, with the turns around it."""

    memory: Memory  # its text is the piece
    characters: int  # of the whole text
    next: int | None  # where the piece after this one begins, if there is one
    before: tuple[Shown, ...]
    after: tuple[Shown, ...]


@dataclass(frozen=True, slots=True)
class ShownExchange:
    """A request with all replies to it and what was done for it, in order of time."""

    wanted: str  # the id that was asked for
    parts: tuple[Memory | Record, ...]


@dataclass(frozen=True, slots=True)
class Show:
    """One memory whole, with the turns around it; a very long one in pieces."""

    memories: Memories
    works: Works
    access: Access
    exchanges: Callable[[int, int], list[list[int]]]  # see `Columns.exchanges`

    def __call__(
        self, public_id: str, project: str, caller: Caller, offset: int = 0, around: int = 0
    ) -> Opened:
        """The piece that begins at `offset`, in characters.

        Raises:
            NotFound: there is no such memory, or it is closed to the caller.
        """
        view = self.access.view(caller, project)
        whole, room = self._one(public_id, view), Room()
        piece, following = replace(whole, text=whole.text[offset:]), None
        if not room.takes(weight(piece)):
            following = offset + _PIECE
            piece = replace(whole, text=whole.text[offset:following])
            room.takes(weight(piece))
        sides = self.memories.neighbours(whole, around, 2 * _EXCERPT)
        before, after = (_fitting(side, view, room) for side in sides)
        return Opened(piece, len(whole.text), following, before, after)

    def exchange(
        self, public_id: str, project: str, caller: Caller, around: int = 0
    ) -> list[ShownExchange]:
        """The exchange of a turn or of a piece of work, with so many before and after it.

        Raises:
            NotFound: there is no such record, or it is closed to the caller.
        """
        view = self.access.view(caller, project)
        done = self.works.find([public_id])
        if done and view.opens(done[0].provenance.project):
            return self._of_work(done[0], view, around)
        memory = self._one(public_id, view)
        groups = self.exchanges(memory.key, around) or [[memory.key]]
        return [self._exchange(keys, memory.id, view) for keys in groups]

    def _of_work(self, record: Record, view: Scope, around: int) -> list[ShownExchange]:
        """The work itself, before it the request that it served; its exchanges where more is wanted."""
        at = Scope(session_id=record.provenance.session_id, until=record.at.micros + 1, role="user")
        asked = self.memories.timeline(at, 1) if record.provenance.session_id else []
        asked = [one for one in asked if view.opens(one.provenance.project)]
        if around and asked:
            groups = self.exchanges(asked[-1].key, around)
            return [self._exchange(keys, record.id, view) for keys in groups]
        if _request_id(record) not in {one.id for one in asked}:
            record = replace(record, turn=None)
        return [ShownExchange(record.id, (*asked, record))]

    def _exchange(self, keys: Sequence[int], wanted: str, view: Scope) -> ShownExchange:
        turns = [
            turn
            for turn in self.memories.get(keys[:_MOST_TURNS], _LONGEST_TURN)
            if view.opens(turn.provenance.project)
        ]
        work: list[Record] = []
        session = turns[0].provenance.session_id if turns else ""
        if session:
            _, after = self.memories.neighbours(turns[-1], 1, 1)
            until = after[0].at.micros if after else None
            scope = Scope(session_id=session, since=turns[0].at.micros, until=until)
            work = [
                one
                for one in self.works.newest(scope, ("command", "edit"), _MOST_WORK)[::-1]
                if view.opens(one.provenance.project)
            ]
        # The request that work served may stand in a private project: its id is not told either.
        known = {turn.id for turn in turns}
        work = [one if _request_id(one) in known else replace(one, turn=None) for one in work]
        both: list[Memory | Record] = [*turns, *work]
        parts = sorted(both, key=lambda one: (one.at.micros, isinstance(one, Record)))
        return ShownExchange(wanted, tuple(parts))

    def _one(self, public_id: str, view: Scope) -> Memory:
        found = self.memories.find([public_id])
        if not found or not view.opens(found[0].provenance.project):
            raise unknown(public_id)
        return found[0]


def _fitting(side: Sequence[Memory], view: Scope, room: Room) -> tuple[Shown, ...]:
    turns = (Shown(m).shortened(_EXCERPT) for m in side if view.opens(m.provenance.project))
    return tuple(turn for turn in turns if room.takes(weight(turn.memory)))


def _request_id(record: Record) -> str:
    return "" if record.turn is None else str(UUID(bytes=record.turn))
