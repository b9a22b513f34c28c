"""Finds topics: groups of memories that are near in meaning."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from iai_mcp.domain.nearness import (
    MEANING_FLOOR,
    WORDS_FLOOR,
    edges,
    without_splinters,
    word_vectors,
)
from iai_mcp.ports.learned import Communities, Topics, Window
from iai_mcp.ports.sleep import Assigned, Enough, Grouped, Page, never
from iai_mcp.recall.score import threshold

_ASSIGNED = 50  # of a page
# Memories that topics are looked for among at once: a page's work grows with its square.
_WINDOW = 384
_FEWEST = 3  # memories that make a topic
_OPENING = 2000  # letters that are compared where there are no vectors


@dataclass(frozen=True, slots=True)
class FindTopics:
    """First every new memory gets its place in a window; then the topics of each window that changed
    are found. What did not change stays as it is.
    """

    topics: Topics
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
        new = self.topics.unassigned(int(cursor), _ASSIGNED)
        if new:
            counts = {"changed": len(new)}
            return Page(str(new[-1]), changes=(Assigned(tuple(new), _WINDOW),), counts=counts)
        window = self.topics.changed()
        if window is None:
            return Page(cursor, done=True)
        grouped = self._grouped(window)
        counts = {"windows": 1, "topics": len(set(grouped.topic_of.values()))}
        return Page(cursor, changes=(grouped,), counts=counts)

    def _grouped(self, window: Window) -> Grouped:
        if len(window.keys) < _FEWEST:
            return Grouped(window.id, {}, {})
        vectors, floor = window.vectors, threshold(self.space(), MEANING_FLOOR)
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
