"""From ranked memories to the answer: successors first, likenesses folded, budget kept."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from iai_mcp.domain.memories import Memory
from iai_mcp.domain.ranking.folding import folded
from iai_mcp.domain.ranking.reasons import told
from iai_mcp.domain.rule_register import Register, may_rule
from iai_mcp.memory.question import Answer, Around, Hit, Question, SessionHits
from iai_mcp.memory.room import Room, Shown, weight
from iai_mcp.ports.learned import Repeats, Topics
from iai_mcp.ports.memories import Memories, Scope

CountTokens = Callable[[str], int]

# Of each candidate so many characters are read: to rank and to fold more of them decide nothing.
READ_OF_EACH = 100_000
_MOST_SUPERSEDED = 5
_EXCERPT = 50_000  # characters of a turn that no answer can hold, at most
_SUCCESSOR = "it supersedes what was found"
_LATER_RULE = "a later rule on what was found"
# Digests are looked for among those of the best hits, and only a few come along.
_ASKED = 10
_DIGESTS = 2
_LISTED = 5


@dataclass(frozen=True, slots=True)
class Found:
    """A memory that was ranked. `parts` sum up to `score`."""

    memory: Memory
    score: float
    parts: Mapping[str, float]
    reason: str = ""
    same: tuple[str, ...] = ()  # ids of those that say the same
    fold: int | None = None  # the group that sleep folded it into


@dataclass(frozen=True, slots=True)
class Answering:
    """What the answer to one question is made with. It only reads."""

    asked: Question
    scope: Scope
    memories: Memories
    repeats: Repeats
    topics: Topics
    count: CountTokens
    cosine: Callable[[int], float | None]  # of the cue with the memory of that key
    digests: str  # where they may stand: the knob `consolidated_hits`
    rules: Callable[[str], Register]  # what people rule in a project

    def __call__(self, found: Sequence[Found]) -> Answer:
        """The answer from what was found, best first."""
        asked = self.asked
        valid, superseded = self._by_rules(*self._by_validity(found))
        kept = self._folded(valid) if asked.fold else valid
        digests = self._digests([one.memory for one in kept[: asked.limit]])
        places = asked.limit - int(self.digests == "on" and bool(digests) and asked.limit > 1)
        purse = _Purse(asked, self.memories, self.count)
        hits: list[Hit] = []
        for one in kept:
            if len(hits) == places:
                break
            hit = self._hit(one, purse)
            if hit is not None:
                around = self._around(one.memory, purse) if asked.context else None
                hits.append(replace(self._counted(hit, one.fold), around=around))
        if not asked.by_session:
            # After all that was said, and with what that left of the budget.
            last = min((one.score for one in found), default=0.0)
            made = [Found(memory, last, {}, why) for memory, why in digests]
            hits += self._hits(made[: asked.limit - len(hits)], purse)
        return Answer(
            hits=tuple(hits),
            superseded=tuple(self._hits(superseded[:_MOST_SUPERSEDED], purse)),
            tokens=purse.spent,
            sessions=_by_session(hits) if asked.by_session else None,
        )

    def _hits(self, found: Sequence[Found], purse: "_Purse") -> list[Hit]:
        made = (self._hit(one, purse) for one in found)
        return [hit for hit in made if hit is not None]

    def _hit(self, one: Found, purse: "_Purse") -> Hit | None:
        memory, as_of = one.memory, self.asked.about.as_of
        if as_of is not None and memory.valid_to is not None and memory.valid_to > as_of:
            memory = replace(memory, valid_to=None)  # at that time it still held
        shown = purse.buys(memory)
        if shown is None:
            return None
        return Hit(
            shown=shown,
            score=one.score,
            reason=one.reason or told(one.parts),
            parts=one.parts if self.asked.explain else None,
            cosine=self.cosine(memory.key),
            same=one.same,
            times=1 + len(one.same),
        )

    def _counted(self, hit: Hit, fold: int | None) -> Hit:
        """With how often it was said in all, as far as sleep knows."""
        if fold is None:
            return hit
        times, latest = self.repeats.members(fold, _LISTED)
        same = dict.fromkeys([*hit.same, *latest])
        same.pop(hit.memory.id, None)
        return replace(hit, same=tuple(same), times=max(times, 1 + len(same)))

    def _by_validity(self, found: Sequence[Found]) -> tuple[list[Found], list[Found]]:
        """What holds, each successor no later than what it supersedes; and what no longer holds."""
        known = self._successors(found)
        as_of = self.asked.about.as_of
        valid: dict[int, Found] = {}
        superseded: list[Found] = []
        for one in found:
            last = one
            while (after := _successor(last.memory, as_of)) in known and after != one.memory.key:
                last = replace(one, memory=known[after], reason=_SUCCESSOR)
            if last is not one:
                superseded.append(one)
            if last.memory.key not in valid:
                valid[last.memory.key] = last
        return list(valid.values()), superseded

    def _by_rules(
        self, valid: Sequence[Found], superseded: Sequence[Found]
    ) -> tuple[list[Found], list[Found]]:
        """What replaces a ruling before it; and what is replaced in full with what no longer holds."""
        stating = [one.memory for one in valid if may_rule(one.memory)]
        known = {key: self.rules(key) for key in {one.provenance.project for one in stating}}
        after = {one.key: known[one.provenance.project].newer.get(one.key, ()) for one in stating}
        later = {one.key: one for one in self._said_by_then(set().union(*after.values()))}
        holding: dict[int, Found] = {}
        replaced: list[Found] = []
        for one in valid:
            newer = [later[key] for key in reversed(after.get(one.memory.key, ())) if key in later]
            for memory in newer:
                holding.setdefault(memory.key, replace(one, memory=memory, reason=_LATER_RULE))
            register = known.get(one.memory.provenance.project)
            last = register.successors.get(one.memory.key) if register and newer else None
            if last in later:
                replaced.append(replace(one, memory=_outdated(one.memory, later[last])))
            else:
                holding.setdefault(one.memory.key, one)
        return list(holding.values()), [*replaced, *superseded]

    def _said_by_then(self, keys: Collection[int]) -> list[Memory]:
        """Those that are open, and had been said at the time that the question is about."""
        as_of = self.asked.about.as_of
        fetched = self._open(self.memories.get(sorted(keys), READ_OF_EACH)) if keys else []
        return [one for one in fetched if as_of is None or one.at.micros <= as_of]

    def _successors(self, found: Sequence[Found]) -> dict[int, Memory]:
        """Every memory on the way from what was found to what holds now, as far as it is open."""
        known: dict[int, Memory] = {}
        wanted = {one.memory.successor for one in found} - {None}
        while missing := [key for key in wanted if key is not None and key not in known]:
            fetched = self._open(self.memories.get(sorted(missing), READ_OF_EACH))
            if not fetched:
                break
            known |= {memory.key: memory for memory in fetched}
            wanted = {memory.successor for memory in fetched} - {None}
        return known

    def _folded(self, found: Sequence[Found]) -> list[Found]:
        """Each thing once, in the order of rank; of equal words the ones said first speak for all.

        Folded is what sleep folded, and what looks alike at this moment.
        """
        groups = self._folds([one.memory for one in found])
        kept: dict[object, Found] = {}
        for fold in folded([one.memory.text for one in found]):
            best = found[fold.shown]
            if not fold.others and best.memory.key not in groups:
                kept[(best.memory.id,)] = best
                continue
            alike = [best, *(found[place] for place in fold.others)]
            equal = [one for one in alike if one.memory.text == best.memory.text]
            source = min(equal, key=lambda one: (one.memory.at.micros, one.memory.key))
            others = tuple(one.memory.id for one in alike if one.memory.key != source.memory.key)
            group = groups.get(source.memory.key)
            if group in kept:
                first = kept[group]
                kept[group] = replace(first, same=(*first.same, source.memory.id, *others))
            else:
                number = None if group is None else group[0]
                shown = replace(source, score=best.score, same=others, fold=number)
                kept[group or (source.memory.id,)] = shown
        return list(kept.values())

    def _folds(self, memories: Sequence[Memory]) -> dict[int, tuple[int, bool]]:
        """The group of each memory that has repeats; what holds is never folded with what does not."""
        known = self.repeats.folds_of([memory.key for memory in memories])
        return {m.key: (known[m.key], m.valid_to is None) for m in memories if m.key in known}

    def _digests(self, best: Sequence[Memory]) -> list[tuple[Memory, str]]:
        """Digests made of the best hits, those of the very best first, with why they come along."""
        if self.digests == "off" or not best or not _whole(self.scope):
            return []
        if self.digests == "auto" and len(best) >= self.asked.limit:
            return []
        keys = [memory.key for memory in best[:_ASKED]]
        place = {key: number for number, key in enumerate(keys, 1)}
        quoted = self.topics.derived_of(keys)
        order = sorted(quoted, key=lambda one: (-sum(1 / place[key] for key in quoted[one]), one))
        return [
            (memory, f"digest, made of {len(quoted[memory.key])} of these hits")
            for memory in self.memories.get(order)
            if memory.valid_to is None and _within(memory, self.scope)
        ][:_DIGESTS]

    def _around(self, memory: Memory, purse: "_Purse") -> Around:
        """The turns around a hit, nearest first as long as they can be afforded."""
        sides = self.memories.neighbours(memory, self.asked.context, READ_OF_EACH)
        # One session can go through several projects.
        before, after = (self._open(side) for side in sides)
        near = [m for pair in _nearest_first(before[::-1], after) for m in pair]
        bought = {m.key: shown for m in near if (shown := purse.buys(m)) is not None}
        return Around(
            before=tuple(bought[m.key] for m in before if m.key in bought),
            after=tuple(bought[m.key] for m in after if m.key in bought),
        )

    def _open(self, found: Sequence[Memory]) -> list[Memory]:
        """Without what is closed to whoever asks."""
        closed = self.scope.not_projects
        return [memory for memory in found if memory.provenance.project not in closed]


@dataclass(slots=True)
class _Purse:
    """What was spent so far: tokens of the budget, and room of the answer."""

    asked: Question
    memories: Memories
    count: CountTokens
    room: Room = field(default_factory=Room)
    spent: int = 0
    empty_handed: bool = True

    def buys(self, memory: Memory) -> Shown | None:
        """The memory, paid for; None where it is too much.

        The first one never is: of a text that no answer holds an excerpt is shown.
        """
        first, cost = self.empty_handed, self.count(memory.text)
        if not first and self._beyond(cost):
            return None
        shown = Shown(memory)
        if len(memory.text) >= READ_OF_EACH:  # there may be more of it
            shown = Shown(replace(memory, text=self._whole(memory).text))
        if not self.room.takes(weight(shown.memory)):
            if not first:
                return None
            shown = shown.cut(self.asked.cue, min(_EXCERPT, max(1000, self.asked.budget * 3)))
            self.room.takes(weight(shown.memory))
        if shown.memory.text is not memory.text:
            cost = self.count(shown.memory.text)
            if not first and self._beyond(cost):
                return None
        self.spent += cost
        self.empty_handed = False
        return shown

    def _beyond(self, cost: int) -> bool:
        return self.spent + cost > self.asked.budget

    def _whole(self, memory: Memory) -> Memory:
        return next(iter(self.memories.get([memory.key])), memory)


def _outdated(memory: Memory, by: Memory) -> Memory:
    """A ruling that no longer holds, as an answer names it."""
    return replace(memory, valid_to=by.at.micros, successor=by.key)


def _successor(memory: Memory, as_of: int | None) -> int | None:
    """The key of what superseded it, as far as that was known."""
    if as_of is not None and memory.valid_to is not None and memory.valid_to > as_of:
        return None
    return memory.successor


def _whole(scope: Scope) -> bool:
    """Whether a digest, which belongs to no session, agent or role, can be in the scope at all."""
    return not (scope.session_id or scope.host or scope.agent or scope.role or scope.known_at)


def _within(memory: Memory, scope: Scope) -> bool:
    began = memory.valid_from if memory.valid_from is not None else memory.at.micros
    after = scope.since is None or began >= scope.since
    return after and (scope.until is None or memory.at.micros < scope.until)


def _nearest_first(left: Sequence[Memory], right: Sequence[Memory]) -> list[list[Memory]]:
    return [
        [*left[place : place + 1], *right[place : place + 1]]
        for place in range(max(len(left), len(right)))
    ]


def _by_session(hits: Sequence[Hit]) -> tuple[SessionHits, ...]:
    """The sessions of the hits, best first, with their hits in the order said."""
    groups: dict[str, list[Hit]] = {}
    for hit in hits:
        groups.setdefault(hit.memory.provenance.session_id, []).append(hit)
    return tuple(
        SessionHits(
            session_id=session,
            project=group[0].memory.provenance.project,
            score=group[0].score,
            hits=tuple(sorted(group, key=lambda hit: hit.memory.at.text)),
        )
        for session, group in groups.items()
    )
