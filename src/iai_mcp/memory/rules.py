"""The register of rules of each project, kept up with what people say."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Lock

from iai_mcp.domain.rule_register import Register, register
from iai_mcp.domain.rulings import LONGEST_PROMPT, Ruling, rulings
from iai_mcp.ports.memories import Memories, Scope

_LOOKED_AT = 1_000  # of the latest turns that rule
_PROJECTS_IN_MIND = 8


@dataclass(slots=True)
class Rules:
    """Derived whenever it is asked for from the turns that are known to rule.

    Nothing is written: a better reading or a forgotten turn has nothing to undo. What was read is kept
    in mind until something was stored or forgotten.
    """

    memories: Memories
    # The keys of so many of the latest of people's turns that rule, as they arrived.
    ruling: Callable[[Scope, int], Sequence[int]]
    _known: "OrderedDict[Scope, _Read]" = field(default_factory=OrderedDict)
    _turnstile: Lock = field(default_factory=Lock)

    def of(self, scope: Scope) -> Register:
        """The rules of the projects of `scope`, whatever else it asks for.

        What a member rules who is not trusted is no rule here.
        """
        asked = Scope(
            projects=scope.projects,
            not_projects=scope.not_projects,
            not_members=tuple(self.memories.members(untrusted=True)),
        )
        # A correction stores something too, and forgetting something else may not hide that: what it
        # corrects is read anew.
        stored = (self.memories.count(), self.memories.latest())
        now = (stored, tuple(self.ruling(asked, _LOOKED_AT)))
        with self._turnstile:
            read = self._known.pop(asked, _NOTHING)
            if read.then != now:
                read = self._read(now, read)
            self._known[asked] = read
            while len(self._known) > _PROJECTS_IN_MIND:
                self._known.popitem(last=False)
            return read.register

    def of_project(self, key: str) -> Register:
        """The rules of one project."""
        return self.of(Scope(projects=(key,)))

    def _read(self, now: "_Then", before: "_Read") -> "_Read":
        said = [
            memory
            for memory in self.memories.get(now[1], LONGEST_PROMPT + 1)
            if memory.valid_to is None and memory.successor is None
        ]
        found = {one.key: before.found.get(one.key) or rulings(one.text) for one in said}
        return _Read(now, found, register((one, found[one.key]) for one in said))


_Then = tuple[tuple[int, int], tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class _Read:
    """What was read, and from what: how many memories there were, and which of them rule."""

    then: _Then
    found: dict[int, Sequence[Ruling]]
    register: Register


_NOTHING = _Read(((0, 0), ()), {}, Register())
