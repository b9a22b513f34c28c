"""Find topics among episodes, and write each as a semantic memory that quotes its sources."""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from iai_mcp.domain.digest import Digest, digest
from iai_mcp.domain.memories import Memory, turn_identity
from iai_mcp.domain.nearness import (
    MEANING_FLOOR,
    WORDS_FLOOR,
    edges,
    without_splinters,
    word_vectors,
)
from iai_mcp.domain.ranking.weights import bar_of
from iai_mcp.ports.learned import Communities, Topic, Topics, Window
from iai_mcp.ports.memories import Memories
from iai_mcp.ports.sleep import Assigned, Derived, Enough, Grouped, Page, Settled, never

KIND = "topic"
_ASSIGNED = 50  # of a page
# Memories that topics are looked for among at once: a page's work grows with its square.
_WINDOW = 384
_FEWEST = 3  # memories that make a topic
_READ = 40  # members whose sentences are weighed: the most connected
_OPENING = 2000  # letters that are compared where there are no vectors
# Ids in `meta`, which comes back with every hit and may have 4 KB; the store knows them all.
_LISTED = 60


@dataclass(frozen=True, slots=True)
class FindTopics:
    """First every new memory gets its place in a window; then the topics of each window that
    changed are found; then they are written, one a page. What did not change stays as it is.
    """

    topics: Topics
    memories: Memories
    communities: Communities
    space: Callable[[], str]  # names what nearness is measured by
    learning: Callable[[], bool]
    name: str = "topics"

    def start(self, cursor: str) -> str:
        self.topics.reopen(self.space())
        return cursor.partition("|")[0] or "0"

    def page(self, cursor: str, enough: Enough = never) -> Page:
        if not self.learning():
            return Page(cursor, done=True)
        # "the last key with a place", and while a window is written "that key|window|next topic".
        after = cursor.partition("|")[0]
        new = self.topics.unassigned(int(after), _ASSIGNED)
        if new:
            counts = {"changed": len(new)}
            return Page(str(new[-1]), changes=(Assigned(tuple(new), _WINDOW),), counts=counts)
        window = self.topics.changed()
        if window is not None:
            grouped = self._grouped(window)
            counts = {"windows": 1, "topics": len(set(grouped.topic_of.values()))}
            return Page(after, changes=(grouped,), counts=counts)
        return self._written(cursor)

    def _grouped(self, window: Window) -> Grouped:
        if len(window.keys) < _FEWEST:
            return Grouped(window.id, {}, {})
        vectors, floor = window.vectors, bar_of(self.space(), MEANING_FLOOR)
        if vectors is None:
            vectors = word_vectors(self.topics.opening_words(window.keys, _OPENING))
            floor = WORDS_FLOOR
        ties = edges(vectors, window.at, window.sessions, floor)
        community = without_splinters(self.communities(ties), ties, _FEWEST)
        sizes = Counter(community.values())
        degrees = Counter(node for one, other, _ in ties for node in (one, other))
        kept = {node: number for node, number in community.items() if sizes[number] >= _FEWEST}
        return Grouped(
            window.id,
            {window.keys[node]: number for node, number in kept.items()},
            {window.keys[node]: degrees[node] for node in kept},
        )

    def _written(self, cursor: str) -> Page:
        """The next topic that is not written yet, or the end of its window, or of the step."""
        after, _, place = cursor.partition("|")
        found = self.topics.grouped()
        if found is None:
            return Page(after, done=True)
        window, topics = found
        of_window, _, reached = place.partition("|")
        identities = [self._identity(topic) for topic in topics]
        standing = self.topics.standing(identities)
        for number in range(int(reached) if of_window == str(window) else 0, len(topics)):
            if identities[number] in standing:
                continue
            made = self._derived(window, topics[number], identities[number])
            changes = (made,) if made is not None else ()
            counts = {"changed": len(changes), "derived": len(changes)}
            return Page(f"{after}|{window}|{number + 1}", changes=changes, counts=counts)
        return Page(after, changes=(Settled(KIND, window, tuple(identities)),))

    def _identity(self, topic: Topic) -> bytes:
        return turn_identity(
            self.memories.salt, "", turn_id=f"{KIND} {' '.join(sorted(topic.ids))}"
        )

    def _derived(self, window: int, topic: Topic, identity: bytes) -> Derived | None:
        members = self.memories.get(topic.keys[:_READ])
        made = digest(members)
        if made is None:
            return None
        latest = max(members, key=lambda memory: (memory.at.micros, memory.key))
        return Derived(
            kind=KIND,
            home=window,
            identity=identity,
            tier="semantic",
            project=latest.provenance.project,
            text=made.text,
            cue=made.label,
            at=latest.at,
            valid_from=min(memory.at.micros for memory in members),
            meta=_meta(made, members, topic),
            sources=topic.keys,
        )


def _meta(made: Digest, members: list[Memory], topic: Topic) -> str:
    ids = {memory.key: memory.id for memory in members}
    quoted = [ids[key] for key in made.quoted]
    listed = list(dict.fromkeys([*quoted, *topic.ids]))[:_LISTED]
    told = {"derived": KIND, "sources": listed, "source_count": len(topic.ids)}
    return json.dumps(told, separators=(",", ":"))
