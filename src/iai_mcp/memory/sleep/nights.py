"""The one driver of nights: whoever wants one asks it, and whoever waits waits for the same one."""

import json
from collections.abc import Callable
from concurrent.futures import Future
from threading import Lock
from typing import Protocol

from iai_mcp.domain.instants import iso
from iai_mcp.ports.journal import Journal
from iai_mcp.ports.surroundings import Clock

Report = dict[str, object]

_SETTING = "lifecycle"  # under this name stores keep what the last night did
_TOLD = ("seconds", "pages", "changed", "folded")


class Sleeper(Protocol):
    """Sleep's work in pages. Any page may be the last one for now; the next goes on from there."""

    def run(self, goes_on: Callable[[], bool]) -> Report:
        """A whole sleep, or the rest of one, for as long as it `goes_on`; the report."""
        ...

    def report(self) -> Report: ...


class Nights:
    """Safe from any thread; one night is driven at a time."""

    def __init__(
        self,
        sleeper: Callable[[], Sleeper],
        journal: Journal,
        clock: Clock,
        *,
        ask: Callable[[], None] = lambda: None,
        step_aside: Callable[[], object] = lambda: None,
        failed: Callable[[str, Exception], None] = lambda _name, _failed: None,
    ) -> None:
        self.ask = ask  # for a night soon; who owns the driver's thread puts its own here
        self._sleeper = sleeper
        self._journal = journal
        self._clock = clock
        self._step_aside = step_aside
        self._failed = failed
        self._driving = Lock()
        self._turnstile = Lock()  # for all that follows
        self._night: Future[Report] | None = None  # which those who wait wait for
        self._left: Future[Report] | None = None  # the same, of a night without more pages
        self._waiting = 0
        self._under_way = False
        self._ending = False
        self._by_person = self._by_agent = False  # who asked for the night that is to come
        self.retains = True  # whether the night under way may forget by retention

    @property
    def last(self) -> Report | None:
        """The last night that was finished: when, and its report."""
        kept = json.loads(self._journal.setting(_SETTING) or "{}")
        last: Report | None = kept.get("last_sleep")
        return last

    @property
    def awaited(self) -> bool:
        """Whether somebody waits for a night that has not begun."""
        return self._night is not None and not self._under_way

    def ask_by(self, *, person: bool) -> None:
        """Ask for a night. One that only agents asked for forgets nothing by retention."""
        self._note(person=person)
        self.ask()

    def _note(self, *, person: bool) -> None:
        with self._turnstile:
            if person:
                self._by_person = True
            else:
                self._by_agent = True

    def run(self, may_go_on: Callable[[], bool] = lambda: True) -> bool:
        """Drive a night, or the rest of one; whether it is over for now, and not interrupted.

        It is over, too, where it failed: the next night tries anew.

        Args:
            may_go_on: asked before each page. A night that somebody waits for goes on in any case.
        """
        with self._driving:
            began = self._clock.now()
            with self._turnstile:
                self._under_way = True
                self.retains = self._by_person or not self._by_agent
                self._by_person = self._by_agent = False
            try:
                self._journal.record_event("sleep_started", {}, began)
                report = self._sleeper().run(lambda: self._goes_on(may_go_on))
            except Exception as failed:  # noqa: BLE001 - supervision: who drives outlives a step that fails
                self._failed("sleep", failed)
                _settle(self._over(), failed)
                return True
            night = self._over()
            try:
                self._write_down(report, began)
            except Exception as failed:  # noqa: BLE001 - as above; the report is true all the same
                self._failed("sleep", failed)
            _settle(night, report)
            return report["state"] == "done"

    def wait(self, *, person: bool = True) -> Report:
        """The report of the night that is under way, or else of one that is asked for now.

        It is unfinished where everything ends meanwhile.

        Raises:
            IaiError: the night failed.
        """
        with self._turnstile:
            if self._ending:
                return self._sleeper().report()
            night = self._night = self._night or Future()
            under_way = self._under_way
            self._waiting += 1
        try:
            if not under_way:
                self.ask_by(person=person)
            return night.result()
        finally:
            with self._turnstile:
                self._waiting -= 1

    def end(self) -> None:
        """No night is waited for any more, and one under way ends after the page in hand."""
        with self._turnstile:
            self._ending = True
            night = None if self._under_way else self._night
            if night is not None:
                self._night = None
        if night is not None:
            night.set_result(self._sleeper().report())

    def _goes_on(self, may_go_on: Callable[[], bool]) -> bool:
        with self._turnstile:
            if not self._ending and (self._waiting or may_go_on()):
                return True
            # In the same breath: whoever comes to wait from now on has to ask for another night.
            self._leave()
            return False

    def _over(self) -> "Future[Report] | None":
        """No more pages; who waited for them, and has to be told."""
        with self._turnstile:
            if self._under_way:
                self._leave()
            night, self._left = self._left, None
            return night

    def _leave(self) -> None:
        self._under_way = False
        self._left, self._night = self._night, None

    def _write_down(self, report: Report, began: int) -> None:
        ended = self._clock.now()
        numbers = {name: report[name] for name in _TOLD}
        if report["state"] != "done":
            self._step_aside()  # whoever interrupted it is answered first
            self._journal.record_event("sleep_interrupted", numbers, ended)
            return
        self._journal.record_event("sleep_finished", numbers, ended)
        night = {
            "started": iso(began),
            "ended": iso(ended),
            "seconds": round((ended - began) / 1e6, 3),
            "report": report,
        }
        self._journal.set_setting(_SETTING, json.dumps({"last_sleep": night}))


def _settle(night: "Future[Report] | None", outcome: Report | Exception) -> None:
    if night is None:
        return
    if isinstance(outcome, Exception):
        night.set_exception(outcome)
    else:
        night.set_result(outcome)
