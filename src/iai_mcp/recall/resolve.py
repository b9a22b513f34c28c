"""Stage 4: what people and agents said explicitly about the results, and copies folded into one.

Only an explicit supersession replaces anything; nothing is inferred.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from iai_mcp.domain.memories import Memory
from iai_mcp.domain.words import words
from iai_mcp.recall.folding import folded

SUCCESSOR = "it supersedes what was found"
_REPEATS = 0.5  # of the words of the shorter of two texts
_COMPARED = 4_000  # characters


@dataclass(frozen=True, slots=True)
class Entry:
    """One result: an exchange with the turn that speaks for it."""

    main: Memory
    keys: tuple[int, ...]  # of all its turns, in the order said
    score: float
    gist: str = (
        ""  # its request, the turn that speaks for it and its conclusion; "" for that turn alone
    )
    weight: float = 0.0  # its standard score among all candidates
    parts: Mapping[str, float] = field(default_factory=dict)
    next: int | None = None  # the key of the person's next message
    reason: str = ""
    same: tuple[str, ...] = ()  # ids of copies
    fold: int | None = None  # the group that sleep folded it into


@dataclass(frozen=True, slots=True)
class Resolved:
    """The results, best first, and those that were superseded."""

    entries: Sequence[Entry]
    superseded: Sequence[Entry] = ()


def resolve(
    entries: Sequence[Entry],
    successors: Mapping[int, Memory],
    *,
    turns: Mapping[int, Memory] | None = None,
    as_of: int | None = None,
    fold: bool = True,
    folds: Mapping[int, int] | None = None,
    given: Callable[[str], frozenset[str]] = lambda _: frozenset(),
) -> Resolved:
    """`successors` holds every memory on the way from a superseded one to what holds now; `turns` the
    superseded ones among all turns of the entries; `folds` the groups that sleep found; `given` the ids that
    a session was given before."""
    holding, superseded = _superseding(entries, successors, turns or {}, as_of)
    if fold:
        holding = _fold(holding, folds or {})
    return Resolved(_without_echo(holding, given), superseded)


def successor_of(memory: Memory, as_of: int | None) -> int | None:
    """The key of what superseded it, as far as that was known then."""
    if as_of is not None and memory.valid_to is not None and memory.valid_to > as_of:
        return None
    return memory.successor


def _superseding(
    entries: Sequence[Entry],
    successors: Mapping[int, Memory],
    turns: Mapping[int, Memory],
    as_of: int | None,
) -> tuple[list[Entry], list[Entry]]:
    """A superseded note gives its place to its successor. A superseded turn of a longer exchange stays
    with it, behind its successor."""
    holding: dict[int, Entry] = {}
    superseded: list[Entry] = []
    for entry in entries:
        replaced = False
        for old in _with_turns(entry, turns):
            last = _latest(old, successors, as_of)
            if last is old:
                continue
            replaced = True
            superseded.append(replace(entry, main=old))
            new = replace(entry, main=last, keys=(last.key,), next=None, reason=SUCCESSOR)
            holding.setdefault(last.key, new)
        if not replaced or len(entry.keys) > 1:
            holding.setdefault(entry.main.key, entry)
    return list(holding.values()), superseded


def _latest(memory: Memory, successors: Mapping[int, Memory], as_of: int | None) -> Memory:
    """The end of the chain that begins with a memory, as far as it is known."""
    seen = {memory.key}
    while (key := successor_of(memory, as_of)) is not None and key not in seen:
        if key not in successors:
            break
        memory = successors[key]
        seen.add(key)
    return memory


def _with_turns(entry: Entry, turns: Mapping[int, Memory]) -> list[Memory]:
    others = [turns[key] for key in entry.keys if key in turns and key != entry.main.key]
    return [entry.main, *others]


def _fold(entries: Sequence[Entry], folds: Mapping[int, int]) -> list[Entry]:
    """Each thing once, in the order of rank. What an agent's tool wrote never stands for what was said,
    and what holds is not folded with what does not."""
    kept: dict[object, Entry] = {}
    kinds: dict[tuple[bool, bool], list[Entry]] = {}
    for entry in entries:
        kind = (bool(entry.main.provenance.captured_by), entry.main.valid_to is None)
        kinds.setdefault(kind, []).append(entry)
    chosen: dict[int, Entry] = {}
    for same_kind in kinds.values():
        for group in folded([entry.gist or entry.main.text for entry in same_kind]):
            alike = [same_kind[group.shown], *(same_kind[at] for at in group.others)]
            best = alike[0]
            equal = [
                one for one in alike if one.gist == best.gist and one.main.text == best.main.text
            ]
            source = min(equal, key=lambda one: (one.main.at.micros, one.main.key))
            others = tuple(one.main.id for one in alike if one is not source)
            chosen[best.main.key] = replace(
                source, score=best.score, weight=best.weight, parts=best.parts, same=others
            )
    for entry in entries:
        if entry.main.key not in chosen:
            continue
        shown = chosen[entry.main.key]
        group_number = folds.get(shown.main.key)
        name: object = (
            (shown.main.id,)
            if group_number is None
            else (group_number, shown.main.valid_to is None)
        )
        if name in kept:
            first = kept[name]
            kept[name] = replace(first, same=(*first.same, shown.main.id, *shown.same))
        else:
            kept[name] = replace(shown, fold=group_number)
    return list(kept.values())


def _without_echo(entries: Sequence[Entry], given: Callable[[str], frozenset[str]]) -> list[Entry]:
    """A reply that repeats a memory which its session had been given stands behind that memory."""
    ordered = list(entries)
    for entry in entries:
        session = entry.main.provenance.session_id
        known = given(session) if session and entry.main.role == "assistant" else frozenset()
        if not known:
            continue
        at = ordered.index(entry)
        sources = [
            other
            for other in ordered[at + 1 :]
            if other.main.id in known and repeats(entry.main.text, other.main.text)
        ]
        if sources:
            rest = [one for one in ordered if one not in sources]
            at = rest.index(entry)
            ordered = [*rest[:at], *sources, *rest[at:]]
    return ordered


def repeats(text: str, other: str) -> bool:
    """Whether two texts share half the words of the shorter one."""
    own, others = frozenset(words(text[:_COMPARED])), frozenset(words(other[:_COMPARED]))
    return len(own & others) >= _REPEATS * max(1, min(len(own), len(others)))
