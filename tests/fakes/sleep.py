"""`Ledger`, and what is read of what it wrote, over a `FakeMemories`."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import assert_never
from uuid import UUID

from iai_mcp.domain.memories import Memory, Provenance
from iai_mcp.ports.learned import Evidence, Hub, Known, Said, Seen, Topic, Window, Written
from iai_mcp.ports.sleep import (
    Assigned,
    Change,
    Derived,
    Folded,
    Grouped,
    Night,
    Observed,
    Page,
    Progress,
    Settled,
    Strengthened,
    Suggested,
    Withdrawn,
)
from tests.fakes.memories import FakeMemories
from tests.fakes.strengths import FakeStrengths


class FakeLedger:
    """How far sleep came, and all that it wrote, for the readers below."""

    def __init__(self, memories: FakeMemories, strengths: FakeStrengths | None = None) -> None:
        self.memories = memories
        self.strengths = strengths or FakeStrengths({})
        self.folds: dict[int, Folded] = {}
        self.window_of: dict[int, int] = {}
        self.state_of: dict[int, str] = {}  # of each window
        self.topic_of: dict[int, int] = {}
        self.ties_of: dict[int, int] = {}
        self.made: dict[int, Derived] = {}
        self.observed: list[tuple[int, Observed]] = []  # with the habit of each
        self.habits: dict[int, tuple[str, bool]] = {}  # kind, and whether it has news
        self._suggested: dict[tuple[int, int], Suggested] = {}
        self._night: Night | None = None
        memories.on_forgotten.append(self._forget)

    def night(self) -> Night | None:
        return self._night

    def cursors(self) -> Mapping[str, str]:
        return {step.step: step.cursor for step in self._night.steps} if self._night else {}

    def begin(self, cursors: Mapping[str, str], at: int) -> None:
        steps = (Progress(step, cursor, False, 0, 0, {}) for step, cursor in cursors.items())
        self._night = Night(at, None, tuple(steps))

    def apply(self, step: str, page: Page, micros: int) -> None:
        for change in page.changes:
            self._write(change)
        if self._night is not None:
            steps = [_further(one, page, micros, step) for one in self._night.steps]
            self._night = replace(self._night, steps=tuple(steps))

    def finish(self, at: int) -> None:
        if self._night is not None:
            self._night = replace(self._night, finished=at)

    def suggestions(self, limit: int) -> list[Suggested]:
        found = sorted(self._suggested.values(), key=lambda one: (-one.score, -one.newer))
        return found[:limit]

    def suggestion_count(self) -> int:
        return len(self._suggested)

    def _write(self, change: Change) -> None:
        match change:
            case Folded():
                self._fold(change)
            case Assigned():
                for key in change.keys:
                    self._assign(key, change.most)
            case Grouped():
                self._group(change)
            case Derived():
                self._derive(change)
            case Settled():
                self._settle(change)
            case Suggested() | Withdrawn():
                self._suggest(change)
            case Observed():
                self._observe(change)
            case Strengthened():
                self.strengths.write(change)
            case _:
                assert_never(change)

    def _fold(self, change: Folded) -> None:
        if change.key in self.memories.stored:
            self.folds[change.key] = change
            first = self.folds.get(change.fold or 0)
            if first is not None and first.fold is None:
                self.folds[first.key] = replace(first, fold=first.key)

    def _suggest(self, change: Suggested | Withdrawn) -> None:
        if isinstance(change, Withdrawn):
            kept = {k: v for k, v in self._suggested.items() if v.at >= change.before}
            self._suggested = kept
            return
        older, newer = (self.memories.get([key]) for key in (change.older, change.newer))
        if older and newer and older[0].valid_to is None:
            self._suggested[change.older, change.newer] = change

    def _assign(self, key: int, most: int) -> None:
        if key not in self.memories.stored or key in self.window_of:
            return
        project = self._project(key)
        own = {w for k, w in self.window_of.items() if self._project(k) == project}
        window = max(own, default=0)
        if not window or list(self.window_of.values()).count(window) >= most:
            window = max(self.state_of, default=0) + 1
        self.window_of[key] = window
        self.state_of[window] = "changed"

    def _group(self, change: Grouped) -> None:
        for key, window in self.window_of.items():
            if window == change.window:
                self.topic_of.pop(key, None)
                self.ties_of.pop(key, None)
                if key in change.topic_of:
                    self.topic_of[key] = change.topic_of[key]
                    self.ties_of[key] = change.ties_of.get(key, 0)
        self.state_of[change.window] = "grouped"

    def _derive(self, change: Derived) -> None:
        there = self.memories.stored
        whole = all(key in there and there[key].valid_to is None for key in change.sources)
        public = str(UUID(bytes=change.identity))
        if not whole or change.identity in self.memories.tombstones or self._key(public):
            return
        key = self.memories.derive(
            Memory(
                key=0,
                id=public,
                text=change.text,
                role="assistant",
                at=change.at,
                tier=change.tier,
                cue=change.cue,
                provenance=Provenance(project=change.project),
                valid_from=change.valid_from,
            )
        )
        self.made[key] = change

    def _settle(self, change: Settled) -> None:
        for key, one in list(self.made.items()):
            of_home = (one.kind, one.home) == (change.kind, change.home)
            if of_home and one.identity not in change.kept:
                del self.made[key], self.memories.stored[key]
        if change.kind == "topic":
            if self.state_of.get(change.home) == "grouped":
                self.state_of[change.home] = "written"
        elif change.kind == "habit" and change.home in self.habits:
            self.habits[change.home] = (self.habits[change.home][0], False)

    def _observe(self, change: Observed) -> None:
        known = any((o.key, o.sentence) == (change.key, change.sentence) for _, o in self.observed)
        if known or change.key not in self.memories.stored:
            return
        habit = change.habit if change.habit in self.habits else None
        habit = habit or max(self.habits, default=0) + 1
        self.habits[habit] = (change.kind, True)
        self.observed.append((habit, change))

    def _forget(self, key: int) -> None:
        self.folds.pop(key, None)
        self.topic_of.pop(key, None)
        self.ties_of.pop(key, None)
        self.made.pop(key, None)
        window = self.window_of.pop(key, None)
        if window is not None:
            self.state_of[window] = "changed"
        for habit, one in list(self.observed):
            if one.key == key:
                self.observed.remove((habit, one))
                self.habits[habit] = (self.habits[habit][0], True)
        self._suggested = {k: one for k, one in self._suggested.items() if key not in k}
        for derived, made in list(self.made.items()):
            if key in made.sources:
                del self.made[derived], self.memories.stored[derived]

    def _project(self, key: int) -> str:
        return self.memories.stored[key].provenance.project

    def _key(self, public: str) -> int | None:
        return next(iter(self.memories.keys_of([public])), None)


class FakeRepeats:
    def __init__(self, ledger: FakeLedger) -> None:
        self._ledger = ledger
        self._memories = ledger.memories

    def unfolded(self, after: int, limit: int) -> list[Said]:
        found = self._memories.after(after, limit)
        return [Said(m.key, m.provenance.project, m.role, m.text) for m in found]

    def with_digest(self, digest: int) -> Known | None:
        found = [one for one in self._standing() if one.digest == digest]
        return Known(found[0].key, found[0].fold, "") if found else None

    def with_bands(self, bands: Sequence[int], limit: int) -> list[Known]:
        found = [one for one in self._standing() if set(one.bands) & set(bands)]
        return [Known(o.key, o.fold, self._memories.stored[o.key].text) for o in found][:limit]

    def folds_of(self, keys: Sequence[int]) -> dict[int, int]:
        found = (self._ledger.folds[key] for key in keys if key in self._ledger.folds)
        return {one.key: one.fold for one in found if one.fold is not None}

    def members(
        self, fold: int, limit: int, not_projects: Sequence[str] = ()
    ) -> tuple[int, list[str]]:
        keys = [one.key for one in self._ledger.folds.values() if one.fold == fold]
        known = self._memories.get(keys)
        memories = [one for one in known if one.provenance.project not in not_projects]
        latest = sorted(memories, key=lambda m: (m.at.micros, m.key), reverse=True)
        return len(memories), [memory.id for memory in latest[:limit]]

    def _standing(self) -> list[Folded]:
        there = self._memories.stored
        return [o for key, o in sorted(self._ledger.folds.items()) if there[key].valid_to is None]


class FakeTopics:
    """Without vectors: what is near is told by the words."""

    def __init__(self, ledger: FakeLedger) -> None:
        self._ledger = ledger
        self._memories = ledger.memories
        self._space: str | None = None

    def unassigned(self, after: int, limit: int) -> list[int]:
        return [memory.key for memory in self._memories.after(after, limit)]

    def changed(self) -> Window | None:
        window = self._next("changed")
        if window is None:
            return None
        keys = sorted(key for key, own in self._ledger.window_of.items() if own == window)
        found = [m for m in self._memories.get(keys) if m.valid_to is None and self._stands(m.key)]
        return Window(
            window,
            tuple(memory.key for memory in found),
            tuple(memory.at.micros for memory in found),
            tuple(memory.provenance.session_id for memory in found),
            None,
        )

    def opening_words(self, keys: Sequence[int], letters: int) -> list[str]:
        return [memory.text for memory in self._memories.get(keys, letters)]

    def grouped(self) -> tuple[int, list[Topic]] | None:
        window = self._next("grouped")
        if window is None:
            return None
        of = {k: t for k, t in self._ledger.topic_of.items() if self._ledger.window_of[k] == window}
        topics = []
        for topic in sorted(set(of.values())):
            own = [key for key, number in of.items() if number == topic]
            keys = sorted(own, key=lambda key: (-self._ledger.ties_of.get(key, 0), key))
            topics.append(Topic(tuple(keys), tuple(self._memories.ids_of(keys))))
        return window, topics

    def standing(self, identities: Sequence[bytes]) -> frozenset[bytes]:
        there = {UUID(memory.id).bytes for memory in self._memories.stored.values()}
        return frozenset(one for one in identities if one in there | set(self._memories.tombstones))

    def reopen(self, space: str) -> None:
        if space != self._space:
            self._ledger.state_of |= dict.fromkeys(self._ledger.state_of, "changed")
            self._space = space

    def count(self, not_projects: Sequence[str] = ()) -> int:
        of = {
            key: topic
            for key, topic in self._ledger.topic_of.items()
            if self._open(key, not_projects)
        }
        return len({(self._ledger.window_of[key], topic) for key, topic in of.items()})

    def _open(self, key: int, not_projects: Sequence[str]) -> bool:
        return self._memories.stored[key].provenance.project not in not_projects

    def derived_count(self) -> int:
        return len(self._ledger.made)

    def waiting_count(self) -> int:
        latest = max(self._ledger.folds, default=0)
        return len(self._memories.after(latest, 1 << 30))

    def hubs(self, limit: int, not_projects: Sequence[str] = ()) -> list[Hub]:
        known = [one for one in self._ledger.ties_of.items() if self._open(one[0], not_projects)]
        ties = sorted(known, key=lambda one: (-one[1], one[0]))
        return [Hub(self._memories.stored[key].id, own) for key, own in ties if own][:limit]

    def largest(self, limit: int, not_projects: Sequence[str]) -> list[Written]:
        made = [
            (self._memories.stored[key].id, one)
            for key, one in self._ledger.made.items()
            if one.kind == "topic" and one.project not in not_projects
        ]
        made.sort(key=lambda one: (-len(one[1].sources), -one[1].at.micros))
        return [
            Written(ident, one.cue, one.project, len(one.sources), one.valid_from, one.at.micros)
            for ident, one in made[:limit]
        ]

    def derived_of(self, keys: Sequence[int]) -> dict[int, list[int]]:
        made = self._ledger.made.items()
        found = {key: [own for own in keys if own in one.sources] for key, one in made}
        return {key: own for key, own in found.items() if own}

    def _next(self, state: str) -> int | None:
        return next((w for w, own in sorted(self._ledger.state_of.items()) if own == state), None)

    def _stands(self, key: int) -> bool:
        """One of a group of repeats stands for all of them: the first."""
        fold = self._ledger.folds.get(key)
        if fold is None or fold.fold is None:
            return True
        return key == min(k for k, one in self._ledger.folds.items() if one.fold == fold.fold)


class FakeHabits:
    def __init__(self, ledger: FakeLedger) -> None:
        self._ledger = ledger

    def seen(self, kind: str, term: str, limit: int) -> list[Seen]:
        found = [
            Seen(habit, one.terms)
            for habit, one in reversed(self._ledger.observed)
            if one.kind == kind and term in one.terms
        ]
        return found[:limit]

    def changed(self) -> tuple[int, str, list[Evidence]] | None:
        for habit, (kind, has_news) in sorted(self._ledger.habits.items()):
            if has_news:
                return habit, kind, self._evidence(habit)
        return None

    def _evidence(self, habit: int) -> list[Evidence]:
        sentences: dict[int, str] = {}
        for of, one in self._ledger.observed:
            if of == habit:
                sentences[one.key] = min(one.sentence, sentences.get(one.key, one.sentence))
        memories = self._ledger.memories.get(list(sentences))
        standing = [memory for memory in memories if memory.valid_to is None]
        standing.sort(key=lambda memory: (memory.at.micros, memory.key))
        return [Evidence(memory.key, sentences[memory.key]) for memory in standing]


def everybody_together(edges: Sequence[tuple[int, int, float]]) -> dict[int, int]:
    """`Communities` in which whoever is tied to anybody belongs to everybody."""
    return {node: 0 for one, other, _ in edges for node in (one, other)}


def _further(one: Progress, page: Page, micros: int, step: str) -> Progress:
    if one.step != step:
        return one
    counts = {**one.counts}
    for name, number in page.counts.items():
        counts[name] = counts.get(name, 0) + number
    return Progress(
        step, page.cursor, page.done, one.pages + 1, one.micros + micros, counts, page.failed
    )
