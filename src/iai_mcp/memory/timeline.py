"""What was said, in the order it was said; and one memory whole."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from iai_mcp.domain.cue_matching import ANYTHING
from iai_mcp.domain.memories import Memory, as_in
from iai_mcp.memory.room import ANSWER_BYTES, Room, Shown, in_portions, weight
from iai_mcp.memory.scoping import Access, Caller, unknown
from iai_mcp.ports.memories import Memories, Placed, Scope

DEFAULT_TURNS = 100
_EXCERPT = 4_000  # characters of a turn that no answer can hold
_PIECE = 1_000_000  # characters; in the worst of letters a fifth of a line carries as many


@dataclass(frozen=True, slots=True)
class Stretch:
    """Turns, oldest first. `more`: the time and key of the oldest, where older ones did not fit."""

    turns: tuple[Shown, ...]
    more: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Timeline:
    """The newest turns of a project, a session or a time, as many as an answer holds."""

    memories: Memories

    def __call__(
        self, scope: Scope, limit: int = DEFAULT_TURNS, before: tuple[int, int] | None = None
    ) -> Stretch:
        """`before` is what an answer gave as `more`."""
        scope = replace(scope, said=True)
        placed = self.memories.newest(scope, limit, before)
        room = Room()
        shown: list[Shown] = []
        last: Placed | None = None
        for place, memory in in_portions(self.memories, placed):
            turn, bytes_of_it = Shown(as_in(memory, scope.session_id)), weight(memory)
            if not room.takes(bytes_of_it):
                turn = turn.cut(ANYTHING, _EXCERPT)
                if bytes_of_it <= ANSWER_BYTES or not room.takes(weight(turn.memory)):
                    assert last is not None  # noqa: S101 - an empty answer holds what was cut short
                    return Stretch(tuple(shown[::-1]), (last.at, last.key))
            shown.append(turn)
            last = place
        return Stretch(tuple(shown[::-1]))


@dataclass(frozen=True, slots=True)
class Opened:
    """One memory, or a piece of a very long one, with the turns around it."""

    memory: Memory  # its text is the piece
    characters: int  # of the whole text
    next: int | None  # where the piece after this one begins, if there is one
    before: tuple[Shown, ...]
    after: tuple[Shown, ...]


@dataclass(frozen=True, slots=True)
class Show:
    """One memory whole, with the turns around it; a very long one in pieces."""

    memories: Memories
    access: Access

    def __call__(
        self, public_id: str, project: str, caller: Caller, offset: int = 0, around: int = 0
    ) -> Opened:
        """The piece that begins at `offset`, in characters.

        Raises:
            NotFound: there is no such memory, or it is closed to the caller.
        """
        found, view = self.memories.find([public_id]), self.access.view(caller, project)
        if not found or not view.opens(found[0].provenance.project):
            raise unknown(public_id)
        whole, room = found[0], Room()
        piece, following = replace(whole, text=whole.text[offset:]), None
        if not room.takes(weight(piece)):
            following = offset + _PIECE
            piece = replace(whole, text=whole.text[offset:following])
            room.takes(weight(piece))
        sides = self.memories.neighbours(whole, around, 2 * _EXCERPT)
        before, after = (_fitting(side, view, room) for side in sides)
        return Opened(piece, len(whole.text), following, before, after)


def _fitting(side: Sequence[Memory], view: Scope, room: Room) -> tuple[Shown, ...]:
    turns = (Shown(m).cut(ANYTHING, _EXCERPT) for m in side if view.opens(m.provenance.project))
    return tuple(turn for turn in turns if room.takes(weight(turn.memory)))
