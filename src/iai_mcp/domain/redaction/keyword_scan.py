"""Where it is worth while to look for secrets: one pass over a text finds the words that hint at one.

Every rule names its clues, words of which one has to be there. Most texts hold none of them all, and
most others only some: rules whose clues are missing cost nothing.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from iai_mcp.domain.pieces import matches

# start, end, kind
Span = tuple[int, int, str]
# From a text, and the same in lower case letter by letter, to the secrets in it.
Search = Callable[[str, str], Iterator[Span]]
# (clues in lower case, search)
Rule = tuple[tuple[str, ...], Search]

# Letters that are frequent in texts: a clue that began with one of these would stop the pass at every
# other letter.
_FREQUENT = "eionrdu"
_NEXT_FREQUENT = "taslcmpbk"  # at these it has to stop, and looks for them first
_SHORTEST_CLUE = 4


@dataclass(frozen=True, slots=True)
class Clues:
    """The clues in a text, and where the hearts of names are: start, end."""

    words: frozenset[str]
    hearts: tuple[tuple[int, int], ...]


_NONE = Clues(frozenset(), ())


class Watch:
    """Looks for the clues of all rules at once, and for the hearts of names."""

    def __init__(
        self, words: Iterable[str], hearts: Iterable[str], is_heart: Callable[[str, str, int], bool]
    ) -> None:
        self._is_heart = is_heart  # of a text, a word in it that may be one, and where it begins
        meant: dict[str, set[str]] = {heart: set() for heart in hearts}
        longest_first = sorted(meant, key=len, reverse=True)
        for word in words:
            meant.setdefault(_without_frequent(word), set()).add(word)
        # Of those that begin at the same letter only the longest is found: it stands for the others.
        self._meant = {
            found: frozenset().union(*(meant[part] for part in meant if found.startswith(part)))
            for found in meant
        }
        self._heart = {
            found: next((heart for heart in longest_first if found.startswith(heart)), "")
            for found in meant
        }
        self._clue = re.compile(tree(meant))
        # One letter at a time, so that none is overlooked because it begins within another.
        heads: dict[str, list[str]] = {}
        for found in meant:
            heads.setdefault(found[0], []).append(found[1:])
        first = sorted(heads, key=lambda head: (_NEXT_FREQUENT + head).index(head))
        self._begins = re.compile(
            "|".join(f"{re.escape(head)}(?={tree(heads[head])})" for head in first)
        )

    def look(self, lowered: str) -> Clues:
        """The clues in a text in lower case."""
        words: set[str] = set()
        hearts: list[tuple[int, int]] = []
        for begin in matches(self._begins, lowered):
            clue = self._clue.match(lowered, begin.start())
            if clue is None:
                continue
            words.add(clue[0])
            heart = self._heart[clue[0]]
            if heart and self._is_heart(lowered, heart, clue.start()):
                hearts.append((clue.start(), clue.start() + len(heart)))
        if not words:
            return _NONE
        return Clues(frozenset().union(*(self._meant[word] for word in words)), tuple(hearts))


def _without_frequent(word: str) -> str:
    """`word` from its first letter on that is not frequent, if enough of it remains."""
    rest = word.lstrip(_FREQUENT)
    return rest if len(rest) >= _SHORTEST_CLUE else word


def tree(words: Iterable[str]) -> str:
    """An expression for any of `words`, the longest first, that looks at each letter once."""
    branches: dict[str, list[str]] = {}
    for word in words:
        branches.setdefault(word[:1], []).append(word[1:])
    ends_here = branches.pop("", None) is not None
    joined = "|".join(re.escape(head) + tree(tails) for head, tails in sorted(branches.items()))
    if not joined:
        return ""
    return f"(?:{joined}){'?' if ends_here else ''}"


def has_any(text: str, needles: tuple[str, ...]) -> bool:
    # A generator would cost more than the search itself.
    return any([needle in text for needle in needles])  # noqa: C419
