"""What is asked of memory, and what it answers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from iai_mcp.domain.errors import EmptyCue
from iai_mcp.domain.memories import Memory
from iai_mcp.memory.room import Shown
from iai_mcp.memory.scoping import Caller, Filter
from iai_mcp.ports.embedder import Matrix

DEFAULT_HITS = 10
MOST_HITS = 100
DEFAULT_BUDGET = 1500  # tokens
# What a cue says beyond this decides nothing, and others would wait for it to be read.
LONGEST_CUE = 10_000  # characters


def usual_hits(budget: int) -> int:
    """How many hits come at most where nobody says: who gives more room wants more of them."""
    return min(max(DEFAULT_HITS, DEFAULT_HITS * budget // DEFAULT_BUDGET), MOST_HITS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A cue, never blank, and the bounds of the answer."""

    cue: str
    wordings: tuple[str, ...] = ()  # other ways to say it, above all how the answer may be worded
    about: Filter = field(default_factory=Filter)
    caller: Caller = field(default_factory=Caller)
    limit: int = DEFAULT_HITS
    budget: int = DEFAULT_BUDGET  # tokens
    context: int = 0  # turns around each hit
    by_session: bool = False
    fold: bool = True  # whether what says the same is one hit
    explain: bool = False  # whether each hit says what its score is made of
    full: bool = False  # whole turns instead of excerpts
    language: str | None = None
    now: datetime | None = None  # the clock of who asks, if not ours
    vector: Matrix | None = None  # the cue's, if the caller has made it
    as_text: bool = False  # the answer as one text instead of hits
    work: bool = False  # whether a text tells of commands and edits that fit
    # The bytes that a hit takes besides its text, where the answer is hits.
    around: Callable[["Hit"], int] | None = None

    def __post_init__(self) -> None:
        if not self.cue.strip():
            raise EmptyCue("the cue is blank: say what you want to recall")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A memory that answers a cue, with what spoke for it."""

    shown: Shown
    score: float
    reason: str
    parts: Mapping[str, float] | None = None  # they sum up to `score`; None unless asked for
    cosine: float | None = None  # of the cue with it; None where that was not measured
    times: int = 1  # how often it was said
    same: tuple[str, ...] = ()  # ids of others that say the same
    request: str = ""  # the prompt that it concludes, shortened
    also: tuple[Memory, ...] = ()  # where else the same text stands
    next: str = ""  # the person's next message in that session
    around: "Around | None" = None  # None unless asked for

    @property
    def memory(self) -> Memory:
        return self.shown.memory


@dataclass(frozen=True, slots=True)
class Around:
    """The turns before and after a hit in its session, each in the order said."""

    before: tuple[Shown, ...]
    after: tuple[Shown, ...]


@dataclass(frozen=True, slots=True)
class SessionHits:
    """A session with its hits, in the order said."""

    session_id: str
    project: str
    score: float  # of its best hit
    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """A further result as one line."""

    id: str
    line: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Hits, best first; `superseded` would have answered but no longer hold."""

    hits: tuple[Hit, ...]
    superseded: tuple[Hit, ...] = ()
    close: bool = False  # whether any of it is really about the cue
    sessions: tuple[SessionHits, ...] | None = None  # None unless asked for
    by_meaning: bool = False  # or by words alone
    degraded: tuple[str, ...] = ()  # sentences
    more: tuple["Line", ...] = ()  # further results
    text: str = ""  # the whole answer, where that was asked for
    stages: Mapping[str, object] | None = None  # what each stage did; None unless asked for
