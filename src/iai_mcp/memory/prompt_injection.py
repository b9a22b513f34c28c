"""What a prompt should not be answered without: rules for what it asks for, and what was concluded."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from iai_mcp.domain.briefing_text import Briefing, CountTokens, Source, heading_of, of_a_member
from iai_mcp.domain.memories import Memory, is_from
from iai_mcp.domain.quoting import in_line, quotation
from iai_mcp.domain.recap import Ended, about_that, begins, exchange_of, interrupted, unsaid
from iai_mcp.domain.relevance import (
    Match,
    Mode,
    Prompt,
    confident,
    match,
    may_be_about,
    rarity,
    read_prompt,
)
from iai_mcp.domain.rule_register import Rule
from iai_mcp.domain.rule_topics import applying, task
from iai_mcp.domain.rulings import asks
from iai_mcp.memory.briefing import project_scope
from iai_mcp.memory.injections import Injections
from iai_mcp.memory.question import Answer, Hit, Question
from iai_mcp.memory.rules import Rules
from iai_mcp.memory.scoping import Access, Caller, Filter
from iai_mcp.ports.memories import Memories
from iai_mcp.ports.surroundings import Clock

MOST_TOKENS = 300
_CONSIDERED = 12
_MOST_MEMORIES = 3
_MOST_RULES = 12
_LONGEST_CUE = 4000
_NEAR, _AROUND = 6, 24  # turns on either side: where a long piece of work began and ended
_READ_OF_EACH = 12_000  # characters
_ROOM = 420  # characters of one conclusion: half of all are longer than any room for them
_REQUEST = 160
_BUDGET = 100_000  # tokens of what is considered
_RULES = "Rules that hold here, for what is asked:"
_HEADING = "Concluded earlier in this project, and about this prompt:"


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
    """Recall, with a bar that most prompts' memories do not clear, and rules by their topic."""

    memories: Memories
    access: Access
    recall: Callable[[Question], Answer]
    rules: Rules
    holding: Callable[[Collection[str]], Mapping[str, int]]  # how many memories hold each word
    mode: Callable[[], Mode]
    count_tokens: Callable[[], CountTokens]
    injections: Injections
    clock: Clock

    def __call__(self, asked: NewPrompt) -> Briefing:
        began = self.clock.now()
        key = self.access.projects.key_of(asked.project, asked.caller.cwd)
        made = self._made(asked, key)
        if asked.within is not None and self.clock.now() - began > asked.within:
            return Briefing()  # what comes too late was given to nobody
        self.injections.record("prompt", asked.session_id, key, made)
        return made

    def _made(self, asked: NewPrompt, project: str) -> Briefing:
        mode, prompt = self.mode(), read_prompt(asked.text)
        if mode == "off":
            return Briefing()
        page = _Page(asked.budget, self.count_tokens())
        given = self.injections.given_to(asked.session_id)
        # What the session has before it already, and those that it was resumed or forked from.
        own = self.injections.lineage(asked.session_id)
        for rule in self._applying(asked, project, small_talk=not prompt.worth_asking):
            if rule.memory.id not in given and not is_from(rule.memory, own):
                told = f"- “{rule.ruling.sentence}”{of_a_member(rule.memory)}"
                page.add(_RULES, in_line(told), [_source(rule)])
        if not prompt.worth_asking:
            return page.made()
        spoken = 0
        for ended, why in self._concluded(asked, project, own, prompt, mode):
            quoted = _quoted(ended, why, prompt, page.shown)
            if quoted is not None and ended.memory.id not in given | page.told:
                spoken += page.add(_HEADING, *quoted)
            if spoken == _MOST_MEMORIES:
                break
        return page.made()

    def _applying(self, asked: NewPrompt, project: str, *, small_talk: bool) -> list[Rule]:
        """The rules for what the prompt asks to make or do; last those beside something outdated."""
        wanted = task(asked.text[:_LONGEST_CUE], small_talk=small_talk)
        if wanted is None:
            return []
        scope = project_scope(project, self.memories, self.access.projects)
        closed = self.access.closed_to(asked.caller, scope.projects)
        known = self.rules.of(replace(scope, not_projects=closed))
        found = applying(known.holding, wanted)
        return sorted(found, key=lambda rule: rule.memory.key in known.newer)[:_MOST_RULES]

    def _concluded(
        self, asked: NewPrompt, project: str, own: frozenset[str], prompt: Prompt, mode: Mode
    ) -> Iterator[tuple[Ended, str]]:
        """What the exchanges that recall finds came to, as far as it is worth interrupting for.

        Most prompts get nothing. So what could not clear the bar whatever it says is not even looked for.
        """
        turns = self.memories.count()
        rare = {term: rarity(turns, held) for term, held in self.holding(prompt.terms).items()}
        best = Match(1.0, sum(rare.values()), 1.0, bool(prompt.names))
        if confident(best, mode) is None:
            return
        found: set[int] = set()
        for hit in self._hits(asked, project, own):
            if confident(replace(best, cosine=hit.cosine), mode) is None:
                continue
            ended = self._exchange(hit.memory)
            said = ended.memory
            empty = asks(said.text) if said is ended.prompt else interrupted(said.text)
            if said.key in found or empty:
                continue
            request = ended.prompt.text if ended.prompt is not None else ""
            why = confident(match(prompt, said.text, request, hit.cosine, rare), mode)
            if why is not None:
                found.add(said.key)
                yield ended, why

    def _hits(self, asked: NewPrompt, project: str, own: frozenset[str]) -> list[Hit]:
        """The best of recall that hold and were said in other conversations."""
        question = Question(
            cue=asked.text[:_LONGEST_CUE],
            about=Filter(project=project, trusted=True),
            caller=asked.caller,
            limit=_CONSIDERED,
            budget=_BUDGET,
            full=True,
        )
        return [
            hit
            for hit in self.recall(question).hits
            if hit.memory.valid_to is None
            and not hit.memory.derived
            and not is_from(hit.memory, own)
            and may_be_about(hit.cosine)
        ]

    def _exchange(self, memory: Memory) -> Ended:
        """What a turn belongs to: a question is never told without its answer."""
        if not memory.provenance.session_id:
            return Ended(memory, None)
        near = self._within(memory, _NEAR)
        return near or self._within(memory, _AROUND) or Ended(memory, None)

    def _within(self, memory: Memory, reach: int) -> Ended | None:
        """The same from so many turns on either side; None where it may reach beyond them."""
        sides = self.memories.neighbours(memory, reach, _READ_OF_EACH)
        # One session can go through several projects, and some of them are private.
        before, after = (
            [turn for turn in side if turn.provenance.project == memory.provenance.project]
            for side in sides
        )
        if reach < _AROUND:
            for side, own in zip(sides, (before, after), strict=True):
                if len(side) == reach and not any(map(begins, own)):
                    return None
        return exchange_of(memory, before, after)


@dataclass(slots=True)
class _Page:
    """Lines under their headings, as long as they fit."""

    budget: int
    count: CountTokens
    lines: list[str] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    shown: set[str] = field(default_factory=set)  # sentences, as `unsaid` knows them
    spent: int = 0

    @property
    def told(self) -> frozenset[str]:
        return frozenset(source.id for source in self.sources)

    def add(self, heading: str, text: str, sources: Sequence[Source]) -> bool:
        lines = [text] if heading in self.lines else [heading, text]
        cost = sum(map(self.count, lines))
        if self.spent + cost > self.budget:
            return False
        self.lines += lines
        self.sources += sources
        self.spent += cost
        return True

    def made(self) -> Briefing:
        return Briefing("\n".join(self.lines), self.spent, tuple(self.sources))


def _source(rule: Rule) -> Source:
    return Source(rule.memory.id, "a rule for what is asked")


def _quoted(
    ended: Ended, why: str, prompt: Prompt, shown: set[str]
) -> tuple[str, list[Source]] | None:
    """The passages of a conclusion that the prompt is about, and what it was an answer to.

    None of what only repeats, in another session, words that were shown.
    """
    memory = ended.memory
    said = unsaid(about_that(memory.text.strip(), prompt.terms, _ROOM), shown)
    if not said:
        return None
    lines, sources = f"{heading_of(memory)}\n{quotation(said)}", [Source(memory.id, why)]
    if ended.prompt is not None and ended.prompt is not memory:
        request = in_line(unsaid(ended.prompt.text[:_REQUEST], shown))
        if request:
            lines += f"\n  asked: “{request}”"
            sources.append(Source(ended.prompt.id, "what was asked"))
    return lines, sources
