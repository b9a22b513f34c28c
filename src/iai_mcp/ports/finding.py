"""The need to find what might answer a cue."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from iai_mcp.domain.exchanges import CueWords, ExchangeTurns
from iai_mcp.domain.ranking.candidates import Candidates
from iai_mcp.domain.ranking.exchanges import ExchangeCandidates
from iai_mcp.ports.memories import Scope
from iai_mcp.ports.vectors import Matrix


@dataclass(frozen=True, slots=True)
class Sought:
    """What to look for. `vector` is None while there is no model: words alone count then."""

    terms: Sequence[str]
    exact: Sequence[str]
    vector: Matrix | None
    scope: Scope
    also: Sequence[int] = ()  # keys to measure whatever the legs find
    # What those of the cue's words mean that the store has no vector of, by their token.
    words: Mapping[str, Matrix] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Looked:
    """What might answer: turns of talk, and exchanges of worked sessions."""

    talk: Candidates
    work: ExchangeCandidates | None  # None where nobody worked
    cue: CueWords


@dataclass(frozen=True, slots=True)
class People:
    """Speakers by name, and whether assistants spoke at all."""

    speakers: Sequence[str]
    assistants: bool
    worked: bool  # whether there are exchanges of more than a question and its answer


class Finder(Protocol):
    """Every call is safe from any thread."""

    def find(self, sought: Sought) -> Looked:
        """What might answer, talk with the turns around it; nothing if nothing is stored there.

        Raises:
            StoreError: the store can not be read.
        """
        ...

    def turns(self, heads: Sequence[int], scope: Scope) -> list[ExchangeTurns]:
        """The turns of the exchanges that these keys begin, as far as the scope holds them: one each."""
        ...

    def people(self, scope: Scope) -> People:
        """Who spoke there."""
        ...

    def number(self, column: str, name: str) -> int:
        """The number that stands for a speaker's, session's or project's name; -1 if unknown."""
        ...
