"""What was said, in the order it was said; and one memory whole."""

from dataclasses import dataclass, replace

from iai_mcp.domain.errors import InvalidInput
from iai_mcp.memory.changing import one, unknown
from iai_mcp.memory.room import ANSWER_BYTES, Room, in_portions, weight_of
from iai_mcp.memory.scoping import scope_of
from iai_mcp.memory.showing import cut, record
from iai_mcp.ports.memories import Memories, Placed
from iai_mcp.ports.surroundings import Projects
from iai_mcp.protocol.params import Params

_EXCERPT = 4_000  # characters of a turn that no answer can hold
_PIECE = 1_000_000  # characters; in the worst of letters a fifth of a line carries as many
_MOST_AROUND = 20


@dataclass(frozen=True, slots=True)
class Timeline:
    """The newest turns of a project, a session or a time, oldest first, as many as an answer holds.

    `more` says where the older ones begin that did not fit: the next call's `cursor`.
    """

    memories: Memories
    projects: Projects

    def __call__(self, params: Params) -> dict[str, object]:
        limit = params.integer("limit", 100, 1, 100_000)
        scope = replace(scope_of(params, self.memories, self.projects), said=True)
        placed = self.memories.newest(scope, limit, _place(params.text("cursor", "")))
        room = Room()
        shown: list[dict[str, object]] = []
        last: Placed | None = None
        for place, memory in in_portions(self.memories, placed):
            turn = record(memory)
            if not room.takes(turn):
                cut_short = cut(turn, "", _EXCERPT)
                if weight_of(turn) <= ANSWER_BYTES or not room.takes(cut_short):
                    assert last is not None  # noqa: S101 - an empty answer holds what was cut short
                    return {"records": shown[::-1], "more": f"{last.at}.{last.key}"}
                turn = cut_short
            shown.append(turn)
            last = place
        return {"records": shown[::-1]}


def _place(cursor: str) -> tuple[int, int] | None:
    if not cursor:
        return None
    try:
        at, key = map(int, cursor.split("."))
    except ValueError as bad:
        raise InvalidInput("cursor must be what an answer gave as 'more'") from bad
    return at, key


@dataclass(frozen=True, slots=True)
class Show:
    """One memory whole, with the turns around it; a very long one in pieces.

    The piece begins at `offset`, in characters; `next` is where the one after it does.
    """

    memories: Memories
    projects: Projects

    def __call__(self, params: Params) -> dict[str, object]:
        memory = one(self.memories, params.text("id"))
        closed = scope_of(params, self.memories, self.projects).not_projects
        if memory.provenance.project in closed:
            raise unknown(memory.id)
        room = Room()
        shown = _from(record(memory), params.integer("offset", 0, 0, 1 << 40), room)
        around = params.integer("around", 0, 0, _MOST_AROUND)
        sides = self.memories.neighbours(memory, around, 2 * _EXCERPT)
        before, after = (
            [cut(record(m), "", _EXCERPT) for m in side if m.provenance.project not in closed]
            for side in sides
        )
        return {
            "record": shown,
            "before": [turn for turn in before if room.takes(turn)],
            "after": [turn for turn in after if room.takes(turn)],
        }


def _from(shown: dict[str, object], offset: int, room: Room) -> dict[str, object]:
    text = str(shown["text"])
    shown = {**shown, "text": text[offset:], "characters": len(text)}
    if room.takes(shown):
        return shown
    end = offset + _PIECE
    shown = {**shown, "text": text[offset:end], "next": end}
    room.takes(shown)
    return shown
