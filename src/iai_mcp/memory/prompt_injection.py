"""The few memories that a prompt should not be answered without; mostly there are none."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from iai_mcp.domain.briefing_text import Briefing, CountTokens, Source, heading_of
from iai_mcp.domain.memories import Memory, is_from
from iai_mcp.domain.quoting import quotation
from iai_mcp.domain.relevance import Mode, confident, match, read_prompt
from iai_mcp.memory.injections import Injections
from iai_mcp.memory.question import Answer, Hit, Question
from iai_mcp.memory.scoping import Caller, Filter
from iai_mcp.ports.surroundings import Projects

MOST_TOKENS = 300
_CONSIDERED = 12
_MOST_MEMORIES = 4
_LONGEST_CUE = 4000
_LONGEST_TEXT = 900
_BUDGET = 100_000  # tokens of what is considered
_HEADING = "Said earlier in this project, and close to this prompt:"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPrompt:
    """A prompt as a session sends it to its agent."""

    text: str
    session_id: str = ""
    project: str = ""  # a name or a path
    caller: Caller = field(default_factory=Caller)
    budget: int = MOST_TOKENS


@dataclass(frozen=True, slots=True)
class PromptInjection:
    """Recall, with a bar that most prompts' memories do not clear."""

    projects: Projects
    recall: Callable[[Question], Answer]
    mode: Callable[[], Mode]
    count_tokens: Callable[[], CountTokens]
    injections: Injections
    # The sessions that a session goes on from, with itself.
    lineage: Callable[[str], frozenset[str]]

    def __call__(self, asked: NewPrompt) -> Briefing:
        key = self.projects.key_of(asked.project, asked.caller.cwd)
        made = self._made(asked, key)
        self.injections.record("prompt", asked.session_id, key, made)
        return made

    def _made(self, asked: NewPrompt, project: str) -> Briefing:
        mode, prompt = self.mode(), read_prompt(asked.text)
        if mode == "off" or not prompt.worth_asking:
            return Briefing()
        chosen: list[tuple[Memory, str]] = []
        for hit in self._candidates(asked, project):
            why = confident(match(prompt, hit.memory.text, hit.cosine), mode)
            if why is not None:
                chosen.append((hit.memory, why))
        return _within(chosen[:_MOST_MEMORIES], asked.budget, self.count_tokens())

    def _candidates(self, asked: NewPrompt, project: str) -> list[Hit]:
        """The best of recall that hold, were said elsewhere, and were not given before."""
        question = Question(
            cue=asked.text[:_LONGEST_CUE],
            about=Filter(project=project, trusted=True),
            caller=asked.caller,
            limit=_CONSIDERED,
            budget=_BUDGET,
            full=True,
        )
        given = self.injections.given_to(asked.session_id)
        own = self.lineage(asked.session_id)
        return [
            hit
            for hit in self.recall(question).hits
            if hit.memory.id not in given
            and hit.memory.valid_to is None
            and not hit.memory.derived
            and not is_from(hit.memory, own)
            and hit.memory.text.strip() != asked.text.strip()
        ]


def _within(chosen: Sequence[tuple[Memory, str]], budget: int, count: CountTokens) -> Briefing:
    lines = [_HEADING]
    used = count(_HEADING)
    sources: list[Source] = []
    for memory, why in chosen:
        text = memory.text.strip()
        if len(text) > _LONGEST_TEXT:
            continue
        said = f"{heading_of(memory)}\n{quotation(text)}"
        cost = count(said)
        if used + cost <= budget:
            lines.append(said)
            used += cost
            sources.append(Source(memory.id, why))
    if not sources:
        return Briefing()
    return Briefing("\n".join(lines), used, tuple(sources))
