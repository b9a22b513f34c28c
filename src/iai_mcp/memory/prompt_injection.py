"""What is told with a prompt: at most three lines about earlier work that names the same things."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from iai_mcp.domain import session_index
from iai_mcp.domain.injected_text import CountTokens, InjectedText, section
from iai_mcp.domain.memories import SUMMARY, Memory, is_from
from iai_mcp.domain.prompt_match import Agreement, Mode, Prompt, agreement, rarity, read_prompt
from iai_mcp.domain.work_pieces import Piece, begins
from iai_mcp.memory.injections import Injections
from iai_mcp.memory.scoping import Access, Caller, project_scope
from iai_mcp.ports.memories import Memories, Scope
from iai_mcp.ports.surroundings import Clock
from iai_mcp.ports.words import WordIndex

MOST_TOKENS = 300
_MOST_LINES = 3
_CONSIDERED = 40  # turns
_RAREST = 12  # terms of the prompt that are searched
_READ_OF_EACH = 6_000  # characters
_TURNS = 60  # of one exchange
_ASKS = ("?", "？", "؟")
_HEADING = "Earlier work that names the same (memory_show opens it):"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPrompt:
    """A prompt as a session sends it to its agent."""

    text: str
    session_id: str = ""
    project: str = ""  # a name or a path
    caller: Caller = field(default_factory=Caller)
    budget: int = MOST_TOKENS
    within: int | None = None  # microseconds after which nobody waits any more


@dataclass(frozen=True, slots=True)
class PromptInjection:
    """Searches by words alone: no model is asked, and most prompts get nothing."""

    memories: Memories
    access: Access
    index: WordIndex
    exchanges: Callable[[int, int], list[list[int]]]  # see `Columns.exchanges`
    mode: Callable[[], Mode]
    count_tokens: Callable[[], CountTokens]
    injections: Injections
    clock: Clock

    def __call__(self, asked: NewPrompt) -> InjectedText:
        began = self.clock.now()
        key = self.access.projects.key_of(asked.project, asked.caller.cwd)
        made = self._made(asked, key)
        if asked.within is not None and self.clock.now() - began > asked.within:
            return InjectedText()  # what comes too late was given to nobody
        self.injections.record("prompt", asked.session_id, key, made)
        return made

    def _made(self, asked: NewPrompt, project: str) -> InjectedText:
        mode, prompt = self.mode(), read_prompt(asked.text)
        if mode == "off" or not prompt.terms:
            return InjectedText()
        scope = project_scope(project, self.memories, self.access.projects)
        scope = replace(
            scope,
            not_projects=self.access.closed_to(asked.caller, scope.projects),
            not_members=tuple(self.memories.members(untrusted=True)),
        )
        lines = [
            replace(line, sources=tuple(replace(one, why=why.why) for one in line.sources))
            for piece, why in self._agreeing(prompt, scope, asked.session_id, mode)
            for line in session_index.work_lines([piece], {})
        ]
        page = section(_HEADING, lines, asked.budget, self.count_tokens(), _MOST_LINES)
        return page.made()

    def _agreeing(
        self, prompt: Prompt, scope: Scope, session_id: str, mode: Mode
    ) -> list[tuple[Piece, Agreement]]:
        """The exchanges that agree with the prompt, best first, and newest among equals."""
        rarities = self._rarities(prompt)
        searched = sorted(rarities, key=lambda term: (-rarities[term], term))[:_RAREST]
        hits = self.memories.by_words(searched, scope, _CONSIDERED) if searched else []
        given = self.injections.given_to(session_id)
        own = self.injections.lineage(session_id)
        found: dict[int, tuple[Piece, Agreement]] = {}
        read: set[int] = set()
        for hit in hits:
            if hit.key in read:
                continue
            piece, turns = self._exchange(hit.key, scope)
            read.update(turn.key for turn in turns)
            if piece is None or is_from(piece.head, own) or not given.isdisjoint(_ids(piece)):
                continue
            why = agreement(prompt, "\n".join(turn.text for turn in turns), rarities, mode)
            if why is not None:
                found[piece.head.key] = (piece, why)
        return sorted(
            found.values(),
            key=lambda one: (-one[1].parts, -one[1].worth, -one[0].last.at.micros),
        )

    def _rarities(self, prompt: Prompt) -> dict[str, float]:
        turns = self.memories.count()
        with self.index.looked_up() as index:
            spelled = {term: index.spelled([term]) for term in prompt.terms}
            held = {
                term: min(index.holding(token) for token in tokens)
                for term, tokens in spelled.items()
                if tokens
            }
        # What nobody ever said finds nothing; it counts among what the prompt asks about.
        return {term: rarity(turns, number) for term, number in held.items()}

    def _exchange(self, key: int, scope: Scope) -> tuple[Piece | None, Sequence[Memory]]:
        """The request and the conclusion that a turn belongs to. A question alone is told to nobody."""
        keys = next(iter(self.exchanges(key, 0)), [key])
        keys = [*keys[: _TURNS // 2], *keys[len(keys[: _TURNS // 2]) :][-_TURNS // 2 :]]
        # One session can go through several projects, and some of them are private.
        turns = [
            turn
            for turn in self.memories.get(keys, _READ_OF_EACH)
            if scope.opens(turn.provenance.project)
            and turn.valid_to is None
            and not turn.derived
            and turn.role != SUMMARY
            and (turn.pinned or not turn.provenance.captured_by)
        ]
        request = next((turn for turn in turns if begins(turn)), None)
        replies = [turn for turn in turns if turn.role != "user"]
        if replies:
            return Piece(request, replies[-1]), turns
        asks = request is None or request.text.rstrip().endswith(_ASKS)
        return None if asks else Piece(request, None), turns


def _ids(piece: Piece) -> set[str]:
    return {one.id for one in (piece.request, piece.conclusion) if one is not None}
