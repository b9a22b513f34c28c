"""How much agents may forget in a day, all of them together. The count survives a restart."""

import json
from dataclasses import dataclass, field
from threading import Lock

from iai_mcp.domain.errors import NotAllowed
from iai_mcp.domain.shown_text import memories
from iai_mcp.ports.journal import Journal
from iai_mcp.ports.surroundings import Clock

PER_DAY = 50
_SETTING = "forgotten_by_agents"
_DAY = 86_400_000_000  # microseconds


@dataclass(slots=True)
class ForgetBudget:
    """The last day's forgetting by callers that are not the person."""

    journal: Journal
    clock: Clock
    _lock: Lock = field(default_factory=Lock)

    def take(self, count: int, what: str) -> None:
        """Count `count` memories as forgotten; called before they go, so that a kill costs budget only.

        Raises:
            NotAllowed: the day's budget does not cover them.
        """
        if not count:
            return
        with self._lock:
            now = self.clock.now()
            spent = [(at, number) for at, number in self._spent() if at > now - _DAY]
            left = PER_DAY - sum(number for _, number in spent)
            if count > left:
                raise NotAllowed(
                    f"{what} would go. Agents may forget {memories(PER_DAY)} a day, and "
                    f"{max(left, 0)} are left: a person runs 'iai-mcp forget' with the same filters"
                )
            self.journal.set_setting(_SETTING, json.dumps([*spent, (now, count)]))

    def _spent(self) -> list[tuple[int, int]]:
        return [(at, number) for at, number in json.loads(self.journal.setting(_SETTING) or "[]")]
