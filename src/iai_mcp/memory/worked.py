"""What is shown of the exchanges of worked sessions: pieces of their turns, each with its request."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from iai_mcp.domain.cue_matching import CueMatcher
from iai_mcp.domain.derived import Derived
from iai_mcp.domain.excerpts import quoted
from iai_mcp.domain.exchanges import RankedExchange, TurnKind
from iai_mcp.domain.filling import Picked, Spoken, fill, worth_looking_at
from iai_mcp.domain.memories import Memory, as_in
from iai_mcp.domain.narration import broken_off
from iai_mcp.domain.ranking.reasons import told
from iai_mcp.domain.shown_text import shortened
from iai_mcp.domain.standing import may_state_a_wish, standing_wish
from iai_mcp.domain.units import units
from iai_mcp.memory import payload
from iai_mcp.memory.question import Hit, Question
from iai_mcp.memory.replies import REQUEST, request
from iai_mcp.memory.room import Shown
from iai_mcp.ports.memories import Memories, Scope

_BY_PEOPLE = (TurnKind.PROMPT, TurnKind.ANSWER, TurnKind.PASTE)
_READ_WHOLE = 2  # exchanges
_FINDINGS = 4  # that are read of one exchange, the last ones: the end says most of it again
_READ_OF_EACH = 100_000  # characters
_QUESTION = 160  # characters of the host's question that a person answers
_WISH = 1_500  # characters: a longer prompt is not a ruling, though one may stand in it
_KEPT = 4_096  # prompts of which is known whether they rule

_ruling = Derived[bool](_KEPT)


@dataclass(frozen=True, slots=True)
class Worked:
    """The exchanges that may be shown, best first, and those of their turns that were read."""

    exchanges: Sequence[RankedExchange]
    turns: Mapping[int, Memory]

    def without(self, keys: Collection[int]) -> "Worked":
        """The same, of which these turns are shown otherwise or not at all."""
        if not keys:
            return self
        return replace(self, turns={k: one for k, one in self.turns.items() if k not in keys})


def read_work(
    ranked: Sequence[RankedExchange], memories: Memories, scope: Scope, room: int
) -> Worked:
    """What is worth looking at for an answer of so many bytes, with the words of it."""
    exchanges = worth_looking_at(ranked, room)
    # What a person corrected may be anything that was said: in the first ones all of it is looked at.
    keys = [key for exchange in exchanges[:_READ_WHOLE] for key in exchange.keys]
    keys += [key for exchange in exchanges[_READ_WHOLE:] for key in _worth_reading(exchange)]
    found = memories.get(keys, _READ_OF_EACH) if keys else ()
    return Worked(exchanges, {one.key: as_in(one, scope.session_id) for one in found})


def _worth_reading(exchange: RankedExchange) -> list[int]:
    """Its turns without narration, unless nothing else was said; of many findings the last."""
    told_of = list(zip(exchange.keys, exchange.kinds, strict=True))
    findings = [key for key, kind in told_of if kind is TurnKind.FINDING]
    left_out = set(findings[:-_FINDINGS]) - {exchange.best}
    kept = [key for key, kind in told_of if kind is not TurnKind.NARRATION and key not in left_out]
    concluded = any(kind not in (*_BY_PEOPLE, TurnKind.NARRATION) for _, kind in told_of)
    return kept if concluded else [*kept, *(key for key in exchange.keys if key not in kept)]


@dataclass(frozen=True, slots=True)
class WorkShown:
    """How hits are made of work for one question."""

    asked: Question
    about: CueMatcher
    own_stance: bool  # whether the cue asks what the person thinks
    memories: Memories

    def __call__(self, work: Worked, room: int, most: int) -> list[Hit]:
        """At most so many hits in so many bytes, best first."""
        drafts = {
            key: hit for exchange in work.exchanges for key, hit in self._drafts(exchange, work)
        }
        spoken = {
            key: self._spoken(hit, kind)
            for exchange in work.exchanges
            for key, kind in zip(exchange.keys, exchange.kinds, strict=True)
            if (hit := drafts.get(key)) is not None
        }

        @cache
        def made(pick: Picked, asked: bool) -> tuple[Hit, int]:
            """With the bytes that it takes; the same pieces are tried more than once."""
            hit = _hit(pick, drafts[pick.key], work, asked=asked)
            return hit, payload.of_hit(hit)

        def hits(picked: Sequence[Picked]) -> list[tuple[Hit, int]]:
            told = {pick.key for pick in picked}  # a prompt that is a hit itself is no request
            found = []
            for pick in picked:
                prompt = work.exchanges[pick.exchange].keys[0]
                answers = bool(spoken[pick.key].question)
                found.append(made(pick, answers or prompt not in told))
                told |= set() if answers else {prompt}  # once for all that answers it
            return found

        picked = fill(
            work.exchanges,
            spoken,
            self.about,
            room,
            most=most,
            own_stance=self.own_stance,
            taken=lambda found: sum(size for _, size in hits(found)),
        )
        return [hit for hit, _ in hits(picked)]

    def _drafts(self, exchange: RankedExchange, work: Worked) -> Iterator[tuple[int, Hit]]:
        reason, prompt = told(exchange.parts), self._prompt(exchange, work)
        for key in _worth_reading(exchange):
            if key in work.turns:
                yield (
                    key,
                    Hit(
                        shown=Shown(work.turns[key]),
                        score=exchange.shown,
                        reason=reason,
                        parts=exchange.parts if self.asked.explain else None,
                        cosine=exchange.cosine,
                        request=self._request(key, prompt, exchange, work),
                    ),
                )

    def _spoken(self, hit: Hit, kind: TurnKind) -> Spoken:
        memory = hit.memory
        person = kind in _BY_PEOPLE
        if not person and broken_off(memory.text):
            kind = TurnKind.NARRATION  # though it is the last that was said
        return Spoken(
            key=memory.key,
            kind=kind,
            text=memory.text,
            person=person,
            around=payload.around_hit(hit) + payload.EXCERPT,
            wish=person and _ruling.of(memory.text, _states_a_wish),
            asks=person and memory.text.rstrip().endswith(("?", "？", "؟")),
            question=_question(memory),
            elsewhere=payload.elsewhere(memory),
        )

    def _request(self, key: int, prompt: str, exchange: RankedExchange, work: Worked) -> str:
        """What a turn answers: the prompt, and how it was corrected since; or the question of the host."""
        before = exchange.keys[: exchange.keys.index(key)]
        if question := _question(work.turns[key]):
            return shortened(question, _QUESTION)
        if not before:
            return ""
        within = [work.turns[one] for one in before[1:] if one in work.turns]
        parts = [prompt]
        parts += [shortened(one.text, REQUEST) for one in within if "rejected" in one.meta][-1:]
        if not any(parts):
            answered = [one for one in within if _question(one)][-1:]
            parts = [shortened(_question(one), _QUESTION) for one in answered]
            parts += [shortened(one.text, REQUEST) for one in answered]
        return " … ".join(filter(None, parts))

    def _prompt(self, exchange: RankedExchange, work: Worked) -> str:
        """The prompt that it begins with; with the proposal that it means, if it is a short answer."""
        first, kind = exchange.keys[0], exchange.kinds[0]
        if kind not in _BY_PEOPLE or first not in work.turns:
            return ""
        return request(work.turns[first], self.memories, answers=kind is TurnKind.ANSWER)


def _question(memory: Memory) -> str:
    """The question of the host that a person answers."""
    asked = memory.meta.get("answers")
    return asked if memory.role == "user" and isinstance(asked, str) else ""


def _hit(pick: Picked, draft: Hit, work: Worked, *, asked: bool) -> Hit:
    """What was picked; with the request, if it is to say what was asked."""
    text = draft.memory.text
    pieces = quoted(text, pick.spans)
    whole = len(pieces) >= len(text.strip())
    also = tuple(work.turns[key] for key in pick.also if key in work.turns)
    return replace(
        draft,
        shown=Shown(draft.memory)
        if whole
        else Shown(replace(draft.memory, text=pieces), len(text)),
        request=draft.request if asked else "",
        also=also,
    )


def _states_a_wish(text: str) -> bool:
    """Whether a person states a standing wish."""
    if len(text) >= _WISH or not may_state_a_wish(text):
        return False
    return any(standing_wish(text[unit.start : unit.end]) for unit in units(text))
