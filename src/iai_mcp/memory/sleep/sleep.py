"""The order of sleep's steps, one page at a time, and the report of what they did."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Lock

from iai_mcp.domain.errors import IaiError
from iai_mcp.domain.instants import iso
from iai_mcp.memory.sleep.courtesy import Courtesy
from iai_mcp.ports.memories import Memories
from iai_mcp.ports.sleep import Ledger, Night, Page, Progress, Step
from iai_mcp.ports.surroundings import Clock


@dataclass(slots=True)
class Sleep:
    """Everything sleep does, in a fixed order. `step` is one page; stop between any two.

    Killed at any moment it goes on where it was: what a page changed and where the next one
    begins are written together.
    """

    steps: Sequence[Step]
    ledger: Ledger
    memories: Memories
    clock: Clock
    courtesy: Courtesy = field(default_factory=Courtesy)
    _turnstile: Lock = field(default_factory=Lock)

    def begin(self) -> None:
        """Start a new sleep, or go on with the one that was interrupted."""
        with self._turnstile:
            night = self.ledger.night()
            known = {progress.step for progress in night.steps} if night else set()
            if night and night.finished is None and known == {step.name for step in self.steps}:
                return
            last = self.ledger.cursors()
            cursors = {step.name: step.start(last.get(step.name, "")) for step in self.steps}
            self.ledger.begin(cursors, self.clock.now())

    def step(self) -> bool:
        """One page of work, once nobody is being answered; whether all is done."""
        self.courtesy.step_aside()
        with self._turnstile:
            night = self.ledger.night()
            if night is None or night.finished is not None:
                return True
            standing = {progress.step: progress for progress in night.steps}
            waiting = [step for step in self.steps if not standing[step.name].done]
            if waiting:
                self._page(waiting[0], standing[waiting[0].name])
            if len(waiting) <= 1 and self._all_done():
                self.ledger.finish(self.clock.now())
                return True
            return False

    def run(self, goes_on: Callable[[], bool] = lambda: True) -> dict[str, object]:
        """A whole sleep, or the rest of one, for as long as it `goes_on`; the report.

        Stopped before its last page it is the report of an unfinished sleep, which goes on later.
        """
        self.begin()
        while goes_on() and not self.step():
            continue
        return self.report()

    def report(self) -> dict[str, object]:
        """What the steps of the current or the last sleep did: numbers, never words."""
        night = self.ledger.night()
        if night is None:
            return {"state": "never", "steps": []}
        totals: dict[str, int] = {}
        for progress in night.steps:
            for name, number in progress.counts.items():
                totals[name] = totals.get(name, 0) + number
        return {
            "state": "done" if night.finished is not None else "unfinished",
            "started": iso(night.started),
            "finished": None if night.finished is None else iso(night.finished),
            "seconds": round(sum(step.micros for step in night.steps) / 1e6, 3),
            "pages": sum(step.pages for step in night.steps),
            "changed": sum(step.counts.get("changed", 0) for step in night.steps),
            "folded": totals.get("folded", 0),
            "steps": [_shown(step) for step in _in_order(night, self.steps)],
        }

    def _page(self, step: Step, stands: Progress) -> None:
        began = self.clock.now()
        try:
            with self.courtesy.page() as enough:
                page = step.page(stands.cursor, enough)
        except IaiError as failed:
            # The other steps go on; the next sleep tries this one again from here.
            page = Page(stands.cursor, done=True, failed=failed.code)
        if page != Page(stands.cursor):  # waiting for another thread is not worth a write
            self.ledger.apply(step.name, page, max(0, self.clock.now() - began))

    def _all_done(self) -> bool:
        night = self.ledger.night()
        return night is not None and all(progress.done for progress in night.steps)


def _in_order(night: Night, steps: Sequence[Step]) -> list[Progress]:
    standing = {progress.step: progress for progress in night.steps}
    return [standing[step.name] for step in steps if step.name in standing]


def _shown(progress: Progress) -> dict[str, object]:
    shown: dict[str, object] = {
        "name": progress.step,
        "done": progress.done,
        "pages": progress.pages,
        "seconds": round(progress.micros / 1e6, 3),
        "changed": 0,
        **progress.counts,
    }
    return {**shown, "failed": progress.failed} if progress.failed else shown
