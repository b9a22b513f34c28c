"""`Consent` by the marker files that the command line and the hooks write."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from iai_mcp.adapters.bounded_stat import look_at
from iai_mcp.capture import consent
from iai_mcp.ports.surroundings import ConsentRules

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


_MICROS = 1_000_000


class LocalConsent:
    """Reads the files once per batch: a batch is one session in a place or two."""

    def rules(self) -> ConsentRules:
        pauses = [Pause(a * _MICROS, b * _MICROS) for a, b in consent.pauses()]
        since = consent.silent_since()
        if since is not None:
            pauses.append(Pause(since * _MICROS))
        return _Rules(tuple(pauses))


class _Rules:
    def __init__(self, pauses: tuple[Pause, ...]) -> None:
        self._pauses = pauses
        self._place_refusal = cache(_place_refusal)
        self._work_refusal = cache(_work_refusal)

    def refusal(self, project: str, cwd: str, at: int) -> str | None:
        return self._place_refusal(cwd, project) or pause_refusal(self._pauses, at)

    def work_refusal(self, project: str, cwd: str) -> str | None:
        return self._work_refusal(cwd, project)


def _work_refusal(cwd: str, project: str) -> str | None:
    return consent.work_refusal(cwd or None, project or None)


def _place_refusal(cwd: str, project: str) -> str | None:
    if not cwd and not project:
        return None
    return look_at(cwd or project, lambda: consent.place_refusal(cwd or None, project or None))
