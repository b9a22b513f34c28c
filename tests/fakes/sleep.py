"""`Ledger`, and what is read of what it wrote, over a `FakeMemories`."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import assert_never

from iai_mcp.ports.learned import Hub, Known, Said, TopicSummary, Window
from iai_mcp.ports.sleep import Assigned, Change, Folded, Grouped, Night, Page, Progress
from tests.fakes.memories import FakeMemories


class FakeLedger:
    """How far sleep came, and all that it wrote, for the readers below."""

    def __init__(self, memories: FakeMemories) -> None:
        self.memories = memories
        self.folds: dict[int, Folded] = {}
        self.window_of: dict[int, int] = {}
        self.state_of: dict[int, str] = {}  # of each window
        self.topic_of: dict[int, int] = {}
        self.ties_of: dict[int, int] = {}
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

    def _write(self, change: Change) -> None:
        match change:
            case Folded():
                self._fold(change)
            case Assigned():
                for key in change.keys:
                    self._assign(key, change.most)
            case Grouped():
                self._group(change)
            case _:
                assert_never(change)

    def _fold(self, change: Folded) -> None:
        if change.key in self.memories.stored:
            self.folds[change.key] = change
            first = self.folds.get(change.fold or 0)
            if first is not None and first.fold is None:
                self.folds[first.key] = replace(first, fold=first.key)

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
        self.state_of[change.window] = "written"

    def _forget(self, key: int) -> None:
        self.folds.pop(key, None)
        self.topic_of.pop(key, None)
        self.ties_of.pop(key, None)
        window = self.window_of.pop(key, None)
        if window is not None:
            self.state_of[window] = "changed"

    def _project(self, key: int) -> str:
        return self.memories.stored[key].provenance.project


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

    def waiting_count(self) -> int:
        latest = max(self._ledger.folds, default=0)
        return len(self._memories.after(latest, 1 << 30))

    def hubs(self, limit: int, not_projects: Sequence[str] = ()) -> list[Hub]:
        known = [one for one in self._ledger.ties_of.items() if self._open(one[0], not_projects)]
        ties = sorted(known, key=lambda one: (-one[1], one[0]))
        return [Hub(self._memories.stored[key].id, own) for key, own in ties if own][:limit]

    def largest(self, limit: int, not_projects: Sequence[str]) -> list[TopicSummary]:
        members: dict[tuple[int, int], list[int]] = {}
        for key, topic in self._ledger.topic_of.items():
            if self._open(key, not_projects):
                members.setdefault((self._ledger.window_of[key], topic), []).append(key)
        found = [self._summary(keys) for keys in members.values()]
        return sorted(found, key=lambda one: (-one.size, -one.last))[:limit]

    def _summary(self, keys: Sequence[int]) -> TopicSummary:
        memories = self._memories.stored
        hub = memories[min(keys, key=lambda key: (-self._ledger.ties_of[key], key))]
        times = [memories[key].at.micros for key in keys]
        label = " ".join(hub.text[:80].split())
        project = hub.provenance.project
        return TopicSummary(hub.id, label, project, len(keys), min(times), max(times))

    def _next(self, state: str) -> int | None:
        return next((w for w, own in sorted(self._ledger.state_of.items()) if own == state), None)

    def _stands(self, key: int) -> bool:
        """One of a group of repeats stands for all of them: the first."""
        fold = self._ledger.folds.get(key)
        if fold is None or fold.fold is None:
            return True
        return key == min(k for k, one in self._ledger.folds.items() if one.fold == fold.fold)


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
