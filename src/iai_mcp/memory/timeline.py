"""Turns of a project, a session or a time, in the order they were said."""

from dataclasses import dataclass, replace

from iai_mcp.domain.memories import as_in
from iai_mcp.memory.room import ANSWER_BYTES, Room, Shown, in_portions, weight
from iai_mcp.ports.memories import Memories, Placed, Scope

DEFAULT_TURNS = 100
_EXCERPT = 4_000  # characters of a turn that no answer can hold


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
                turn = turn.shortened(_EXCERPT)
                if bytes_of_it <= ANSWER_BYTES or not room.takes(weight(turn.memory)):
                    assert last is not None  # noqa: S101 - an empty answer holds what was cut short
                    return Stretch(tuple(shown[::-1]), (last.at, last.key))
            shown.append(turn)
            last = place
        return Stretch(tuple(shown[::-1]))
