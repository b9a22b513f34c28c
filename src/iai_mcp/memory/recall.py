"""Find what this machine knows about a cue: reads the store between the stages of the recall pipeline."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np

from iai_mcp.domain.errors import InvalidInput, PlaceSilent
from iai_mcp.domain.evidence_lines import one_line
from iai_mcp.domain.knobs import Knobs
from iai_mcp.domain.memories import Memory, as_in
from iai_mcp.engine.vectors import MeaningLeg, Vectors
from iai_mcp.memory.question import Answer, Around, Hit, Line, Question, SessionHits
from iai_mcp.memory.room import Shown
from iai_mcp.memory.same_questions import SameQuestions
from iai_mcp.memory.scoping import Access, stands_in
from iai_mcp.memory.work_recall import WorkHit
from iai_mcp.ports.embedder import Matrix
from iai_mcp.ports.learned import Repeats
from iai_mcp.ports.memories import DISPUTES, Memories, Scope
from iai_mcp.ports.surroundings import Clock
from iai_mcp.recall import render
from iai_mcp.recall.candidates import NONE, Candidates, Finder
from iai_mcp.recall.passages import Span, Turn, valued
from iai_mcp.recall.query import Query, holds_exactly, parse_query
from iai_mcp.recall.reasons import told
from iai_mcp.recall.render import BYTES_PER_TOKEN, Listed, choose, joined, next_message
from iai_mcp.recall.resolve import Entry, Resolved, resolve, successor_of
from iai_mcp.recall.score import Ranked, Surroundings, is_close, rank

RESULTS, LINES = 6, 20  # with passages, and as one line each, at the default budget
_DEFAULT_BUDGET = 1_500
_MOST_RESULTS = 100
_SPARE = 6  # some are folded into others
_READ_OF_EACH = 100_000  # characters
_VERIFIED = 60  # memories whose text is read for one exact part
_READ_FOR_A_LINE = 4_000
_LINES_SHARE = 0.26  # of the budget
_LISTED_COPIES, _PLACES = 5, 3
_NAMED = 0.005  # a smaller part of a score is left out
_SIDE = 600  # characters of a neighbouring turn
_SILENT = "project: your directory does not answer; no project was preferred"


@dataclass(frozen=True, slots=True)
class Recall:
    """Search by words, meaning and exact parts. Text comes back verbatim, within the budget."""

    memories: Memories
    access: Access
    finder: Finder
    meaning: Callable[[], MeaningLeg | str]  # a string says why there is none
    clock: Clock
    knobs: Callable[[], Knobs]
    repeats: Repeats
    tokens: Callable[[str], Sequence[str]]  # a text's words as the index spells them
    given: Callable[[str], frozenset[str]] = lambda _: frozenset()  # ids that a session was given
    # The work to show beside results of a question, which spans name by session and time.
    work: Callable[[Question, Scope, Query, Sequence[Scope]], Sequence[WorkHit]] | None = None
    turn: AbstractContextManager[object] = field(default_factory=nullcontext)  # waited for
    same: SameQuestions[Answer] | None = None  # callers that ask the same share one answer

    def __call__(self, asked: Question) -> Answer:
        """
        Raises:
            InvalidInput: the question brings a vector of another model.
        """
        if self.same is None or asked.vector is not None:
            return self._answer(asked)
        return self.same.answer(asked, lambda: self._answer(asked))

    def _answer(self, asked: Question) -> Answer:
        scope = self.access.scope(asked.about, asked.caller)
        here = self._here(asked)
        leg = self.meaning()
        now = asked.now or datetime.fromtimestamp(self.clock.now() / 1e6).astimezone()
        query = parse_query(
            asked.cue,
            asked.wordings,
            now=now,
            speakers=self.finder.people(scope),
            language=asked.language,
        )
        # The model computes beside the interpreter: nobody waits for a turn to embed a cue.
        embedded = _embedded(asked, query, leg)
        with self.turn:
            knobs = self.knobs()
            around = Surroundings(
                self.clock.now() / 1e6,
                self.finder.number("project", here) if here else NONE,
                knobs.project_preference,
                knobs.recency_weight,
            )
            found = self.finder.find(query, embedded, scope, self._exact_keys(query.exact))
            ranked = rank(found, query, _model(leg), around)
            vectors = None if isinstance(leg, str) else leg.vectors
            search = _Search(self, asked, scope, query, embedded, vectors, found, ranked)
            answer = search.answer()
        behind = leg if isinstance(leg, str) else leg.behind
        degraded = tuple(why for why in (behind, "" if here is not None else _SILENT) if why)
        if asked.as_text and degraded:
            answer = replace(answer, text=f"{answer.text}\n\n({'; '.join(degraded)})")
        return replace(answer, by_meaning=not isinstance(leg, str), degraded=degraded)

    def _exact_keys(self, parts: Sequence[str]) -> list[list[int]]:
        """The memories that hold each exact part letter by letter; where none does, or very many may, those
        that hold its words side by side."""
        found = self.finder.holding_exactly(parts)
        verified = []
        for part, keys in zip(parts, found, strict=True):
            few = keys if len(keys) <= _VERIFIED else ()
            same = [
                one.key
                for one in self.memories.get(few, _READ_OF_EACH)
                if holds_exactly(one.text, part)
            ]
            verified.append(same or keys)
        return verified

    def _here(self, asked: Question) -> str | None:
        """The caller's own project, which is preferred unless the question names one; None where it can
        not be known."""
        if asked.about.project:
            return ""
        try:
            return self.access.projects.key_of("", asked.caller.cwd)
        except PlaceSilent:
            return None


@dataclass(frozen=True, slots=True)
class _Search:
    """One question from its ranked candidates to its answer."""

    recall: Recall
    asked: Question
    scope: Scope
    query: Query
    embedded: Matrix | None
    vectors: Vectors | None
    found: Candidates
    ranked: Ranked

    def answer(self) -> Answer:
        resolved = self._resolved()
        most = self._results()
        first, rest = resolved.entries[:most], resolved.entries[most:]
        by_meaning = self.vectors is not None and self.embedded is not None
        close = is_close(self.ranked, by_meaning=by_meaning)
        room = self.asked.budget * BYTES_PER_TOKEN
        if self.asked.as_text:
            answer = self._as_text(first, rest, resolved.superseded, close, room)
        else:
            answer = self._as_hits(first, rest, resolved.superseded, close, room)
        return replace(answer, stages=self._stages(resolved) if self.asked.explain else None)

    def _results(self) -> int:
        """How many results come with passages."""
        share = max(1.0, self.asked.budget / _DEFAULT_BUDGET)
        if self.asked.as_text:
            return min(self.asked.limit, int(RESULTS * share), _MOST_RESULTS)
        return min(self.asked.limit, _MOST_RESULTS)

    def _resolved(self) -> Resolved:
        most = self._results() + LINES + _SPARE
        entries = self._entries(self.ranked.places[:most].tolist())
        successors = self._successors([entry.main for entry in entries])
        return resolve(
            entries,
            successors,
            as_of=self.asked.about.as_of,
            fold=self.asked.fold,
            folds=self.recall.repeats.folds_of([entry.main.key for entry in entries]),
            given=self.recall.given,
        )

    def _entries(self, places: Sequence[int]) -> list[Entry]:
        found, ranked = self.found, self.ranked
        if not len(places):
            return self._latest()
        heads = found.heads[places].tolist()
        exchanges = self.recall.finder.exchanges(heads, self.scope)
        best = found.best[places].tolist()
        ends = [key for one in exchanges for key in (*one.keys[:1], *one.keys[-1:])]
        known = self._read([*best, *ends], _READ_FOR_A_LINE)
        scores = ranked.scores - ranked.parts["exact"]
        spread = float(scores.std()) or 1.0
        entries = []
        for place, exchange in zip(places, exchanges, strict=True):
            main = known.get(int(found.best[place]))
            if main is None:  # it was forgotten meanwhile
                continue
            keys = exchange.keys or (main.key,)
            gist = dict.fromkeys((keys[0], main.key, keys[-1]))
            entries.append(
                Entry(
                    main=main,
                    keys=keys,
                    gist="\n".join(known[key].text for key in gist if key in known),
                    score=float(ranked.scores[place]),
                    weight=float((scores[place] - scores.mean()) / spread),
                    parts={name: float(column[place]) for name, column in ranked.parts.items()},
                    next=exchange.next,
                )
            )
        return entries or self._latest()

    def _latest(self) -> list[Entry]:
        """The newest turn, where nothing else answers."""
        newest = self.recall.memories.timeline(replace(self.scope, said=True), 1)
        return [Entry(as_in(one, self.scope.session_id), (one.key,), 0.0) for one in newest]

    def _read(self, keys: Sequence[int], longest: int) -> dict[int, Memory]:
        read = self.recall.memories.get(list(dict.fromkeys(keys)), longest) if keys else []
        return {one.key: as_in(one, self.scope.session_id) for one in read}

    def _successors(self, memories: Sequence[Memory]) -> dict[int, Memory]:
        """Every memory on the way from a superseded one to what holds now, as far as it is open."""
        as_of = self.asked.about.as_of
        known: dict[int, Memory] = {}
        wanted = {successor_of(one, as_of) for one in memories} - {None}
        while missing := [key for key in wanted if key is not None and key not in known]:
            read = {
                key: one
                for key, one in self._read(sorted(missing), _READ_FOR_A_LINE).items()
                if self.scope.opens(one.provenance.project)
            }
            if not read:
                break
            known |= read
            wanted = {successor_of(one, as_of) for one in read.values()} - {None}
        return known

    # Passages

    def _turns(self, entries: Sequence[Entry]) -> list["_Told"]:
        """All turns of the results that may be shown, with the vectors of their passages."""
        keys = [key for entry in entries for key in entry.keys]
        read = self._read(keys, _READ_OF_EACH)
        own: Mapping[int, Matrix] = {}
        whole: Matrix | None = None
        if self.vectors is not None and self.embedded is not None and keys:
            own = self.vectors.passages(np.array(sorted(set(keys)), np.int64))
            whole = self.vectors.of(keys)
        told_turns = []
        for place, (number, key) in enumerate(
            (number, key) for number, entry in enumerate(entries) for key in entry.keys
        ):
            memory = read.get(key)
            if memory is None or not self._opens(memory):
                continue
            vectors = own.get(key)
            if vectors is None and whole is not None:
                vectors = whole[place : place + 1]
            told_turns.append(_Told(memory, Turn(number, memory.text, vectors)))
        return told_turns

    def _opens(self, memory: Memory) -> bool:
        return self.scope.opens(memory.provenance.project) and stands_in(self.scope, memory)

    def _chosen(
        self,
        entries: Sequence[Entry],
        turns: Sequence["_Told"],
        room: int,
        size: Callable[[int, Span], int],
        opening: Callable[[int], int],
    ) -> dict[int, list[Span]]:
        passages = valued(
            [one.turn for one in turns],
            [entry.weight for entry in entries],
            self.found.rarity,
            self.embedded if self.vectors is not None else None,
            self.query.exact,
            self.recall.tokens,
        )
        return choose(passages, room, size, opening, lambda turn: turns[turn].turn.entry)

    # The answer as one text

    def _as_text(
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
        more = tuple(Line(one.main.id, _line_of(one)) for one in kept)
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
        opened: set[int] = set()

        def opening(turn: int) -> int:
            number = turns[turn].turn.entry
            if number in opened:
                return 1
            opened.add(number)
            entry = first[number]
            empty = render.Shown(
                listed[entry.main.key],
                () if turns[turn].memory.role != "user" else ((turns[turn].memory, ""),),
                nexts.get(entry.main.key, ""),
            )
            ids = {one.main.id: "0" * 8 for one in listed.values()}
            ids |= {one.replaced_by: "0" * 8 for one in listed.values()}
            return len(render.block(empty, ids, "").encode()) + 3

        def size(turn: int, span: Span) -> int:
            return len(turns[turn].turn.text[slice(*span)].encode()) + len(render.BETWEEN.encode())

        budget = int(room * (1 - _LINES_SHARE)) - taken - 120
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
        if self.recall.work is None:
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
        hits = self.recall.work(self.asked, self.scope, self.query, spans)
        return [render.work_line(hit.record) for hit in hits]

    def _lines(self, entries: Sequence[Entry]) -> list[Listed]:
        """The request and the conclusion of each result."""
        wanted = [key for entry in entries for key in (entry.keys[0], entry.keys[-1])]
        wanted += [key for entry in entries if (key := entry.main.successor) is not None]
        read = self._read(wanted, _READ_FOR_A_LINE)
        return [self._listed(entry, read) for entry in entries]

    def _listed(self, entry: Entry, read: Mapping[int, Memory]) -> Listed:
        ends = [read.get(entry.keys[0], entry.main), read.get(entry.keys[-1], entry.main)]
        if entry.main.role != "assistant" and len(entry.keys) == 1:
            ends = [entry.main]
        request = next(
            (one.text for one in ends if one.role != "assistant" and self._opens(one)), ""
        )
        replies = [one for one in (*ends[::-1], entry.main) if one.role == "assistant"]
        conclusion = next((one.text for one in replies if self._opens(one)), "")
        successor = successor_of(entry.main, self.asked.about.as_of)
        by = read.get(successor) if successor is not None else None
        replaced = by.id if by is not None and self.scope.opens(by.provenance.project) else ""
        return Listed(entry.main, request, conclusion, replaced)

    def _nexts(self, entries: Sequence[Entry]) -> dict[int, str]:
        """The person's next message behind each result, by its main turn."""
        keys = {entry.main.key: entry.next for entry in entries if entry.next is not None}
        read = self._read(list(keys.values()), _READ_FOR_A_LINE)
        return {
            main: said
            for main, key in keys.items()
            if key in read and self._opens(read[key]) and (said := next_message(read[key].text))
        }

    def _disputes(self, memories: Sequence[Memory]) -> dict[int, tuple[str, ...]]:
        """The ids of what an agent noted against these memories, and of what such a note disputes."""
        links = self.recall.memories.links([one.key for one in memories], DISPUTES)
        if not links:
            return {}
        keys = sorted({key for link in links for key in (link.a, link.b)})
        ids = {
            one.key: one.id for one in self.recall.memories.get(keys, 1)
            if self.scope.opens(one.provenance.project)
        }  # fmt: skip
        against: dict[int, tuple[str, ...]] = {}
        for link in links:
            if link.b in ids:
                against[link.a] = (*against.get(link.a, ()), ids[link.b])
        return against

    def _also_days(self, entry: Entry) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one.at.text[:10] for one in self._also(entry)[1]))

    # The answer as hits

    def _as_hits(
        self,
        first: Sequence[Entry],
        rest: Sequence[Entry],
        superseded: Sequence[Entry],
        close: bool,
        room: int,
    ) -> Answer:
        turns = self._turns(first)
        around = self.asked.around or (lambda _: 0)
        drafts = [self._hit(first[one.turn.entry], one.memory) for one in turns]
        old = tuple(self._old(entry) for entry in superseded[:_LISTED_COPIES])
        left = room - sum(around(hit) + _bytes(hit.memory.text) for hit in old) - 200
        lines_room = 0 if self.asked.budget < _DEFAULT_BUDGET // 2 else int(room * _LINES_SHARE / 2)
        share = 2 if self.asked.context else 1
        if self.asked.full:
            hits = self._whole(first, turns, drafts, left // share, around)
        else:
            hits = self._cut(first, turns, drafts, (left - lines_room) // share, around)
        hits = hits[: self.asked.limit]
        if self.asked.context:
            hits = self._with_neighbours(hits, left // 2)
        used = {hit.memory.key for hit in hits}
        shown = {entry.main.key for entry in first if used & set(entry.keys)}
        left -= sum(around(hit) + _bytes(hit.memory.text) for hit in hits)
        listed = self._lines([e for e in (*first, *rest) if e.main.key not in shown][:LINES])
        more: list[Line] = []
        for one in listed:
            line = Line(one.main.id, _line_of(one))
            left -= _bytes(line.line) + len(line.id) + 24
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

    def _cut(
        self,
        first: Sequence[Entry],
        turns: Sequence["_Told"],
        drafts: Sequence[Hit],
        room: int,
        around: Callable[[Hit], int],
    ) -> list[Hit]:
        """Hits with the passages that fit; the turns of one result stand together, in the order said."""
        chosen = self._chosen(
            first,
            turns,
            room,
            lambda turn, span: _bytes(turns[turn].turn.text[slice(*span)]) + 5,
            lambda turn: around(drafts[turn]),
        )
        hits = []
        for turn in sorted(chosen):
            memory = turns[turn].memory
            text = joined(memory.text, chosen[turn])
            whole = text.strip() == memory.text.strip() and len(memory.text) < _READ_OF_EACH
            shown = Shown(memory) if whole else Shown(replace(memory, text=text), len(memory.text))
            hits.append(replace(drafts[turn], shown=shown))
        return hits

    def _whole(
        self,
        first: Sequence[Entry],
        turns: Sequence["_Told"],
        drafts: Sequence[Hit],
        room: int,
        around: Callable[[Hit], int],
    ) -> list[Hit]:
        """Whole turns: of each result the one that speaks for it, while they fit; one in any case."""
        by_key = {one.memory.key: place for place, one in enumerate(turns)}
        hits: list[Hit] = []
        for entry in first:
            place = by_key.get(entry.main.key)
            if place is None:
                continue
            hit = drafts[place]
            if len(hit.memory.text) >= _READ_OF_EACH:
                whole = self.recall.memories.get([hit.memory.key])
                hit = (
                    replace(hit, shown=Shown(as_in(whole[0], self.scope.session_id)))
                    if whole
                    else hit
                )
            room -= around(hit) + _bytes(hit.memory.text)
            if room < 0 and hits:
                break
            hits.append(hit)
        return hits

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
        head = self._read(entry.keys[:1], _READ_FOR_A_LINE).get(entry.keys[0])
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

    def _also(self, entry: Entry) -> tuple[tuple[str, ...], tuple[Memory, ...]]:
        """The ids of copies, and which of them stand in other sessions that the question is about."""
        same = dict.fromkeys(entry.same)
        if entry.fold is not None:
            _, latest = self.recall.repeats.members(
                entry.fold, _LISTED_COPIES, self.scope.not_projects
            )
            same |= dict.fromkeys(latest)
            same.pop(entry.main.id, None)
        listed = tuple(same)[:_LISTED_COPIES]
        if not listed:
            return (), ()
        own = entry.main.provenance.session_id
        elsewhere = tuple(
            one
            for one in self.recall.memories.find(listed, 1)
            if one.provenance.session_id != own and stands_in(self.scope, one)
        )
        return listed, elsewhere[:_PLACES]

    def _with_neighbours(self, hits: Sequence[Hit], room: int) -> list[Hit]:
        """The hits with the turns around them, as far as they fit."""
        around = self.asked.around or (lambda _: 0)
        with_sides = []
        for hit in hits:
            sides = self.recall.memories.neighbours(hit.memory, self.asked.context, _SIDE)
            kept: list[list[Shown]] = [[], []]
            for side, turns in zip(kept, (sides[0][::-1], sides[1]), strict=True):
                for memory in turns:
                    if not self.scope.opens(memory.provenance.project):
                        continue
                    room -= around(Hit(shown=Shown(memory), score=0.0, reason="")) + _bytes(
                        memory.text
                    )
                    if room >= 0:
                        side.append(
                            Shown(memory, len(memory.text) if len(memory.text) >= _SIDE else None)
                        )
            with_sides.append(replace(hit, around=Around(tuple(kept[0][::-1]), tuple(kept[1]))))
        return with_sides

    def _stages(self, resolved: Resolved) -> dict[str, object]:
        """What each stage did, for `--explain`."""
        return {
            "query": {
                "wordings": [list(one.terms) for one in self.query.wordings],
                "exact": list(self.query.exact),
                "times": [
                    [window.start.isoformat(), window.end.isoformat()]
                    for window in self.query.windows
                ],
                "speakers": list(self.query.speakers),
            },
            "candidates": {"exchanges": len(self.found), "of_messages": self.found.rows},
            "resolve": {
                "results": len(resolved.entries),
                "superseded": len(resolved.superseded),
                "copies": sum(len(entry.same) for entry in resolved.entries),
            },
        }


@dataclass(frozen=True, slots=True)
class _Told:
    """A turn of a result, as it is stored and as its passages compete."""

    memory: Memory
    turn: Turn


def _why(entry: Entry) -> str:
    """The parts of a score, largest first."""
    parts = sorted(entry.parts.items(), key=lambda part: -abs(part[1]))
    shown = ", ".join(f"{name} {value:+.2f}" for name, value in parts if abs(value) >= _NAMED)
    return f"score {entry.score:.2f}: {shown}"


def _line_of(one: Listed) -> str:
    return render.line(one, {one.main.id: one.main.id.replace("-", "")[:8]}, "")


def _embedded(asked: Question, query: Query, leg: MeaningLeg | str) -> Matrix | None:
    """A row per wording; the caller may bring the cue's."""
    if isinstance(leg, str):
        return None
    texts = [one.meaning for one in query.wordings]
    if asked.vector is None:
        return np.asarray(leg.embedder.embed(texts), np.float32)
    if len(asked.vector) != leg.embedder.dimensions:
        raise InvalidInput(
            f"cue_embedding must have {leg.embedder.dimensions} numbers, not {len(asked.vector)}"
        )
    others = [leg.embedder.embed(texts[1:])] if texts[1:] else []
    return np.concatenate([np.asarray(asked.vector, np.float32)[None], *others])


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass")) + text.count("\n") + text.count('"')


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


def _model(leg: MeaningLeg | str) -> str:
    return "" if isinstance(leg, str) else leg.embedder.model_id
