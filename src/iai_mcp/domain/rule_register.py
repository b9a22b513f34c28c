"""The rules of a project: what people ruled, each in its newest version, with what it replaced.

Only what is plain replaces a rule, for a wrong step hides one: another value in the same place, a
value that is named as given up, the opposite of the same words from now on. What merely looks like it
is left to sleep's suggestions, for people to judge.
"""

import sys
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from iai_mcp.domain.memories import Memory
from iai_mcp.domain.ruling_words import stem
from iai_mcp.domain.rulings import LONGEST_PROMPT, Order, Ruling, replaced

_FEWEST_WORDS = 2
_NOTHING_ELSE = 0.8  # of the letters of a turn
_NOWHERE, _NEVER = -1, sys.maxsize  # before and behind every place
_Matter = tuple[frozenset[str], str]  # of an order, and its kind
_Wording = tuple[frozenset[str], bool, frozenset[str]]  # of an order, but for its value
_Placed = tuple[int, Order]
_Opposite = tuple[frozenset[str], bool, frozenset[str]]  # about what, for or against it, with what


@dataclass(frozen=True, slots=True)
class Rule:
    """A ruling and the turn that states it."""

    ruling: Ruling
    memory: Memory


@dataclass(frozen=True, slots=True)
class Register:
    """`holding` is newest first. `successors` leads from a turn to the one that replaces all it ruled;
    `newer` from a turn to every one that replaces a part of it. `only_rules` are turns that say nothing
    else than what is wanted for good, `outdated` the ids of those that were replaced."""

    holding: tuple[Rule, ...] = ()
    successors: dict[int, int] = field(default_factory=dict)
    newer: dict[int, tuple[int, ...]] = field(default_factory=dict)
    only_rules: frozenset[int] = frozenset()
    outdated: frozenset[str] = frozenset()


def may_rule(memory: Memory) -> bool:
    """Whether it is worth asking what a memory rules: people do, in a few sentences."""
    return memory.role == "user" and not memory.derived and len(memory.text) <= LONGEST_PROMPT


def register(said: Iterable[tuple[Memory, Sequence[Ruling]]]) -> Register:
    """The rules that turns of people state, given with what was read out of each."""
    in_order = sorted(said, key=lambda one: (one[0].at.micros, one[0].key))
    rules = [Rule(ruling, memory) for memory, found in in_order for ruling in found]
    by = _Later(rules)
    after = [by.replacing(place) for place in range(len(rules))]
    holding = [rule for rule, later in zip(rules, after, strict=True) if later is None]
    newer: dict[int, set[int]] = defaultdict(set)
    whole: dict[int, int | None] = {}
    for place, (rule, later) in enumerate(zip(rules, after, strict=True)):
        key = rule.memory.key
        by_whom = [later] if later is not None else by.partly.get(place, [])
        newer[key].update(rules[one].memory.key for one in by_whom)
        if not rule.ruling.orders and later is None:
            continue  # a remark beside the rules keeps no turn from being replaced
        ends = None if later is None else rules[later].memory.key
        whole[key] = ends if ends is None or key not in whole or whole[key] is not None else None
    successors = {key: last for key, last in whole.items() if last is not None and last != key}
    return Register(
        tuple(reversed(_restated(holding))),
        successors,
        {key: tuple(sorted(keys - {key})) for key, keys in newer.items() if keys - {key}},
        frozenset(memory.key for memory, found in in_order if _says_only(found, memory.text)),
        frozenset(memory.id for memory, _ in in_order if memory.key in successors),
    )


def _says_only(rulings: Sequence[Ruling], text: str) -> bool:
    """Whether a text is made of these rules, but for a word of praise or two."""
    if not all(ruling.firm for ruling in rulings):
        return False
    return sum(len(ruling.sentence) for ruling in rulings) >= _NOTHING_ELSE * len(text.strip()) > 0


def _restated(rules: Sequence[Rule]) -> list[Rule]:
    """Each rule once: what was said again in about the same words stands where it was said last."""
    last: dict[object, Rule] = {}
    for rule in rules:
        one = rule.ruling
        values = frozenset(order.value for order in one.orders)
        name = (one.subject, values, one.against) if len(one.subject) > 1 else one.sentence.lower()
        last.pop(name, None)
        last[name] = rule
    return list(last.values())


class _Later:
    """Which later ruling replaces which: looked up by what each is about, and never one by one.

    Only the last that replaces a ruling counts, so of those that would do the same the last is kept.
    """

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = rules
        self.partly: dict[int, list[int]] = {}  # what replaces a part of a ruling
        self._orders = _Orders()
        self._denied = _Denied()
        self._opposed: dict[_Opposite, int] = {}
        for place, rule in enumerate(rules):
            one = rule.ruling
            for order in one.orders:
                if _is_plain(one, order):
                    self._orders.add(place, order)
            self._denied.add(place, one)
            if one.change:
                self._opposed[one.subject, one.against, _ordered(one)] = place

    def replacing(self, place: int) -> int | None:
        """The last ruling that replaces the one at `place` in full; None while it holds."""
        older = self._rules[place].ruling
        orders = [self._replacing(place, older, order) for order in older.orders]
        replaced = [one for one in orders if one is not None]
        if replaced and len(replaced) == len(orders):
            return max(replaced)
        self.partly[place] = replaced
        given_up = self._denied.after(place, older, older.used - older.denied)
        return _last(place, given_up, self._opposing(older))

    def _replacing(self, place: int, older: Ruling, order: Order) -> int | None:
        given_up = self._denied.after(place, older, {order.value} - {""})
        return _last(place, self._orders.after(place, order), given_up)

    def _opposing(self, older: Ruling) -> int:
        """Who says the opposite in the same words, and that it is so from then on."""
        if len(older.subject) < _FEWEST_WORDS or not older.things:
            return _NOWHERE
        return self._opposed.get((older.subject, not older.against, _ordered(older)), _NOWHERE)


class _Orders:
    """What was ordered of what: of orders that differ in their value alone the last, and the last that
    has another value than that one."""

    def __init__(self) -> None:
        self._last: dict[_Matter, dict[_Wording, tuple[_Placed, ...]]] = defaultdict(dict)

    def add(self, place: int, order: Order) -> None:
        if not order.value or order.adds:
            return  # it replaces nothing
        of_it = self._last[order.matter, order.kind]
        wording = order.subject, order.plain, order.where
        before = of_it.pop(wording, ())  # the last one stands last
        others = [one for one in before if one[1].value != order.value]
        of_it[wording] = ((place, order), *others[:1])

    def after(self, place: int, old: Order) -> int:
        """The last place that puts another value in the place of the old one's, if behind `place`."""
        found = _NOWHERE
        for newest in reversed(self._last.get((old.matter, old.kind), {}).values()):
            if newest[0][0] <= max(place, found):
                break
            for later, order in newest:
                if later > found and replaced(old, order):
                    found = later
        return found


class _Denied:
    """Who names a value as given up, and speaks of the same otherwise too.

    Who names nothing else is about what was said last with that value: "not m_, k_".
    """

    def __init__(self) -> None:
        self._named: dict[str, list[int]] = defaultdict(list)  # who wants a value
        self._alone: dict[str, list[int]] = defaultdict(list)  # who gives one up and says no more
        # By a value given up and a word said beside it: the things it is for, and who said so last.
        self._beside: dict[tuple[str, str], dict[frozenset[str], int]] = defaultdict(dict)

    def add(self, place: int, ruling: Ruling) -> None:
        for value in _values(ruling):
            self._named[value].append(place)
        given_up = ruling.denied - ruling.used
        if ruling.in_part or not given_up:
            return
        of_values = {stem(value) for value in ruling.used | ruling.denied} | ruling.denied
        own = ruling.subject - of_values
        instead = ruling.change or any(order.value for order in ruling.orders)
        for value in given_up:
            if not own and instead:
                self._alone[value].append(place)
            for word in own:
                self._beside[value, word][ruling.things - of_values] = place

    def after(self, place: int, older: Ruling, values: Collection[str]) -> int:
        """The last place behind `place` that gives up one of the values of the older ruling there."""
        beside = (
            last
            for value in values
            for word in older.subject
            for things, last in self._beside.get((value, word), {}).items()
            if things <= older.things
        )
        return max(max(beside, default=_NOWHERE), self._alone_after(place, values))

    def _alone_after(self, place: int, values: Collection[str]) -> int:
        """Such a place with nothing else in it, up to where one of the values is wanted again."""
        wanted, again, found = False, _NEVER, _NOWHERE
        for value in values:
            named = self._named.get(value, ())
            behind = bisect_right(named, place)
            wanted |= behind > 0 and named[behind - 1] == place
            again = min(again, named[behind] if behind < len(named) else _NEVER)
        for value in values if wanted else ():
            alone = self._alone.get(value, ())
            behind = bisect_right(alone, again)
            found = max(found, alone[behind - 1] if behind else _NOWHERE)
        return found


def _is_plain(ruling: Ruling, order: Order) -> bool:
    """Whether it is said that a value is another now, where it was not quoted; and for all cases."""
    return not order.plain or (not ruling.in_part and (ruling.change or not order.kind))


def _last(place: int, *found: int) -> int | None:
    last = max(found)
    return last if last > place else None


def _ordered(ruling: Ruling) -> frozenset[str]:
    """The values that it speaks of, for or against."""
    return frozenset(order.value for order in ruling.orders if order.value) | ruling.denied


def _values(ruling: Ruling) -> frozenset[str]:
    """The values that it wants to have used."""
    return (ruling.used | {order.value for order in ruling.orders if order.value}) - ruling.denied
