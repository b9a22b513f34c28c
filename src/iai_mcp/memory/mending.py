"""Find out what mended failures: when a command was captured, and once more asleep."""

from collections.abc import Sequence
from dataclasses import dataclass

from iai_mcp.domain.mendings import Step, mendings
from iai_mcp.domain.work import Command, Record
from iai_mcp.ports.memories import Scope
from iai_mcp.ports.works import Works

_LOOKED_BACK = 400  # steps of a session
_DAY = 86_400 * 1_000_000  # microseconds


@dataclass(frozen=True, slots=True)
class Mend:
    """Writes down what mended which failure."""

    works: Works

    def session(self, session_id: str) -> int:
        """Within one session; how many there are now."""
        return self._among(self.works.in_session(session_id, _LOOKED_BACK))

    def page(self, after: int, limit: int) -> int | None:
        """The next failures that nothing is known to have mended, across the sessions of their
        project; the key to go on from, or None when that was the last page."""
        waiting = self.works.unsettled(after, limit)
        for failure in self.works.get([key for key, _ in waiting]):
            project = failure.provenance.project
            scope = Scope(
                projects=(project,), since=failure.at.micros, until=failure.at.micros + _DAY
            )
            done = self.works.newest(scope, ("command", "edit"), _LOOKED_BACK)
            self._among(done[::-1], only=failure.key)
        return waiting[-1][0] if len(waiting) == limit else None

    def _among(self, done: Sequence[Record], only: int | None = None) -> int:
        if not any(isinstance(one.done, Command) and one.done.failed for one in done):
            return 0
        steps = [Step(one.key, one.at.micros, one.done) for one in done]
        found = [one for one in mendings(steps) if only in (None, one.failure)]
        self.works.put_mendings(found)
        return len(found)
