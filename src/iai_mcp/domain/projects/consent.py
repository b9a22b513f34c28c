"""Whether something that was said may be remembered: the rules of people, without the files."""

from collections.abc import Sequence
from dataclasses import dataclass

PAUSED = "capture is paused; 'iai-mcp capture resume' turns it on again"
SAID_IN_A_PAUSE = "it was said while capture was paused"


@dataclass(frozen=True, slots=True)
class Pause:
    """A time in which nothing is captured, in microseconds; `until` is None while it lasts."""

    since: float
    until: float | None = None

    def covers(self, at: int) -> bool:
        return self.since <= at and (self.until is None or at <= self.until)


def pause_refusal(pauses: Sequence[Pause], at: int) -> str | None:
    """Why what was said at that moment is not remembered, or None.

    What was said before a pause may arrive during it (a spool that drains late): only the moment
    of saying it counts.
    """
    covering = next((pause for pause in pauses if pause.covers(at)), None)
    if covering is None:
        return None
    return PAUSED if covering.until is None else SAID_IN_A_PAUSE
