"""The few memories that a prompt should not be answered without; mostly there are none."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from iai_mcp.domain.briefing_text import Briefing, CountTokens, Source, heading_of
from iai_mcp.domain.memories import Memory
from iai_mcp.domain.quoting import quotation
from iai_mcp.domain.ranking.weights import usual
from iai_mcp.domain.relevance import Mode, confident, match, read_prompt
from iai_mcp.memory.injections import Injections
from iai_mcp.memory.recall import MeaningLeg
from iai_mcp.ports.memories import Memories
from iai_mcp.ports.surroundings import Projects
from iai_mcp.protocol.params import Params

MOST_TOKENS = 300
_CONSIDERED = 12
_MOST_MEMORIES = 4
_LONGEST_CUE = 4000
_LONGEST_TEXT = 900
_HEADING = "Said earlier in this project, and close to this prompt:"

Recalling = Callable[[Params], dict[str, object]]


@dataclass(frozen=True, slots=True)
class PromptInjection:
    """Recall, with a bar that most prompts' memories do not clear."""

    memories: Memories
    projects: Projects
    recall: Recalling
    meaning: Callable[[], MeaningLeg | str]
    mode: Callable[[], Mode]
    count_tokens: Callable[[], CountTokens]
    injections: Injections

    def __call__(self, params: Params) -> dict[str, object]:
        text = params.text("prompt")
        session = params.text("session_id", "")
        key = self.projects.key_of(params.text("project", ""), params.text("cwd", ""))
        budget = params.integer("budget_tokens", MOST_TOKENS, 1, MOST_TOKENS)
        where: dict[str, object] = {"project": key, "cwd": params.text("cwd", "")}
        made = self._made(text, where, session, budget)
        self.injections.record("prompt", session, key, made)
        return {
            "text": made.text,
            "tokens": made.tokens,
            "sources": [asdict(source) for source in made.sources],
        }

    def _made(self, text: str, where: dict[str, object], session: str, budget: int) -> Briefing:
        mode, prompt = self.mode(), read_prompt(text)
        if mode == "off" or not prompt.worth_asking:
            return Briefing()
        found = self._candidates(text, where, session)
        cosines = self._cosines(text, found)
        chosen: list[tuple[Memory, str]] = []
        for memory in found:
            why = confident(match(prompt, memory.text, cosines.get(memory.key)), mode)
            if why is not None:
                chosen.append((memory, why))
        return _within(chosen[:_MOST_MEMORIES], budget, self.count_tokens())

    def _candidates(self, text: str, where: dict[str, object], session: str) -> list[Memory]:
        """The best of recall that hold, were said elsewhere, and were not given before."""
        cue = {"cue": text[:_LONGEST_CUE], "k": _CONSIDERED, "budget_tokens": 100_000}
        hits = self.recall(Params(where | cue))["hits"]
        ids = [str(hit["id"]) for hit in hits] if isinstance(hits, list) else []
        given = self.injections.given_to(session)
        return [
            memory
            for memory in self.memories.find([i for i in ids if i not in given])
            if memory.valid_to is None
            and not memory.derived
            and (not session or memory.provenance.session_id != session)
            and memory.text.strip() != text.strip()
        ]

    def _cosines(self, text: str, found: Sequence[Memory]) -> dict[int, float]:
        leg = self.meaning()
        if isinstance(leg, str) or not found:
            return {}
        vector = leg.embedder.embed([text[:_LONGEST_CUE]])[0]
        near = leg.vectors.nearest(vector, len(found), sorted(m.key for m in found))
        return {key: usual(leg.embedder.model_id, cosine) for key, cosine in near}


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
