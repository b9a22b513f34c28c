"""Learn how things are done here: what is wished, corrected or run again and again."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from iai_mcp.domain.habits import (
    LOOKED_AT,
    TIMES,
    Observation,
    alike,
    habit_text,
    observations,
    telling,
)
from iai_mcp.domain.memories import Memory, turn_identity
from iai_mcp.ports.learned import Habits, Topics
from iai_mcp.ports.memories import Memories
from iai_mcp.ports.sleep import Derived, Enough, Observed, Page, Settled, never
from iai_mcp.ports.surroundings import Projects

KIND = "habit"
_MEMORIES = 24  # read in a page
_OBSERVED = 3  # matched in a page
_LETTERS = 12_000  # read in a page
_TERMS = 3
_LOOKED_UP = 40
_LISTED = 60


@dataclass(frozen=True, slots=True)
class LearnHabits:
    """First every new memory is looked at for wishes, corrections and commands; then each habit
    with news is written as a procedural memory that counts its sources.
    """

    habits: Habits
    topics: Topics
    memories: Memories
    projects: Projects
    learning: Callable[[], bool]
    name: str = "habits"

    def start(self, cursor: str) -> str:
        return cursor or "0"

    def page(self, cursor: str, enough: Enough = never) -> Page:
        if not self.learning():
            return Page(cursor, done=True)
        read = self.memories.after(int(cursor), _MEMORIES)
        if read:
            return self._observed(read, enough)
        found = self.habits.changed()
        if found is None:
            return Page(cursor, done=True)
        habit, kind, evidence = found
        shown = self._open({one.key: one.sentence for one in evidence})
        ids = sorted(memory.id for memory, _ in shown)
        identity = turn_identity(self.memories.salt, "", turn_id=f"{KIND} {' '.join(ids)}")
        often = len(shown) >= TIMES.get(kind, 2)
        if often and identity not in self.topics.standing([identity]):
            made = _derived(habit, kind, identity, shown)
            return Page(cursor, changes=(made,), counts={"changed": 1, "derived": 1})
        kept = (identity,) if often else ()
        return Page(cursor, changes=(Settled(KIND, habit, kept),))

    def _open(self, said: Mapping[int, str]) -> list[tuple[Memory, str]]:
        """The evidence as it may be told: where several projects have a share, private ones do not."""
        members = self.memories.get(list(said))
        if len({memory.provenance.project for memory in members}) > 1:
            marked = self.memories.private_projects()
            private = self.projects.closed(marked, self.memories.projects(), "")
            members = [m for m in members if m.provenance.project not in private]
        return [(memory, said[memory.key]) for memory in members]

    def _observed(self, read: Sequence[Memory], enough: Enough) -> Page:
        changes: list[Observed] = []
        reached = read[0].key - 1
        letters = 0
        for memory in read:
            letters += min(len(memory.text), LOOKED_AT)
            if letters > _LETTERS and reached >= read[0].key:
                break
            # A habit is told unasked: none is made of what other machines say.
            own = () if memory.provenance.circle else observations(memory.role, memory.text)
            placed = [self._placed(memory, one) for one in own]
            if len(changes) + len(placed) > _OBSERVED and changes:
                break
            if any(_founded_here(one, changes) for one in placed):
                break  # what it belongs to is in this very page: the next one will find it
            changes += placed
            reached = memory.key
            if enough():
                break
        counts = {"observed": len(changes)}
        return Page(str(reached), changes=tuple(changes), counts=counts)

    def _placed(self, memory: Memory, one: Observation) -> Observed:
        """The observation, with the habit that it is one more time of."""
        words = one.terms if one.kind == "command" else telling(one.terms)
        for term in sorted(words, key=len)[-_TERMS:]:
            for seen in self.habits.seen(one.kind, term, _LOOKED_UP):
                if alike(one.kind, one.terms, seen.terms):
                    return Observed(memory.key, one.kind, one.terms, one.sentence, seen.habit)
        return Observed(memory.key, one.kind, one.terms, one.sentence, None)


def _derived(
    habit: int, kind: str, identity: bytes, shown: Sequence[tuple[Memory, str]]
) -> Derived:
    members = [memory for memory, _ in shown]
    first, last = members[0], members[-1]
    places = {memory.provenance.project for memory in members}
    told = {
        "derived": KIND,
        "kind": kind,
        "count": len(members),
        "sources": [memory.id for memory in members][-_LISTED:],
        "source_count": len(members),
    }
    sentences = [sentence for _, sentence in shown]
    return Derived(
        kind=KIND,
        home=habit,
        identity=identity,
        tier="procedural",
        # What holds in several projects belongs to none, and so counts everywhere.
        project=places.pop() if len(places) == 1 else "",
        text=habit_text(kind, sentences, first.at.text[:10], last.at.text[:10]),
        cue=kind,
        at=last.at,
        valid_from=first.at.micros,
        meta=json.dumps(told, separators=(",", ":")),
        sources=tuple(memory.key for memory in members),
    )


def _founded_here(one: Observed, earlier: Sequence[Observed]) -> bool:
    return one.habit is None and any(
        other.habit is None and other.kind == one.kind and alike(one.kind, one.terms, other.terms)
        for other in earlier
    )
