"""One question from its ranked candidates to its results: what every form of answer needs."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from iai_mcp.domain.memories import Memory, as_in
from iai_mcp.engine.vectors import Vectors
from iai_mcp.memory.question import Answer, Question
from iai_mcp.memory.scoping import stands_in
from iai_mcp.memory.work_recall import WorkHit
from iai_mcp.ports.embedder import Matrix
from iai_mcp.ports.learned import Repeats
from iai_mcp.ports.memories import Memories, Scope
from iai_mcp.recall import render
from iai_mcp.recall.candidates import Candidates, Finder
from iai_mcp.recall.folding import folded
from iai_mcp.recall.passages import Span, Turn, valued
from iai_mcp.recall.query import Query
from iai_mcp.recall.render import BYTES_PER_TOKEN, Listed, choose
from iai_mcp.recall.resolve import Entry, Resolved, resolve, successor_of
from iai_mcp.recall.score import Ranked, is_close

RESULTS, LINES = 6, 20  # with passages, and as one line each, at the default budget
DEFAULT_BUDGET = 1_500
MOST_RESULTS = 100
_SPARE = 6  # some are folded into others
READ_OF_EACH = 100_000  # characters
READ_FOR_A_LINE = 4_000
LINES_SHARE = 0.26  # of the budget
LISTED_COPIES, _PLACES = 5, 3


@dataclass(frozen=True, slots=True)
class Sources:
    """What a search reads."""

    memories: Memories
    finder: Finder
    repeats: Repeats
    tokens: Callable[[str], Sequence[str]]  # a text's words as the index spells them
    given: Callable[[str], frozenset[str]]  # ids that a session was given
    # The work to show beside results of a question, which spans name by session and time.
    work: Callable[[Question, Scope, Query, Sequence[Scope]], Sequence[WorkHit]] | None = None


@dataclass(frozen=True, slots=True)
class Search:
    """One question from its ranked candidates to its answer."""

    sources: Sources
    asked: Question
    scope: Scope
    query: Query
    embedded: Matrix | None
    vectors: Vectors | None
    found: Candidates
    ranked: Ranked

    def answer(self) -> Answer:
        """The answer in its form."""
        resolved = self._resolved()
        most = self.results()
        first, rest = resolved.entries[:most], resolved.entries[most:]
        by_meaning = self.vectors is not None and self.embedded is not None
        close = is_close(self.ranked, by_meaning=by_meaning)
        room = self.asked.budget * BYTES_PER_TOKEN
        stages = self._stages(resolved) if self.asked.explain else None
        room -= len(json.dumps(stages).encode()) if stages else 0
        answer = self.rendered(first, rest, resolved.superseded, close, room)
        return replace(answer, stages=stages)

    def results(self) -> int:
        """How many results come with passages."""
        return min(self.asked.limit, MOST_RESULTS)

    def rendered(
        self,
        first: Sequence[Entry],
        rest: Sequence[Entry],
        superseded: Sequence[Entry],
        close: bool,
        room: int,
    ) -> Answer:
        """The results in the form of this search."""
        raise NotImplementedError

    def _resolved(self) -> Resolved:
        entries = self._distinct_entries()
        turns = self._superseded_turns(entries)
        successors = self._successors([*(entry.main for entry in entries), *turns.values()])
        return resolve(
            entries,
            successors,
            turns=turns,
            as_of=self.asked.about.as_of,
            fold=self.asked.fold,
            folds=self.sources.repeats.folds_of([entry.main.key for entry in entries]),
            given=self.sources.given,
        )

    def _distinct_entries(self) -> list[Entry]:
        """Enough entries for the answer, however many copies of one text are among them."""
        most = self.results() + LINES
        places = self.ranked.places.tolist()
        entries = self._entries(places[: most + _SPARE])
        for start in range(most + _SPARE, len(places), most):
            if (
                not self.asked.fold
                or len(folded(one.gist or one.main.text for one in entries)) >= most
            ):
                break
            entries += self._entries(places[start : start + most])
        return entries

    def _superseded_turns(self, entries: Sequence[Entry]) -> dict[int, Memory]:
        """The turns of longer exchanges that something superseded, by key."""
        keys = [key for entry in entries if len(entry.keys) > 1 for key in entry.keys]
        as_of = self.asked.about.as_of
        old = [k for k, m in self._read(keys, 1).items() if successor_of(m, as_of) is not None]
        return self._read(old, READ_FOR_A_LINE)

    def _entries(self, places: Sequence[int]) -> list[Entry]:
        found, ranked = self.found, self.ranked
        if not len(places):
            return self._latest()
        heads = found.heads[places].tolist()
        exchanges = self.sources.finder.exchanges(heads, self.scope)
        best = found.best[places].tolist()
        ends = [key for one in exchanges for key in (*one.keys[:1], *one.keys[-1:])]
        known = self._read([*best, *ends], READ_FOR_A_LINE)
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
        newest = self.sources.memories.timeline(replace(self.scope, said=True), 1)
        return [Entry(as_in(one, self.scope.session_id), (one.key,), 0.0) for one in newest]

    def _read(self, keys: Sequence[int], longest: int) -> dict[int, Memory]:
        read = self.sources.memories.get(list(dict.fromkeys(keys)), longest) if keys else []
        return {one.key: as_in(one, self.scope.session_id) for one in read}

    def _successors(self, memories: Sequence[Memory]) -> dict[int, Memory]:
        """Every memory on the way from a superseded one to what holds now, as far as it is open."""
        as_of = self.asked.about.as_of
        known: dict[int, Memory] = {}
        wanted = {successor_of(one, as_of) for one in memories} - {None}
        while missing := [key for key in wanted if key is not None and key not in known]:
            read = {
                key: one
                for key, one in self._read(sorted(missing), READ_FOR_A_LINE).items()
                if self.scope.opens(one.provenance.project)
            }
            if not read:
                break
            known |= read
            wanted = {successor_of(one, as_of) for one in read.values()} - {None}
        return known

    # Passages

    def _turns(self, entries: Sequence[Entry]) -> list["ShownTurn"]:
        """All turns of the results that may be shown, with the vectors of their passages."""
        keys = [key for entry in entries for key in entry.keys]
        read = self._read(keys, READ_OF_EACH)
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
            if memory is None:
                continue
            # What superseded a memory may stand in another project than the one asked about.
            if not self._opens(memory) and not (
                entries[number].reason and self.scope.opens(memory.provenance.project)
            ):
                continue
            vectors = own.get(key)
            if vectors is None and whole is not None:
                vectors = whole[place : place + 1]
            told_turns.append(ShownTurn(memory, Turn(number, memory.text, vectors)))
        return told_turns

    def _opens(self, memory: Memory) -> bool:
        return self.scope.opens(memory.provenance.project) and stands_in(self.scope, memory)

    def _chosen(
        self,
        entries: Sequence[Entry],
        turns: Sequence["ShownTurn"],
        room: int,
        size: Callable[[int, Span], int],
        opening: Callable[[int, bool], int],
    ) -> dict[int, list[Span]]:
        passages = valued(
            [one.turn for one in turns],
            [entry.weight for entry in entries],
            self.found.rarity,
            self.embedded if self.vectors is not None else None,
            self.query.exact,
            self.sources.tokens,
        )
        return choose(passages, room, size, opening, lambda turn: turns[turn].turn.entry)

    def _lines(self, entries: Sequence[Entry]) -> list[Listed]:
        """The request and the conclusion of each result."""
        wanted = [key for entry in entries for key in (entry.keys[0], entry.keys[-1])]
        wanted += [key for entry in entries if (key := entry.main.successor) is not None]
        read = self._read(wanted, READ_FOR_A_LINE)
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

    def _also(self, entry: Entry) -> tuple[tuple[str, ...], tuple[Memory, ...]]:
        """The ids of copies, and which of them stand in other sessions that the question is about."""
        same = dict.fromkeys(entry.same)
        if entry.fold is not None:
            _, latest = self.sources.repeats.members(
                entry.fold, LISTED_COPIES, self.scope.not_projects
            )
            same |= dict.fromkeys(latest)
            same.pop(entry.main.id, None)
        listed = tuple(same)[:LISTED_COPIES]
        if not listed:
            return (), ()
        own = entry.main.provenance.session_id
        elsewhere = tuple(
            one
            for one in self.sources.memories.find(listed, 1)
            if one.provenance.session_id != own and stands_in(self.scope, one)
        )
        return listed, elsewhere[:_PLACES]

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
class ShownTurn:
    """A turn of a result, as it is stored and as its passages compete."""

    memory: Memory
    turn: Turn


def line_of(one: Listed) -> str:
    return render.line(one, {one.main.id: one.main.id.replace("-", "")[:8]}, "")


def text_bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass")) + text.count("\n") + text.count('"')
