"""Pieces of work: a request, what it came to, and the short requests that only carried it on."""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from iai_mcp.domain.cue.exact import exact_parts
from iai_mcp.domain.cue.stop_words import stop_words
from iai_mcp.domain.exchanges import said_within
from iai_mcp.domain.memories import SUMMARY, Memory
from iai_mcp.domain.words import count, words
from iai_mcp.domain.work import Record

_SHORT = 12  # words: whoever says more says what the work is
# Words of a request, without stop words: those that few others have, and all of them.
_FEWEST_OWN, _FEWEST = 2, 3
_COMMON_IN_FEW = 5
_COMMON = 0.04  # of all requests: words that so many hold tell none of them apart
_READ = 2_000  # characters of a request
_ASKS = ("?", "？", "؟")
_ANNOUNCES = (":", "：")


@dataclass(frozen=True, slots=True)
class Piece:
    """One request with its conclusion. Either may be missing, never both."""

    request: Memory | None
    conclusion: Memory | None

    @property
    def head(self) -> Memory:
        """The memory whose id opens the whole exchange."""
        head = self.request or self.conclusion
        if head is None:
            raise ValueError("a piece of work without a turn")
        return head

    @property
    def last(self) -> Memory:
        return self.conclusion or self.head


@dataclass(slots=True)
class _Open:
    """A piece while its turns are read."""

    request: Memory | None
    conclusion: Memory | None = None
    concluded: bool = False  # what is said from now on belongs to a "commit it" or the like


def spoken_by_person(memory: Memory) -> bool:
    """Whether a person said it: not a model to its sub-agent, and not an agent with a tool."""
    if memory.role != "user" or memory.derived or memory.provenance.captured_by:
        return False
    if "sidechain" in memory.meta or "subagent" in memory.meta:
        return False
    # An agent that we launched has a profile: what is typed into its terminal is the person's.
    return not memory.provenance.agent_id or "profile" in memory.meta


def pieces(turns: Iterable[Memory], worked: Iterable[Record] = ()) -> list[Piece]:
    """The work that these turns tell, newest first. Turns may come in any order.

    `worked` is what was done meanwhile: a reply that was followed by a command or an edit told what was to
    be done next, and concludes nothing.
    """
    times: defaultdict[str, list[int]] = defaultdict(list)
    for one in worked:
        times[one.provenance.session_id].append(one.at.micros)
    said = [one for one in turns if _is_turn(one)]
    said.sort(key=lambda one: (one.provenance.session_id, one.at.micros, one.key))
    is_bare = bare_request(one.text for one in said if begins(one))
    found: list[Piece] = []
    for name, session in groupby(said, key=lambda one: one.provenance.session_id):
        found += _of_session(list(session), is_bare, sorted(times[name]))
    return sorted(found, key=lambda piece: (-piece.last.at.micros, -piece.last.key))


def _is_turn(memory: Memory) -> bool:
    """Whether it was said in a session: a summary was not, nor was a note that an agent's tool added."""
    whence = memory.provenance
    return bool(whence.session_id) and memory.role != SUMMARY and not whence.captured_by


def begins(memory: Memory) -> bool:
    """Whether a turn begins an exchange."""
    return memory.role == "user" and not said_within(memory.role, memory.meta)


def bare_request(requests: Iterable[str]) -> Callable[[str, int], bool]:
    """Tells requests that say nothing of their own: "commit", "push it", "yes, continue".

    Such a request is short, names nothing exactly, and has hardly a word that few other requests have,
    or fewer words than the number it is told with.
    """
    known = [_telling(text) for text in requests]
    held = Counter(word for telling in known for word in telling)
    most = max(_COMMON_IN_FEW, int(_COMMON * len(known)))
    common = frozenset(word for word, times in held.items() if times > most)

    def is_bare(text: str, fewest: int = _FEWEST) -> bool:
        if count(text) > _SHORT or exact_parts(text[:_READ]):
            return False
        telling = _telling(text)
        return len(telling) < fewest or len(telling - common) < _FEWEST_OWN

    return is_bare


def _telling(text: str) -> frozenset[str]:
    said = words(text[:_READ])
    silent: Collection[str] = stop_words(said)
    return frozenset(word for word in said if word not in silent)


def _of_session(
    turns: Sequence[Memory], is_bare: Callable[[str, int], bool], worked: Sequence[int]
) -> list[Piece]:
    opened: list[_Open] = []
    for place, turn in enumerate(turns):
        if turn.role != "user":
            opened = opened or [_Open(None)]
            until = turns[place + 1].at.micros if place + 1 < len(turns) else None
            # What is said last before the person speaks again concludes the work.
            if not (opened[-1].concluded or _announces(turn, until, worked)):
                opened[-1].conclusion = turn
        elif not begins(turn):
            continue  # an answer to a question of the host: the work goes on
        elif opened and is_bare(turn.text, _FEWEST):
            # What comes of "commit it" is no conclusion, but what comes of a "yes" to a question is.
            last = opened[-1].conclusion
            opened[-1].concluded = last is not None and not last.text.rstrip().endswith(_ASKS)
        else:
            opened.append(_Open(turn))
    return [
        Piece(one.request, one.conclusion)
        for one in opened
        if one.conclusion is not None
        or (one.request is not None and not is_bare(one.request.text, _FEWEST_OWN))
    ]


def _announces(turn: Memory, until: int | None, worked: Sequence[int]) -> bool:
    """Whether a reply led to work before the next turn, or ends as if it did."""
    if turn.text.rstrip().endswith(_ANNOUNCES):
        return True
    after = bisect_right(worked, turn.at.micros)
    return after < len(worked) and (until is None or worked[after] <= until)
