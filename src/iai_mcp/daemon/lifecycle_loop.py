"""The one place that changes the daemon's phase: it looks, decides by the pure rule, and acts."""

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable
from typing import Protocol

from iai_mcp.daemon import control
from iai_mcp.daemon.control import Rem, Request, Requests, SessionOpen, SleepRequest, State, Wake
from iai_mcp.domain.lifecycle import Lifecycle, Phase, Seen, Thresholds, step
from iai_mcp.memory.sleep.nights import Nights
from iai_mcp.ports.journal import Journal

_TICK_SECONDS = 1.0
# Awake and with nothing to finish, only time can change the phase, and it is known when.
_LONG_TICK_SECONDS = 5.0
_SETTING = "unfinished_sleep"


class Activity(Protocol):
    """What the loop watches."""

    last_use_ts: float
    last_contact_ts: float  # when a client last came or left, whatever it asked
    active_connections: int


class LifecycleLoop:
    """Owns the phase, and the thread in which nights are driven. `state` is what the control plane
    shows, and `requests` what it was asked for.
    """

    def __init__(
        self,
        state: State,
        requests: Requests,
        activity: Activity,
        journal: Journal,
        nights: Nights,
        *,
        thresholds: Thresholds | None = None,
        clock: Callable[[], float] = time.monotonic,
        warm: Callable[[], None] = lambda: None,
        session_opened: Callable[[str], None] = lambda _cwd: None,
        hibernate: Callable[[], None] = lambda: None,
        step_aside: Callable[[], object] = lambda: None,
        dormant: bool = False,
    ) -> None:
        self._state = state
        self._requests = requests
        self._activity = activity
        self._journal = journal
        self._nights = nights
        self._thresholds = thresholds or Thresholds()
        self._clock = clock
        self._warm = warm
        self._session_opened = session_opened
        self._hibernate = hibernate
        self._step_aside = step_aside
        self._nudge = asyncio.Event()
        self._night: threading.Thread | None = None
        self._interrupted = threading.Event()
        self._night_over = False  # the thread's last word: it was not interrupted
        self._kept = self._journal.setting(_SETTING) == "yes"
        # Where the last process stood is of no interest, but a sleep that it did not finish is.
        self.life = Lifecycle(
            phase=Phase.HIBERNATION if dormant else Phase.WAKE,
            last_activity=self._clock() if not dormant else self._activity.last_use_ts,
            unfinished=self._kept,
        )
        self._show(self.life)

    async def run(self, stop: asyncio.Event) -> None:
        """Tick until told to stop. After a failure it can be run again: what it had decided stands."""
        stopping = asyncio.ensure_future(stop.wait())
        stopping.add_done_callback(lambda _: self._nudge.set())
        try:
            while not stop.is_set():
                if not self._nothing_to_do():
                    await asyncio.to_thread(self.tick)
                elif self._only_watched():
                    self._hibernate()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._nudge.wait(), self._patience())
                self._nudge.clear()
        finally:
            stopping.cancel()

    def _patience(self) -> float:
        """How long nothing can happen of which nobody tells us."""
        if self.life.phase is not Phase.WAKE or self.life.unfinished or self._night is not None:
            return _TICK_SECONDS
        soonest = min(self._thresholds.drowsy_after, self._thresholds.sleep_after)
        left = self._activity.last_use_ts + soonest - self._clock()
        return min(max(left, _TICK_SECONDS), _LONG_TICK_SECONDS)

    def _nothing_to_do(self) -> bool:
        """A look that costs microseconds, so that an idle daemon uses no processor."""
        if self._requests or self._nights.awaited or self._night is not None:
            return False
        if self._kept != self.life.unfinished:
            return False
        seen = Seen(
            self._clock(), self._activity.last_use_ts, paused=control.is_paused(self._state)
        )
        following = step(self.life, seen, self._thresholds)
        if following.phase is not self.life.phase or following.unfinished != self.life.unfinished:
            return False
        self.life = following
        return True

    def _only_watched(self) -> bool:
        """Whether a daemon that somebody looked at in its hibernation can lie down again."""
        watched = self._activity
        quiet = self._clock() - watched.last_contact_ts
        return (
            self.life.phase is Phase.HIBERNATION
            and not watched.active_connections
            and quiet >= self._thresholds.resume_after
        )

    def nudge(self) -> None:
        """Look again at once if somebody asked something. Cheap enough for every request."""
        asked = self._activity.last_use_ts > self.life.last_activity
        if asked and self.life.phase is not Phase.WAKE:
            self._interrupted.set()
            self._nudge.set()
        elif self._requests or self._nights.awaited:
            self._nudge.set()

    def tick(self) -> Phase:
        """Look once, decide, and act on what changed."""
        requests = self._requests.take()
        seen = Seen(
            now=self._clock(),
            last_activity=self._activity.last_use_ts,
            wake=any(isinstance(request, Wake) for request in requests),
            sleep=any(isinstance(request, SleepRequest | Rem) for request in requests),
            paused=control.is_paused(self._state),
            sleep_done=self._night_ended(),
        )
        before, self.life = self.life, step(self.life, seen, self._thresholds)
        if before.phase is not self.life.phase:
            self._changed(before.phase, self.life.phase, requests)
        self._keep()
        if self.life.phase is Phase.HIBERNATION and before.phase is not Phase.HIBERNATION:
            self._hibernate()
        self._work()
        for request in requests:
            if isinstance(request, SessionOpen):
                self._session_opened(request.cwd or "")
        return self.life.phase

    async def end(self) -> None:
        """Stop a sleep in progress after the page in hand, and keep where we stand."""
        self._interrupted.set()
        if self._night is not None:
            await asyncio.to_thread(self._night.join, 3)
        await asyncio.to_thread(self._keep)

    def _changed(self, before: Phase, now: Phase, requests: list[Request]) -> None:
        self._show(self.life)
        if now is Phase.WAKE:
            # Whoever woke us is answered first; what is written down about it can wait that long.
            self._interrupted.set()
            self._warm()
            self._step_aside()
        asked = ", ".join(sorted(request.name for request in requests))
        reason = asked or ("activity" if now is Phase.WAKE else "idle")
        data = {"from": str(before), "to": str(now), "reason": reason}
        self._journal.record_event("lifecycle", data, int(time.time() * 1e6))

    def _night_ended(self) -> bool:
        """Whether a night came to its end since we last looked."""
        if self._night is None or self._night.is_alive():
            return False
        self._night = None
        return self._night_over

    def _work(self) -> None:
        """Drive a night while the phase is SLEEP and work is left, and while somebody waits for one."""
        wanted = self.life.phase is Phase.SLEEP and self.life.unfinished
        if self._night is None and (wanted or self._nights.awaited):
            self._interrupted.clear()
            self._night = threading.Thread(target=self._sleep, name="sleep", daemon=True)
            self._night.start()

    def _sleep(self) -> None:
        self._night_over = self._nights.run(lambda: not self._interrupted.is_set())

    def _show(self, life: Lifecycle) -> None:
        self._state["fsm_state"] = str(life.phase)

    def _keep(self) -> None:
        """Write down whether a sleep was begun and is not done, for the process after this one."""
        unfinished = self.life.unfinished
        if self._kept != unfinished:
            self._journal.set_setting(_SETTING, "yes" if unfinished else "no")
            self._kept = unfinished
