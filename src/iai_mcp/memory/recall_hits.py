"""The answer to a question as hits, for programs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from iai_mcp.domain.evidence_lines import one_line
from iai_mcp.domain.memories import Memory, as_in
from iai_mcp.memory.question import Answer, Around, Hit, Line, SessionHits
from iai_mcp.memory.recall_search import (
    DEFAULT_BUDGET,
    LINES,
    LINES_SHARE,
    LISTED_COPIES,
    READ_FOR_A_LINE,
    READ_OF_EACH,
    Search,
    ShownTurn,
    line_of,
    text_bytes,
)
from iai_mcp.memory.room import Shown
from iai_mcp.recall.reasons import told
from iai_mcp.recall.render import joined
from iai_mcp.recall.resolve import Entry

_AROUND_SESSION = 80  # bytes of a session's keys and score in an answer
_SIDE = 600  # characters of a neighbouring turn


@dataclass(frozen=True, slots=True)
class HitSearch(Search):
    """Turns with their passages, each with its keys, and further results as lines."""

    def rendered(
        self,
        first: Sequence[Entry],
        rest: Sequence[Entry],
        superseded: Sequence[Entry],
        close: bool,
        room: int,
    ) -> Answer:
        turns = self._turns(first)
        around = self._around_hit
        drafts = [self._hit(first[one.turn.entry], one.memory) for one in turns]
        old = tuple(self._old(entry) for entry in superseded[:LISTED_COPIES])
        left = room - sum(around(hit) + text_bytes(hit.memory.text) for hit in old) - 200
        lines_room = 0 if self.asked.budget < DEFAULT_BUDGET // 2 else int(room * LINES_SHARE / 2)
        share = 2 if self.asked.context else 1
        if self.asked.full:
            hits = self._whole(first, turns, drafts, left // share, around)
        else:
            hits = self._cut(first, turns, drafts, (left - lines_room) // share, around)
        hits = hits[: self.asked.limit]
        if self.asked.context:
            hits, taken = self._with_neighbours(hits, left // 2)
            left -= taken
        used = {hit.memory.key for hit in hits}
        shown = {entry.main.key for entry in first if used & set(entry.keys)}
        left -= sum(around(hit) + text_bytes(hit.memory.text) for hit in hits)
        listed = self._lines([e for e in (*first, *rest) if e.main.key not in shown][:LINES])
        more: list[Line] = []
        for one in listed:
            line = Line(one.main.id, line_of(one))
            left -= text_bytes(line.line) + len(line.id) + 24
            if left < 0:
                break
            more.append(line)
        return Answer(
            hits=tuple(hits),
            superseded=old,
            close=close,
            sessions=_by_session(hits) if self.asked.by_session else None,
            more=tuple(more),
        )

    def _around_hit(self, hit: Hit) -> int:
        """The bytes that a hit takes besides its text."""
        taken = self.asked.around(hit) if self.asked.around else 0
        if not self.asked.by_session:
            return taken
        whence = hit.memory.provenance
        listed = len(hit.memory.id) + text_bytes(whence.session_id) + text_bytes(whence.project)
        return taken + listed + _AROUND_SESSION

    def _cut(
        self,
        first: Sequence[Entry],
        turns: Sequence["ShownTurn"],
        drafts: Sequence[Hit],
        room: int,
        around: Callable[[Hit], int],
    ) -> list[Hit]:
        """Hits with the passages that fit. The turns of one result stand together, the one with the best
        passage first."""
        chosen = self._chosen(
            first,
            turns,
            room,
            lambda turn, span: text_bytes(turns[turn].turn.text[slice(*span)]) + 5,
            lambda turn, _: around(drafts[turn]),
        )
        hits = []
        for turn in sorted(chosen, key=lambda turn: turns[turn].turn.entry):
            memory = drafts[turn].memory
            text = joined(memory.text, chosen[turn])
            whole = text.strip() == memory.text.strip() and len(memory.text) < READ_OF_EACH
            shown = Shown(memory) if whole else Shown(replace(memory, text=text), len(memory.text))
            hits.append(replace(drafts[turn], shown=shown))
        return hits

    def _whole(
        self,
        first: Sequence[Entry],
        turns: Sequence["ShownTurn"],
        drafts: Sequence[Hit],
        room: int,
        around: Callable[[Hit], int],
    ) -> list[Hit]:
        """Whole turns: of each result the one that speaks for it, while they fit; one in any case."""
        by_key = {one.memory.key: place for place, one in enumerate(turns)}
        hits: list[Hit] = []
        longer: Hit | None = None
        for entry in first:
            place = by_key.get(entry.main.key)
            if place is None:
                continue
            hit = drafts[place]
            if len(hit.memory.text) >= READ_OF_EACH:
                whole = self.sources.memories.get([hit.memory.key])
                hit = (
                    replace(hit, shown=Shown(as_in(whole[0], self.scope.session_id)))
                    if whole
                    else hit
                )
            cost = around(hit) + text_bytes(hit.memory.text)
            if cost > room:
                longer = longer or hit
                continue
            room -= cost
            hits.append(hit)
        return hits or ([longer] if longer else [])

    def _hit(self, entry: Entry, memory: Memory) -> Hit:
        as_of = self.asked.about.as_of
        if as_of is not None and memory.valid_to is not None and memory.valid_to > as_of:
            memory = replace(memory, valid_to=None)  # at that time it still held
        is_main = memory.key == entry.main.key
        same, also = self._also(entry) if is_main else ((), ())
        return Hit(
            shown=Shown(memory),
            score=entry.score,
            reason=entry.reason or told(entry.parts),
            parts=entry.parts if self.asked.explain else None,
            times=1 + len(same),
            same=same,
            also=also,
            request=self._request(entry, memory),
        )

    def _request(self, entry: Entry, memory: Memory) -> str:
        """The request that a reply answers, shortened."""
        if memory.role != "assistant" or len(entry.keys) < 2:
            return ""
        head = self._read(entry.keys[:1], READ_FOR_A_LINE).get(entry.keys[0])
        if head is None or head.role == "assistant" or not self._opens(head):
            return ""
        return one_line(head.text, 160)

    def _old(self, entry: Entry) -> Hit:
        text = one_line(entry.main.text, 160)
        short = len(text) < len(entry.main.text)
        memory = replace(entry.main, text=text) if short else entry.main
        return Hit(
            shown=Shown(memory, len(entry.main.text) if short else None),
            score=entry.score,
            reason=told(entry.parts),
            parts=entry.parts if self.asked.explain else None,
        )

    def _with_neighbours(self, hits: Sequence[Hit], room: int) -> tuple[list[Hit], int]:
        """The hits with the turns around them, as far as they fit, and the bytes that these take."""
        left = room
        around = self.asked.around or (lambda _: 0)
        with_sides = []
        for hit in hits:
            sides = self.sources.memories.neighbours(hit.memory, self.asked.context, _SIDE)
            kept: list[list[Shown]] = [[], []]
            for side, turns in zip(kept, (sides[0][::-1], sides[1]), strict=True):
                for memory in turns:
                    if not self.scope.opens(memory.provenance.project):
                        continue
                    cost = around(Hit(shown=Shown(memory), score=0.0, reason="")) + text_bytes(
                        memory.text
                    )
                    if cost <= left:
                        left -= cost
                        side.append(
                            Shown(memory, len(memory.text) if len(memory.text) >= _SIDE else None)
                        )
            with_sides.append(replace(hit, around=Around(tuple(kept[0][::-1]), tuple(kept[1]))))
        return with_sides, room - left


def _by_session(hits: Sequence[Hit]) -> tuple[SessionHits, ...]:
    """The sessions of the hits, best first, with their hits in the order said."""
    groups: dict[str, list[Hit]] = {}
    for hit in hits:
        groups.setdefault(hit.memory.provenance.session_id, []).append(hit)
    return tuple(
        SessionHits(
            session_id=session,
            project=group[0].memory.provenance.project,
            score=group[0].score,
            hits=tuple(sorted(group, key=lambda hit: hit.memory.at.text)),
        )
        for session, group in groups.items()
    )
