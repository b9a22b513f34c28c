"""Finds the keywords of all rules in one pass, so that rules without a keyword in the text cost nothing."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from iai_mcp.domain.pieces import matches

# start, end, kind
Span = tuple[int, int, str]
# From a text, and the same in lower case letter by letter, to the secrets in it.
Search = Callable[[str, str], Iterator[Span]]
# (keywords in lower case, search)
Rule = tuple[tuple[str, ...], Search]

# Letters that are frequent in texts: a keyword that began with one of these would stop the pass at
# every other letter.
_FREQUENT = "eionrdu"
_NEXT_FREQUENT = "taslcmpbk"  # at these it has to stop, and looks for them first
_SHORTEST_KEYWORD = 4


@dataclass(frozen=True, slots=True)
class Keywords:
    """The keywords in a text, and where a name may announce a value: (start, end)."""

    words: frozenset[str]
    names: tuple[tuple[int, int], ...]


_NONE = Keywords(frozenset(), ())


class KeywordScanner:
    """Looks for the keywords of all rules at once, and for the keywords of names."""

    def __init__(
        self,
        words: Iterable[str],
        name_keywords: Iterable[str],
        is_name_keyword: Callable[[str, str, int], bool],
    ) -> None:
        """`is_name_keyword` takes a text, a word in it that may be one, and where the word begins."""
        self._is_name_keyword = is_name_keyword
        stands_for: dict[str, set[str]] = {keyword: set() for keyword in name_keywords}
        longest_first = sorted(stands_for, key=len, reverse=True)
        for word in words:
            stands_for.setdefault(_without_frequent(word), set()).add(word)
        # Of those that begin at the same letter only the longest is found: it stands for the others.
        self._stands_for = {
            keyword: frozenset().union(
                *(stands_for[part] for part in stands_for if keyword.startswith(part))
            )
            for keyword in stands_for
        }
        self._name_keyword = {
            keyword: next((name for name in longest_first if keyword.startswith(name)), "")
            for keyword in stands_for
        }
        self._keyword = re.compile(tree(stands_for))
        # One letter at a time, so that none is overlooked because it begins within another.
        tails: dict[str, list[str]] = {}
        for keyword in stands_for:
            tails.setdefault(keyword[0], []).append(keyword[1:])
        heads = sorted(tails, key=lambda head: (_NEXT_FREQUENT + head).index(head))
        self._begins = re.compile(
            "|".join(f"{re.escape(head)}(?={tree(tails[head])})" for head in heads)
        )

    def scan(self, lowered: str) -> Keywords:
        """The keywords in a text in lower case."""
        words: set[str] = set()
        names: list[tuple[int, int]] = []
        for begin in matches(self._begins, lowered):
            keyword = self._keyword.match(lowered, begin.start())
            if keyword is None:
                continue
            words.add(keyword[0])
            name = self._name_keyword[keyword[0]]
            if name and self._is_name_keyword(lowered, name, keyword.start()):
                names.append((keyword.start(), keyword.start() + len(name)))
        if not words:
            return _NONE
        return Keywords(
            frozenset().union(*(self._stands_for[word] for word in words)), tuple(names)
        )


def _without_frequent(word: str) -> str:
    """`word` from its first letter on that is not frequent, if enough of it remains."""
    rest = word.lstrip(_FREQUENT)
    return rest if len(rest) >= _SHORTEST_KEYWORD else word


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


def contains_any(text: str, needles: tuple[str, ...]) -> bool:
    # A generator would cost more than the search itself.
    return any([needle in text for needle in needles])  # noqa: C419
