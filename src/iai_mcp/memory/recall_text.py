"""The answer to a question as one text, as models and people read it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from iai_mcp.domain.memories import Memory
from iai_mcp.memory.question import Answer, Hit, Line
from iai_mcp.memory.recall_search import (
    DEFAULT_BUDGET,
    LINES,
    LINES_SHARE,
    MOST_RESULTS,
    READ_FOR_A_LINE,
    RESULTS,
    Search,
    line_of,
)
from iai_mcp.memory.room import Shown
from iai_mcp.ports.memories import DISPUTES, Scope
from iai_mcp.recall import render
from iai_mcp.recall.passages import Span
from iai_mcp.recall.render import Listed, joined, next_message
from iai_mcp.recall.resolve import Entry

_LABEL = 12  # bytes that may come before a turn
_NAMED = 0.005  # a smaller part of a score is left out


@dataclass(frozen=True, slots=True)
class TextSearch(Search):
    """Results with passages, then one line each."""

    def results(self) -> int:
        share = max(1.0, self.asked.budget / DEFAULT_BUDGET)
        return min(self.asked.limit, int(RESULTS * share), MOST_RESULTS)

    def rendered(
        self,
        first: Sequence[Entry],
        rest: Sequence[Entry],
        superseded: Sequence[Entry],
        close: bool,
        room: int,
    ) -> Answer:
        lines = self._lines([*first, *rest, *superseded])
        by_key = {
            entry.main.key: one
            for entry, one in zip([*first, *rest, *superseded], lines, strict=True)
        }
        nexts = self._nexts(first) if close else {}
        work = self._work(first) if self.asked.work else []
        shown: list[render.Shown] = []
        if close:
            taken = sum(len(one.encode()) + 1 for one in work)
            shown = self._shown(first, by_key, nexts, room, taken)
        used = {one.listed.main.key for one in shown}
        listed = [one for key, one in by_key.items() if key not in used][:LINES]
        text, kept = render.answer_text(
            self.asked.cue,
            shown,
            listed,
            close=close,
            rows=self.found.rows,
            budget=room,
            work=work,
        )
        more = tuple(Line(one.main.id, line_of(one)) for one in kept)
        hits = tuple(Hit(shown=Shown(one.listed.main), score=0.0, reason="") for one in shown)
        return Answer(hits=hits, close=close, more=more, text=text)

    def _shown(
        self,
        first: Sequence[Entry],
        listed: Mapping[int, Listed],
        nexts: Mapping[int, str],
        room: int,
        taken: int,
    ) -> list[render.Shown]:
        turns = self._turns(first)
        disputed = self._disputes([one.memory for one in turns])

        def opening(turn: int, first_of_entry: bool) -> int:
            if not first_of_entry:
                return _LABEL
            entry = first[turns[turn].turn.entry]
            empty = render.Shown(
                listed[entry.main.key],
                () if turns[turn].memory.role != "user" else ((turns[turn].memory, ""),),
                nexts.get(entry.main.key, ""),
            )
            ids = {one.main.id: "0" * 8 for one in listed.values()}
            ids |= {one.replaced_by: "0" * 8 for one in listed.values()}
            return len(render.block(empty, ids, "").encode()) + _LABEL

        def size(turn: int, span: Span) -> int:
            return len(turns[turn].turn.text[slice(*span)].encode()) + len(render.BETWEEN.encode())

        budget = int(room * (1 - LINES_SHARE)) - taken - 120
        chosen = self._chosen(first, turns, budget, size, opening)
        shown: list[render.Shown] = []
        for number, entry in enumerate(first):
            own = [
                (turns[turn].memory, joined(turns[turn].turn.text, chosen[turn], "\n… "))
                for turn in sorted(chosen)
                if turns[turn].turn.entry == number
            ]
            if own:
                shown.append(
                    render.Shown(
                        listed[entry.main.key],
                        tuple(own),
                        nexts.get(entry.main.key, ""),
                        self._also_days(entry),
                        tuple(other for memory, _ in own for other in disputed.get(memory.key, ())),
                    )
                )
        return shown

    def _work(self, first: Sequence[Entry]) -> list[str]:
        """Lines about commands and edits that fit the question."""
        if self.sources.work is None:
            return []
        heads = self._read([entry.keys[0] for entry in first], 1)
        nexts = self._read([one.next for one in first if one.next is not None], 1)
        spans = []
        for entry in first:
            head = heads.get(entry.keys[0])
            if head is not None and len(entry.keys) > 1:
                after = nexts.get(entry.next) if entry.next is not None else None
                until = after.at.micros if after is not None else None
                session = head.provenance.session_id
                spans.append(Scope(session_id=session, since=head.at.micros, until=until))
        hits = self.sources.work(self.asked, self.scope, self.query, spans)
        return [render.work_line(hit.record) for hit in hits]

    def _nexts(self, entries: Sequence[Entry]) -> dict[int, str]:
        """The person's next message behind each result, by its main turn."""
        keys = {entry.main.key: entry.next for entry in entries if entry.next is not None}
        read = self._read(list(keys.values()), READ_FOR_A_LINE)
        return {
            main: said
            for main, key in keys.items()
            if key in read and self._opens(read[key]) and (said := next_message(read[key].text))
        }

    def _disputes(self, memories: Sequence[Memory]) -> dict[int, tuple[str, ...]]:
        """The ids of what an agent noted against these memories, and of what such a note disputes."""
        links = self.sources.memories.links([one.key for one in memories], DISPUTES)
        if not links:
            return {}
        keys = sorted({key for link in links for key in (link.a, link.b)})
        ids = {
            one.key: one.id for one in self.sources.memories.get(keys, 1)
            if self.scope.opens(one.provenance.project)
        }  # fmt: skip
        against: dict[int, tuple[str, ...]] = {}
        for link in links:
            if link.b in ids:
                against[link.a] = (*against.get(link.a, ()), ids[link.b])
        return against

    def _also_days(self, entry: Entry) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one.at.text[:10] for one in self._also(entry)[1]))


def _why(entry: Entry) -> str:
    """The parts of a score, largest first."""
    parts = sorted(entry.parts.items(), key=lambda part: -abs(part[1]))
    shown = ", ".join(f"{name} {value:+.2f}" for name, value in parts if abs(value) >= _NAMED)
    return f"score {entry.score:.2f}: {shown}"
