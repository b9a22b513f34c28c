"""The rules of a project: what people ruled, each in its newest version, with what it replaced.

Only what is plain replaces a rule, for a wrong step hides one: another value in the same place, a
value that is named as given up, the opposite of the same words from now on. What merely looks like it
is left to sleep's suggestions, for people to judge.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from iai_mcp.domain.memories import Memory
from iai_mcp.domain.ruling_words import stem
from iai_mcp.domain.rulings import LONGEST_PROMPT, Order, Ruling, replaced

_FEWEST_WORDS = 2
_NOTHING_ELSE = 0.8  # of the letters of a turn


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
    """Which later ruling replaces which: looked up by what each is about."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = rules
        self.partly: dict[int, list[int]] = {}  # what replaces a part of a ruling
        self._orders: dict[frozenset[str], list[tuple[int, Order]]] = defaultdict(list)
        self._denied: dict[str, list[int]] = defaultdict(list)
        self._named: dict[str, list[int]] = defaultdict(list)
        self._about: dict[frozenset[str], list[int]] = defaultdict(list)
        for place, rule in enumerate(rules):
            for order in rule.ruling.orders:
                self._orders[order.matter].append((place, order))
            for word in rule.ruling.denied - rule.ruling.used:
                self._denied[word].append(place)
            for word in _values(rule.ruling):
                self._named[word].append(place)
            self._about[rule.ruling.subject].append(place)

    def replacing(self, place: int) -> int | None:
        """The last ruling that replaces the one at `place` in full; None while it holds."""
        older = self._rules[place].ruling
        orders = [self._replacing(place, order) for order in older.orders]
        replaced = [one for one in orders if one is not None]
        if replaced and len(replaced) == len(orders):
            return max(replaced)
        self.partly[place] = replaced
        by_now = [*self._giving_up(place, older.used - older.denied), *self._opposing(place, older)]
        return max(by_now, default=None)

    def _replacing(self, place: int, order: Order) -> int | None:
        found = [
            later
            for later, other in self._orders[order.matter]
            if later > place and replaced(order, other) and self._is_plain(later, other)
        ]
        found += self._giving_up(place, {order.value} - {""})
        return max(found, default=None)

    def _is_plain(self, later: int, order: Order) -> bool:
        """Whether it is said that a value is another now, where it was not quoted; and for all cases."""
        ruling = self._rules[later].ruling
        return not order.plain or (not ruling.in_part and (ruling.change or not order.kind))

    def _giving_up(self, place: int, values: Collection[str]) -> list[int]:
        """Who names one of the values as given up, and speaks of the same otherwise too.

        Who names nothing else is about what was said last with that value: "not m_, k_".
        """
        older = self._rules[place].ruling
        found = {later for value in values for later in self._denied[value] if later > place}
        return [later for later in found if self._gives_up(older, place, later, values)]

    def _gives_up(self, older: Ruling, place: int, later: int, values: Collection[str]) -> bool:
        ruling = self._rules[later].ruling
        if ruling.in_part:
            return False
        of_values = {stem(value) for value in ruling.used | ruling.denied} | ruling.denied
        if own := ruling.subject - of_values:
            return bool(own & older.subject) and not ruling.things - of_values - older.things
        instead = ruling.change or any(order.value for order in ruling.orders)
        named = (one for value in values for one in self._named[value] if one < later)
        last = max(named, default=None)
        return instead and last == place

    def _opposing(self, place: int, older: Ruling) -> list[int]:
        """Who says the opposite in the same words, and that it is so from then on."""
        if len(older.subject) < _FEWEST_WORDS or not older.things:
            return []
        return [
            later
            for later in self._about[older.subject]
            if later > place
            and self._rules[later].ruling.against != older.against
            and self._rules[later].ruling.change
            and not _ordered(older) ^ _ordered(self._rules[later].ruling)
        ]


def _ordered(ruling: Ruling) -> frozenset[str]:
    """The values that it speaks of, for or against."""
    return frozenset(order.value for order in ruling.orders if order.value) | ruling.denied


def _values(ruling: Ruling) -> frozenset[str]:
    """The values that it wants to have used."""
    return (ruling.used | {order.value for order in ruling.orders if order.value}) - ruling.denied
