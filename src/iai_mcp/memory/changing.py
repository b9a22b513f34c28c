"""Contradict, reinforce, pin and forget: the ways a memory changes after it was captured."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

from iai_mcp.domain.errors import AlreadyExists, InvalidInput, NotAllowed
from iai_mcp.domain.exchanges import is_answer_to
from iai_mcp.domain.instants import Instant, from_micros
from iai_mcp.domain.memories import Memory, Provenance, Turn, clean, turn_identity
from iai_mcp.domain.shown_text import memories_and_work
from iai_mcp.domain.whole_words import Phrase
from iai_mcp.memory.forget_budget import PER_DAY, ForgetBudget
from iai_mcp.memory.forget_preview import Preview, preview
from iai_mcp.memory.scoping import UNNAMED_AGENT, Access, Caller, Filter, stands_in_held
from iai_mcp.ports.held import Held, HeldMemory
from iai_mcp.ports.memories import Memories, Stored
from iai_mcp.ports.surroundings import Clock, Redactor

_IDS = 100_000  # named in an answer; of more than that it says how many there were
_OF_A_QUESTION = 1_000  # characters: more is not noted of one
_AT_ONCE = 1000  # forgotten in one transaction: others write in between
_REINFORCE_STEP = 0.1
NOBODY = Provenance()
_REINFORCED_AT_MOST = 50  # pairs grow with the square


@dataclass(frozen=True, slots=True)
class Contradicted:
    """The memory that no longer holds, and the one that does."""

    old_id: str
    new_id: str
    at: int  # microseconds
    superseded: bool = True  # else both hold, and the new one is marked as an agent's


@dataclass(frozen=True, slots=True)
class Contradict:
    """A new fact that supersedes an old one: both stay, linked, and the newer comes first."""

    memories: Memories
    access: Access
    clock: Clock
    redact: Redactor
    stored: Callable[[Sequence[Stored]], None]

    def __call__(
        self,
        public_id: str,
        fact: str,
        caller: Caller,
        at: Instant | None = None,
        agent: Provenance = NOBODY,
    ) -> Contradicted:
        """An agent's fact supersedes what an agent captured, unless a person pinned or corrected that.
        Anything else it only disputes: both hold.

        Raises:
            NotFound: there is no such memory.
            AlreadyExists: that fact was forgotten.
            NotAllowed: an agent's call is about another project.
        """
        old = self.access.one(public_id, caller)
        now = self.clock.now()
        raw = Turn(
            identity=turn_identity(
                self.memories.salt,
                old.provenance.session_id,
                turn_id=f"contradicts {old.id} {fact}",
            ),
            text=fact,
            role="user" if old.provenance.captured_by else old.role,
            at=at or from_micros(now),
            speaker=old.speaker,
            tier=old.tier,
            provenance=_without_agent(old.provenance),
        )
        if caller.visitor:
            raw = self._by_agent(raw, old, caller, agent)
        new = clean(raw, self.redact(fact).text, lambda text: self.redact(text).text)
        hides = not caller.visitor or _is_agents(old)
        change = self.memories.supersede if hides else self.memories.dispute
        outcome = change(old, new, new.at.micros)
        if outcome.status == "forgotten":
            raise AlreadyExists(
                "that fact was forgotten before, and what was forgotten stays away: word it differently"
            )
        self.stored([outcome])
        return Contradicted(old.id, outcome.id, now, superseded=hides)

    def _by_agent(self, raw: Turn, old: Memory, caller: Caller, agent: Provenance) -> Turn:
        """The same fact as the agent's own words: of its session, in its project."""
        self.access.check_own(old, caller)
        whence = replace(
            agent,
            project=old.provenance.project,
            session_id=self.access.own_session(agent.session_id, caller),
            captured_by=caller.name or UNNAMED_AGENT,
        )
        identity = turn_identity(
            self.memories.salt,
            whence.session_id,
            turn_id=f"agent {whence.captured_by} contradicts {old.id} {raw.text}",
        )
        return replace(raw, identity=identity, role="assistant", speaker="", provenance=whence)


def _is_agents(memory: Memory) -> bool:
    """Whether it is an agent's note that no person confirmed or corrected."""
    whence = memory.provenance
    return bool(whence.captured_by) and not memory.pinned and memory.valid_to is None


def _without_agent(whence: Provenance) -> Provenance:
    """Where a person's correction of that belongs: an agent's note is answered in the person's words."""
    if not whence.captured_by:
        return whence
    return replace(whence, captured_by="", agent_id="", agent_name="")


@dataclass(frozen=True, slots=True)
class Reinforced:
    """What was linked."""

    links: int
    known: tuple[str, ...]  # ids
    unknown: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reinforce:
    """Memories that answered together are linked, so that one brings up the other."""

    memories: Memories
    access: Access
    clock: Clock

    def __call__(self, ids: Sequence[str], caller: Caller) -> Reinforced:
        if not ids:
            raise InvalidInput("ids must name at least one memory")
        if len(ids) > _REINFORCED_AT_MOST:
            raise InvalidInput(f"reinforce {_REINFORCED_AT_MOST} memories at a time at most")
        found = self.access.within(self.memories.find(ids), caller)
        pairs = list(combinations(sorted({memory.key for memory in found}), 2))
        linked = self.memories.link(pairs, "together", _REINFORCE_STEP, self.clock.now())
        known = tuple(memory.id for memory in found)
        return Reinforced(linked, known, tuple(i for i in ids if i.lower() not in known))


@dataclass(frozen=True, slots=True)
class Pin:
    """A pinned memory never fades."""

    memories: Memories
    access: Access

    def __call__(self, public_id: str, pinned: bool, caller: Caller) -> str:
        """Pin it or let it fade again; its id."""
        memory = self.access.one(public_id, caller)
        self.memories.pin(memory.key, pinned)
        return memory.id


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What to forget: all that is given has to hold, and something has to be given."""

    ids: tuple[str, ...] | None = None
    words: str | None = None  # that the text contains: whole, in any case
    about: Filter = field(default_factory=Filter)
    caller: Caller = field(default_factory=Caller)

    def __post_init__(self) -> None:
        about = self.about
        named = self.ids not in (None, ("",)) or self.words or about.session_id
        placed = about.project not in ("", "*")
        if not named and not placed and about.since is None and about.until is None:
            raise InvalidInput(
                "say what to forget: give at least one of "
                "ids, query, session_id, project, after, before"
            )
        if self.words is not None and not self.words.strip():
            raise InvalidInput("query is blank: give the words that the memories contain")


@dataclass(frozen=True, slots=True)
class Forgotten:
    """How many went; `ids` names those that match, the first hundred thousand of them."""

    count: int
    ids: Sequence[str]
    matches: int
    stay: int = 0  # that only left the session which was named: others have them, too
    dropped: int = 0  # that an agent or retention had forgotten before, and that are gone now


@dataclass(frozen=True, slots=True)
class Forget:
    """Remove memories for good: text, vectors, index entries. A tombstone keeps them away."""

    memories: Memories
    access: Access
    clock: Clock
    forgotten: Callable[[Sequence[int]], None]  # told which keys went
    budget: ForgetBudget
    held: Held

    def __call__(self, selection: Selection, beside: Mapping[str, int] = {}) -> Forgotten:
        """`beside` counts what was done and goes by the same selection, by its kinds.

        What a person forgets is gone at once, also where an agent forgot it before. What an agent
        forgets is held for seven days, and no session loses what another one has as well.

        Raises:
            NotAllowed: agents would forget more than they may in a day, or what a person pinned.
        """
        keys, stay = self._matches(selection)
        by_agent = selection.caller.visitor
        if by_agent:
            self._check_pinned(keys)
            self.budget.take(len(keys) + sum(beside.values()), memories_and_work(len(keys), beside))
        ids: list[str] = []
        for start in range(0, len(keys), _AT_ONCE):
            part = keys[start : start + _AT_ONCE]
            hold = "agent" if by_agent else ""
            ids += self.memories.forget(part, self.clock.now(), purge=False, hold=hold)
            self.forgotten(part)
        if ids:
            self.memories.purge()
        dropped = 0 if by_agent else self._drop_held(selection)
        for start in range(0, 0 if by_agent else len(stay), _AT_ONCE):
            self.memories.leave(stay[start : start + _AT_ONCE], selection.about.session_id)
        return Forgotten(len(ids), ids[:_IDS], len(ids), len(stay), dropped)

    def _check_pinned(self, keys: Sequence[int]) -> None:
        if len(keys) > PER_DAY:
            return  # the budget refuses that
        pinned = [one.id for one in self.memories.get(keys, 1) if one.pinned]
        if pinned:
            raise NotAllowed(
                f"a person pinned {', '.join(pinned)[:200]}: an agent may not forget it. A person runs "
                "'iai-mcp forget' with the same filters"
            )

    def held_matches(self, selection: Selection) -> int:
        """How much of what a person selects an agent or retention forgot before."""
        matches = self._matches_held(selection)
        return sum(matches(one) for one in self.held.entries(0))

    def _drop_held(self, selection: Selection) -> int:
        """What the person selects is not held any longer, either."""
        return self.held.drop(self._matches_held(selection))

    def _matches_held(self, selection: Selection) -> Callable[[HeldMemory], bool]:
        scope = self.access.scope(selection.about, selection.caller, all_of_the_owners=True)
        phrase = Phrase(selection.words) if selection.words else None
        ids = None if selection.ids is None else {one.lower() for one in selection.ids}

        def matches(one: HeldMemory) -> bool:
            named = ids is None or one.id in ids
            return named and stands_in_held(scope, one) and (not phrase or phrase.is_in(one.text))

        return matches

    def rehearsed(self, selection: Selection, shown: int = 0) -> tuple[Forgotten, Preview | None]:
        """What would go, and with `shown` so many samples of it, for whoever decides."""
        keys, stay = self._matches(selection)
        would = Forgotten(0, self.memories.ids_of(keys[:_IDS]), len(keys), len(stay))
        return would, preview(self.memories, keys, selection.words or "", shown) if shown else None

    def _matches(self, selection: Selection) -> tuple[Sequence[int], Sequence[int]]:
        """The keys of what is to go, and of what another session has as well: that stays with it."""
        found, session = self._selected(selection), selection.about.session_id
        stay = self.memories.in_other_sessions(found, session) if session else []
        kept = set(stay)
        return [key for key in found if key not in kept], stay

    def _selected(self, selection: Selection) -> Sequence[int]:
        """The keys of what is meant; never the words, of which there may be any amount."""
        named = selection.ids is not None
        scope = self.access.scope(selection.about, selection.caller, all_of_the_owners=True)
        # What was derived goes with its sources; by itself only where somebody names it.
        scope = replace(scope, said=not named)
        words = selection.words
        within = self.memories.containing(words, scope) if words else self.memories.keys(scope)
        if selection.ids is None:
            return within or []
        keys = self._with_their_answers(self.memories.keys_of(selection.ids))
        allowed = None if within is None else set(within)
        return [key for key in keys if allowed is None or key in allowed]

    def _with_their_answers(self, keys: Sequence[int]) -> list[int]:
        """An answer to a question of the host repeats that question, and says nothing without it."""
        found = dict.fromkeys(keys)
        for start in range(0, len(keys), _AT_ONCE):
            for one in self.memories.get(keys[start : start + _AT_ONCE], _OF_A_QUESTION):
                if one.role == "assistant":
                    _, after = self.memories.neighbours(one, 1, 1)
                    answers = (a for a in after if is_answer_to(one.text, a.role, a.meta))
                    found.update(dict.fromkeys(answer.key for answer in answers))
        return list(found)
