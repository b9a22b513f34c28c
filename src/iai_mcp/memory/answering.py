"""From ranked memories to the answer: successors first, likenesses folded, the room shared."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from iai_mcp.domain.closeness import Evidence, about_what_is_outdated
from iai_mcp.domain.cue_matching import CueMatcher
from iai_mcp.domain.excerpts import json_bytes
from iai_mcp.domain.exchanges import RankedExchange
from iai_mcp.domain.filling import SURE_OF_A_PLACE
from iai_mcp.domain.memories import Memory, as_in
from iai_mcp.domain.ranking.folding import Fold, folded
from iai_mcp.domain.ranking.reasons import told
from iai_mcp.domain.rule_register import Register, may_rule
from iai_mcp.domain.shares import SHORT, Cost, shares
from iai_mcp.memory import payload
from iai_mcp.memory.question import Answer, Around, Hit, Question, SessionHits
from iai_mcp.memory.replies import reply
from iai_mcp.memory.room import ANSWER_BYTES, Shown, weight
from iai_mcp.memory.scoping import stands_in
from iai_mcp.memory.worked import Worked, WorkShown
from iai_mcp.ports.learned import Repeats
from iai_mcp.ports.memories import Memories, Scope

# Of each candidate so many characters are read: to rank and to fold more of them decide nothing.
READ_OF_EACH = 100_000
_MOST_SUPERSEDED = 5
# What no longer holds is named, in so many bytes each, and takes no more than its part of the room.
_OF_SUPERSEDED, _PART_OF_SUPERSEDED = 160, 4
_SIDES = len('"before": [], "after": [], ')
_EXCERPT = 50_000  # bytes of a whole turn that no answer can hold, at most
# Of one kind of hits beside the other: so much less is too unlikely to answer.
_FAR_BEHIND = 2.5
_JUST_BEFORE = 1e-4  # points: what took a place comes before what came of the old
_NOD = 200  # characters
_SUCCESSOR = "it supersedes what was found"
_LATER_RULE = "a later rule on what was found"
_LISTED = 5
_PLACES = 3  # of those, that are told with their session and time
_TOLD_OF_COPIES = 1  # characters that are read of them: where they stand is all that is told


@dataclass(frozen=True, slots=True)
class Found:
    """A memory that was ranked. `parts` sum up to `score`."""

    memory: Memory
    score: float
    parts: Mapping[str, float]
    reason: str = ""
    same: tuple[str, ...] = ()  # ids of those that say the same
    fold: int | None = None  # the group that sleep folded it into
    request: str = ""  # the prompt that it replies to


@dataclass(frozen=True, slots=True)
class Holding:
    """What of all that was found holds, each thing once; and what would have answered but was superseded."""

    kept: Sequence[Found]
    superseded: Sequence[Found]
    # What people rule about the cue: it comes whatever else was found.
    rulings: Sequence[Found] = ()

    def ruled(self, rulings: Sequence[Found]) -> "Holding":
        """The same beside these rulings."""
        own = {one.memory.key for one in rulings}
        kept = [one for one in self.kept if one.memory.key not in own]
        return replace(self, kept=kept, rulings=rulings) if rulings else self

    @property
    def folded(self) -> bool:
        """Whether some of it was folded into others."""
        return any(one.same for one in self.kept)


@dataclass(frozen=True, slots=True)
class Answering:
    """What the answer to one question is made with. It only reads."""

    asked: Question
    scope: Scope
    memories: Memories
    repeats: Repeats
    about: CueMatcher
    cosine: Callable[[int], float | None]  # of the cue with the memory of that key
    work: WorkShown
    rules: Callable[[str], Register]  # what people rule in a project
    here: str = ""  # the project one works in; "" where none is preferred

    def holding(self, found: Sequence[Found]) -> Holding:
        """What was found, best first, as it holds."""
        valid, superseded = self._by_rules(*self._by_validity(found))
        return Holding(self._folded(valid) if self.asked.fold else valid, superseded)

    def __call__(self, found: Holding, work: Worked, sentences: int) -> Answer:
        """The answer in the room that the question gives; `sentences` are bytes of what else it says."""
        asked = self.asked
        room = asked.budget * payload.BYTES_PER_TOKEN - payload.ANSWER - sentences
        found, work = self._superseding(found, work)
        old, taken = self._superseded(self._matching(found, work), room)
        room -= taken
        hits = self._shared(found, work, room // 2 if asked.context else room)
        old = self._asked_about(old, hits)
        if asked.context:
            hits = self._with_turns_around(hits, room)
        return Answer(
            hits=tuple(hits),
            superseded=tuple(old),
            sessions=_by_session(hits) if asked.by_session else None,
        )

    def _shared(self, found: Holding, work: Worked, room: int) -> list[Hit]:
        """The hits of talk and of work, each kind with its part of the room."""
        limit = self.asked.limit
        rulings = found.rulings[: limit - 1]
        kept, exchanges = _likely(found.kept, work.exchanges, limit - len(rulings))
        kept = [*rulings, *self._with_replies(kept, limit - len(rulings))]
        work = work.without({one.memory.key for one in rulings})
        hits: list[Hit] = []
        if exchanges:
            part = room * len(exchanges) // (len(exchanges) + len(kept))
            part = max(part, room - sum(_cost(self._hit(one)).all for one in kept[:limit]))
            part = min(part, room - sum(_cost(self._hit(one)).least for one in rulings))
            part -= len(exchanges) * payload.SESSION if self.asked.by_session else 0
            hits = self.work(replace(work, exchanges=exchanges), part, max(1, limit - len(kept)))
            room -= sum(map(payload.of_hit, hits))
        if not hits and not kept:  # there is room for nothing, and one comes all the same
            kept = [
                Found(work.turns[one.speaker], one.shown, one.parts)
                for one in exchanges[:1]
                if one.speaker in work.turns
            ]
        drafts = [self._counted(self._hit(one), one.fold) for one in kept[: limit - len(hits)]]
        if self.asked.by_session:
            room -= payload.sessions([*hits, *drafts])
        hits += self._fitted(drafts, room, needed=not hits)
        return sorted(hits, key=lambda hit: -hit.score)

    def _with_replies(self, talk: Sequence[Found], most: int) -> list[Found]:
        """The first of talk; what only asks an agent or agrees gives its place to what was replied."""
        shown: dict[int, Found] = {}
        for one in talk:
            if len(shown) >= most:
                break
            found = None if self.scope.role else reply(one.memory, self.memories)
            said = None if found is None else as_in(found[0], self.scope.session_id)
            if found is None or said is None or not self._may_be_told(said):
                shown.setdefault(one.memory.key, one)
                continue
            request = found[1]
            known = shown.get(said.key)
            if known is None:
                made = replace(one, memory=said, request=request, same=(), fold=None)
            else:
                made = replace(known, request=known.request or request)
            shown[said.key] = made
        return list(shown.values())

    def _may_be_told(self, memory: Memory) -> bool:
        """Whether a turn beside one that was found is within the question, too."""
        as_of = self.asked.about.as_of
        known = as_of is None or memory.at.micros <= as_of
        holds = memory.successor is None and memory.valid_to is None
        return known and holds and bool(self._open([memory])) and stands_in(self.scope, memory)

    def _superseding(self, found: Holding, work: Worked) -> tuple[Holding, Worked]:
        """With what holds now in the place of turns of work that were superseded."""
        by_key = {key: one for one in work.exchanges for key in one.keys}
        old = [
            Found(memory, by_key[key].shown, by_key[key].parts)
            for key, memory in work.turns.items()
            if memory.successor is not None or self._is_replaced(memory)
        ]
        valid, superseded = self._by_rules(*self._by_validity(old)) if old else ([], [])
        if not superseded:
            return found, work
        gone = {one.memory.key for one in superseded}
        before = [replace(one, score=one.score + _JUST_BEFORE) for one in valid]
        kept = sorted([*found.kept, *before], key=lambda one: -one.score)
        held = replace(found, kept=kept, superseded=[*found.superseded, *superseded])
        return held, work.without(gone | _nods_to(gone, work))

    def _fitted(self, drafts: Sequence[Hit], room: int, *, needed: bool) -> list[Hit]:
        """Those that fit, each with as much of its text as its share of the room holds; one if needed."""
        costs = [_cost(hit) for hit in drafts]
        found = shares(costs, room, whole=self.asked.full, needed=needed)
        alone = sum(own is not None for own in found) == 1
        return [
            replace(hit, shown=self._cut(hit.memory, own, alone=alone))
            for hit, own in zip(drafts, found, strict=True)
            if own is not None
        ]

    def _matching(self, found: Holding, work: Worked) -> list[Found]:
        """What no longer holds and is itself about the cue, or what took its place is.

        Where little was said, everything is a candidate: what is merely among them would be told no
        longer to hold under every question.
        """
        first = [one.score for one in found.kept[:1]] + [one.shown for one in work.exchanges[:1]]
        behind = max(first, default=0.0) - _FAR_BEHIND
        texts = {one.memory.key: one.memory.text for one in (*found.rulings, *found.kept)}
        return [one for one in found.superseded if self._matches(one, texts, one.score > behind)]

    def _matches(self, one: Found, texts: Mapping[int, str], near: bool) -> bool:
        keys = [key for key in (one.memory.key, one.memory.successor) if key is not None]
        said = [one.memory.text, *(texts[key] for key in keys if key in texts)]
        cosines = [self.cosine(key) for key in keys]
        evidence = Evidence(
            cosine=max((known for known in cosines if known is not None), default=None),
            words=max(self.about.overlap(self.about.occurrences(text)) for text in said),
        )
        return about_what_is_outdated(evidence, one.parts, near=near)

    def _asked_about(self, old: Sequence[Hit], hits: Sequence[Hit]) -> list[Hit]:
        """Without what is outdated elsewhere, unless what took its place there is among the first hits."""
        if not self.here or self.scope.projects or not hits:
            return list(old)
        shown = {hit.memory.key for hit in hits if hit.score > hits[0].score - _FAR_BEHIND}
        return [
            hit
            for hit in old
            if hit.memory.provenance.project == self.here or hit.memory.successor in shown
        ]

    def _superseded(self, found: Sequence[Found], room: int) -> tuple[list[Hit], int]:
        """What no longer holds, the first of it in any case, and the bytes that it takes."""
        hits: list[Hit] = []
        taken = 0
        for one in found[:_MOST_SUPERSEDED]:
            hit = self._hit(one)
            text = json_bytes(hit.memory.text)
            own = text if self.asked.full else min(text, _OF_SUPERSEDED)
            cost = own + payload.around_hit(hit) + payload.EXCERPT
            if not hits or taken + cost <= room // _PART_OF_SUPERSEDED:
                hits.append(replace(hit, shown=self._cut(hit.memory, own)))
                taken += cost
        return hits, taken

    def _cut(self, memory: Memory, room: int, *, alone: bool = False) -> Shown:
        """What is shown of it in so many bytes; all of it to who asked for that.

        Of what is longer than was read nobody knew that it takes more: beside others it keeps to its room.
        """
        longer = len(memory.text) >= READ_OF_EACH
        if longer:
            memory = next(iter(self.memories.get([memory.key])), memory)
        if not self.asked.full or (longer and not alone):
            return Shown(memory).cut(self.about, room)
        return (
            Shown(memory)
            if weight(memory) <= ANSWER_BYTES
            else Shown(memory).cut(self.about, _EXCERPT)
        )

    def _hit(self, one: Found) -> Hit:
        memory, as_of = one.memory, self.asked.about.as_of
        if as_of is not None and memory.valid_to is not None and memory.valid_to > as_of:
            memory = replace(memory, valid_to=None)  # at that time it still held
        return Hit(
            shown=Shown(memory),
            score=one.score,
            reason=one.reason or told(one.parts),
            parts=one.parts if self.asked.explain else None,
            cosine=self.cosine(memory.key),
            same=one.same[:_LISTED],
            request=one.request,
            times=1 + len(one.same),
        )

    def _counted(self, hit: Hit, fold: int | None) -> Hit:
        """With how often it was said in all, as far as sleep knows, and where else."""
        same, times = dict.fromkeys(hit.same), hit.times
        if fold is not None:
            known, latest = self.repeats.members(fold, _LISTED, self.scope.not_projects)
            same, times = same | dict.fromkeys(latest), max(known, times)
            same.pop(hit.memory.id, None)
        if not same:
            return hit
        listed = tuple(same)[:_LISTED]
        return replace(hit, same=listed, times=times, also=self._elsewhere(hit.memory, listed))

    def _elsewhere(self, memory: Memory, same: Sequence[str]) -> tuple[Memory, ...]:
        """Which of those that say the same stand in other sessions that the question is about."""
        own = memory.provenance.session_id
        return tuple(
            one
            for one in self.memories.find(same, _TOLD_OF_COPIES)
            if one.provenance.session_id != own and stands_in(self.scope, one)
        )[:_PLACES]

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
        """What replaces a ruling before it; and what is replaced in full with what no longer holds.

        Who asks for one session, time or party wants what was said there, whatever came of it.
        """
        whole = self.asked.about.whole
        stating = [one.memory for one in valid if whole and may_rule(one.memory)]
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

    def _is_replaced(self, memory: Memory) -> bool:
        """Whether all that a turn rules was ruled otherwise later."""
        return may_rule(memory) and memory.key in self.rules(memory.provenance.project).successors

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
        for fold in _alike(found):
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

    def _with_turns_around(self, hits: Sequence[Hit], room: int) -> list[Hit]:
        """The hits with the turns around them, nearest first, in what they leave of the room."""
        left = room - sum(payload.of_hit(hit) + _SIDES for hit in hits)
        known: dict[int, tuple[Shown, int]] = {}  # hits of one session have the same turns around
        found: list[Hit] = []
        for hit in hits:
            sides = self.memories.neighbours(hit.memory, self.asked.context, READ_OF_EACH)
            # One session can go through several projects.
            before, after = (self._open(side) for side in sides)
            turns: dict[int, Shown] = {}
            for memory in (m for pair in _nearest_first(before[::-1], after) for m in pair):
                if memory.key not in known:
                    known[memory.key] = self._turn(memory)
                shown, cost = known[memory.key]
                if cost <= left:
                    left -= cost
                    turns[memory.key] = shown
            around = Around(
                before=tuple(turns[m.key] for m in before if m.key in turns),
                after=tuple(turns[m.key] for m in after if m.key in turns),
            )
            found.append(replace(hit, around=around))
        return found

    def _turn(self, memory: Memory) -> tuple[Shown, int]:
        """A turn around a hit, and the bytes that it takes."""
        shown = self._cut(memory, SHORT)
        cut = payload.EXCERPT if shown.characters is not None else 0
        return shown, json_bytes(shown.memory.text) + payload.around(memory) + cut

    def _open(self, found: Sequence[Memory]) -> list[Memory]:
        """Without what is closed to whoever asks."""
        return [memory for memory in found if self.scope.opens(memory.provenance.project)]


def _nods_to(gone: Collection[int], work: Worked) -> set[int]:
    """What was only said to prompts that no longer hold: "Will do." tells nothing without them."""
    found: set[int] = set()
    for exchange in work.exchanges:
        answers = [work.turns[key] for key in exchange.keys[1:] if key in work.turns]
        if exchange.keys[0] in gone and sum(len(one.text) for one in answers) <= _NOD:
            found.update(one.key for one in answers)
    return found


def _likely(
    talk: Sequence[Found], work: Sequence[RankedExchange], limit: int
) -> tuple[Sequence[Found], Sequence[RankedExchange]]:
    """The first of both, at most so many together.

    Where there are both, what is far behind the best of all takes no room from what is near it.
    """
    if not work or not talk:
        return talk, work[:limit]
    best = max(talk[0].score, work[0].shown)
    near = sorted(
        [
            *((one.score, 0) for one in talk if one.score > best - _FAR_BEHIND),
            *((one.shown, 1) for one in work if one.shown > best - _FAR_BEHIND),
        ],
        reverse=True,
    )[:limit]
    exchanges = sum(kind for _, kind in near)
    first = SURE_OF_A_PLACE if work[0].shown == best else 0
    return talk[: len(near) - exchanges], work[: max(exchanges, min(first, limit))]


def _cost(hit: Hit) -> Cost:
    text = json_bytes(hit.memory.text)
    return Cost(text, payload.around_hit(hit) + (payload.EXCERPT if text > SHORT else 0))


def _outdated(memory: Memory, by: Memory) -> Memory:
    """A ruling that no longer holds, as an answer names it."""
    return replace(memory, valid_to=by.at.micros, successor=by.key)


def _alike(found: Sequence[Found]) -> list[Fold]:
    """Near-identical texts by place. What an agent's tool wrote never stands for what was said."""
    alike: list[Fold] = []
    for by_agent in (False, True):
        places = [n for n, one in enumerate(found) if _is_agents(one.memory) == by_agent]
        for fold in folded([found[place].memory.text for place in places]):
            others = tuple(places[other] for other in fold.others)
            alike.append(Fold(places[fold.shown], others))
    return sorted(alike, key=lambda fold: fold.shown)


def _is_agents(memory: Memory) -> bool:
    return bool(memory.provenance.captured_by)


def _successor(memory: Memory, as_of: int | None) -> int | None:
    """The key of what superseded it, as far as that was known."""
    if as_of is not None and memory.valid_to is not None and memory.valid_to > as_of:
        return None
    return memory.successor


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
