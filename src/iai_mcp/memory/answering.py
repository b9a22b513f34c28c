"""From ranked memories to the answer: successors first, likenesses folded, budget kept."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from iai_mcp.domain.memories import Memory
from iai_mcp.domain.ranking.folding import folded
from iai_mcp.domain.ranking.reasons import told
from iai_mcp.memory.asking import Asking
from iai_mcp.memory.room import Room
from iai_mcp.memory.settling import Slept
from iai_mcp.memory.showing import cut, record
from iai_mcp.ports.memories import Memories, Scope

Shown = dict[str, object]
CountTokens = Callable[[str], int]

# Of each candidate so many characters are read: to rank and to fold more of them decide nothing.
READ_OF_EACH = 100_000
_MOST_ANTI_HITS = 5
_EXCERPT = 50_000  # characters of a turn that no answer can hold, at most
_SUCCESSOR = "it supersedes what was found"


@dataclass(frozen=True, slots=True)
class Found:
    """A memory that was ranked. `parts` sum up to `score`."""

    memory: Memory
    score: float
    parts: Mapping[str, float]
    reason: str = ""
    same: tuple[str, ...] = ()  # ids of those that say the same
    fold: int | None = None  # the group that sleep folded it into
    times: int = 1  # how often it was said, as far as sleep knows


@dataclass(frozen=True, slots=True)
class Answer:
    hits: list[Shown]
    anti_hits: list[Shown]
    tokens: int
    sessions: list[Shown] | None = None


@dataclass(slots=True)
class _Purse:
    """What was spent so far: tokens of the budget, and room of the answer."""

    asked: Asking
    memories: Memories
    count: CountTokens
    room: Room = field(default_factory=Room)
    spent: int = 0
    empty_handed: bool = True

    def buys(self, shown: Shown, memory: Memory) -> Shown | None:
        """`shown`, paid for; None where it is too much.

        The first one never is: of a text that no answer holds an excerpt is shown.
        """
        first, cost = self.empty_handed, self.count(memory.text)
        if not first and self._beyond(cost):
            return None
        if len(memory.text) >= READ_OF_EACH:  # there may be more of it
            shown = {**shown, "text": self._whole(memory).text}
        if not self.room.takes(shown):
            if not first:
                return None
            shown = cut(shown, self.asked.cue, min(_EXCERPT, max(1000, self.asked.budget * 3)))
            self.room.takes(shown)
        if shown["text"] is not memory.text:
            cost = self.count(str(shown["text"]))
            if not first and self._beyond(cost):
                return None
        self.spent += cost
        self.empty_handed = False
        return shown

    def _beyond(self, cost: int) -> bool:
        return self.spent + cost > self.asked.budget

    def _whole(self, memory: Memory) -> Memory:
        return next(iter(self.memories.get([memory.key])), memory)


def answer(
    found: Sequence[Found], asked: Asking, memories: Memories, count: CountTokens, slept: Slept
) -> Answer:
    """The answer to what was asked, from what was found, best first."""
    valid, superseded = _by_validity(found, asked.as_of, memories, slept.scope)
    kept = _folded(valid, slept) if asked.fold else valid
    digests = slept.digests([one.memory for one in kept[: asked.limit]], asked.limit)
    places = asked.limit - slept.places_kept(digests, asked.limit)
    purse = _Purse(asked, memories, count)
    hits: list[Shown] = []
    for one in kept:
        if len(hits) == places:
            break
        shown = purse.buys(_hit(one, asked), one.memory)
        if shown is not None:
            around = _around(one.memory, asked, memories, slept.scope, purse)
            hits.append({**shown, **_repeated(_counted(one, slept)), **around})
    if not asked.by_session:
        hits += _digests(digests[: asked.limit - len(hits)], found, asked, purse)
    anti = [
        shown
        for one in superseded[:_MOST_ANTI_HITS]
        if (shown := purse.buys(_hit(one, asked), one.memory)) is not None
    ]
    grouped = _by_session(hits) if asked.by_session else None
    return Answer(hits, anti, purse.spent, grouped)


def _by_validity(
    found: Sequence[Found], as_of: int | None, memories: Memories, scope: Scope
) -> tuple[list[Found], list[Found]]:
    """What holds, each successor no later than what it supersedes; and what no longer holds."""
    known = _successors(found, memories, scope)
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


def _successor(memory: Memory, as_of: int | None) -> int | None:
    """The key of what superseded it, as far as that was known."""
    if as_of is not None and memory.valid_to is not None and memory.valid_to > as_of:
        return None
    return memory.successor


def _successors(found: Sequence[Found], memories: Memories, scope: Scope) -> dict[int, Memory]:
    """Every memory on the way from what was found to what holds now, as far as it is open."""
    known: dict[int, Memory] = {}
    wanted = {one.memory.successor for one in found} - {None}
    while missing := [key for key in wanted if key is not None and key not in known]:
        fetched = _open(memories.get(sorted(missing), READ_OF_EACH), scope)
        if not fetched:
            break
        known |= {memory.key: memory for memory in fetched}
        wanted = {memory.successor for memory in fetched} - {None}
    return known


def _folded(found: Sequence[Found], slept: Slept) -> list[Found]:
    """Each thing once, in the order of rank; of equal words the ones said first speak for all.

    Folded is what sleep folded, and what looks alike at this moment.
    """
    groups = slept.folds([one.memory for one in found])
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


def _counted(one: Found, slept: Slept) -> Found:
    """With how often it was said in all, as far as sleep knows."""
    if one.fold is None:
        return one
    times, latest = slept.repeated(one.fold)
    same = dict.fromkeys([*one.same, *latest])
    same.pop(one.memory.id, None)
    return replace(one, same=tuple(same), times=times)


def _digests(
    digests: Sequence[tuple[Memory, str]], found: Sequence[Found], asked: Asking, purse: _Purse
) -> list[Shown]:
    """What sleep made of the hits, after all that was said and with what that left of the budget."""
    last = min((one.score for one in found), default=0.0)
    return [
        shown
        for memory, why in digests
        if (shown := purse.buys(_hit(Found(memory, last, {}, why), asked), memory)) is not None
    ]


def _hit(one: Found, asked: Asking) -> Shown:
    shown = record(one.memory)
    if asked.as_of is not None and one.memory.valid_to is not None:
        shown["valid_to"] = shown["valid_to"] if one.memory.valid_to <= asked.as_of else None
    shown["score"] = round(one.score, 4)
    shown["reason"] = one.reason or told(one.parts)
    if asked.explain:
        shown["parts"] = {name: round(value, 3) for name, value in one.parts.items() if value}
    return shown


def _repeated(one: Found) -> Shown:
    """How often it was said, and where else; nothing for what was said once."""
    if not one.same:
        return {}
    return {"count": max(one.times, 1 + len(one.same)), "same": list(one.same)}


def _around(
    memory: Memory, asked: Asking, memories: Memories, scope: Scope, purse: _Purse
) -> Shown:
    """The turns around a hit, nearest first as long as they can be afforded."""
    if not asked.context:
        return {}
    sides = memories.neighbours(memory, asked.context, READ_OF_EACH)
    # One session can go through several projects.
    before, after = (_open(side, scope) for side in sides)
    near = [m for pair in _nearest_first(before[::-1], after) for m in pair]
    bought = {m.key: turn for m in near if (turn := purse.buys(record(m), m)) is not None}
    return {
        "before": [bought[m.key] for m in before if m.key in bought],
        "after": [bought[m.key] for m in after if m.key in bought],
    }


def _open(found: Sequence[Memory], scope: Scope) -> list[Memory]:
    """Without what is closed to whoever asks."""
    return [memory for memory in found if memory.provenance.project not in scope.not_projects]


def _nearest_first(left: Sequence[Memory], right: Sequence[Memory]) -> list[list[Memory]]:
    return [
        [*left[place : place + 1], *right[place : place + 1]]
        for place in range(max(len(left), len(right)))
    ]


def _by_session(hits: Sequence[Shown]) -> list[Shown]:
    """The sessions of the hits, best first, with the ids of their hits in the order said."""
    groups: dict[object, list[Shown]] = {}
    for hit in hits:
        groups.setdefault(hit["session_id"], []).append(hit)
    return [
        {
            "session_id": session,
            "project": group[0]["project"],
            "score": group[0]["score"],
            "hits": [hit["id"] for hit in sorted(group, key=lambda hit: str(hit["ts"]))],
        }
        for session, group in groups.items()
    ]
