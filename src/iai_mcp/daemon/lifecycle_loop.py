"""The one place that changes the daemon's phase: it looks, decides by the pure rule, and acts."""

import asyncio
import contextlib
import json
import logging
import threading
import time
from collections.abc import Callable, MutableMapping
from typing import Protocol

from iai_mcp.daemon import control
from iai_mcp.domain.instants import iso
from iai_mcp.domain.lifecycle import Lifecycle, Phase, Seen, Thresholds, step
from iai_mcp.ports.journal import Journal

_log = logging.getLogger(__name__)

_TICK_SECONDS = 1.0
# Awake and with nothing to finish, only time can change the phase, and it is known when.
_LONG_TICK_SECONDS = 5.0
_SETTING = "lifecycle"


class Sleeper(Protocol):
    """Sleep's work in pages. Any page may be the last one for now; the next goes on from there."""

    def begin(self) -> None: ...

    def step(self) -> bool:
        """One page of work; whether everything is done."""
        ...

    def report(self) -> dict[str, object]: ...


class Activity(Protocol):
    """What the loop watches."""

    last_activity_ts: float
    last_contact_ts: float  # when a client last came or left, whatever it asked
    active_connections: int


class LifecycleLoop:
    """Owns the phase. `state` is shared with the control plane, which only leaves requests in it."""

    def __init__(
        self,
        state: MutableMapping[str, object],
        activity: Activity,
        journal: Journal,
        sleeper: Callable[[], Sleeper],
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
        self._activity = activity
        self._journal = journal
        self._sleeper = sleeper
        self._thresholds = thresholds or Thresholds()
        self._clock = clock
        self._warm = warm
        self._session_opened = session_opened
        self._hibernate = hibernate
        self._step_aside = step_aside
        self._nudge = asyncio.Event()
        self._night: threading.Thread | None = None
        self._interrupted = threading.Event()
        self._night_done = False
        self.life = self._restored(dormant)
        self._show(self.life)

    async def run(self, stop: asyncio.Event) -> None:
        """Tick until told to stop; a sleep in progress ends after its page."""
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
            await asyncio.to_thread(self.end)

    def _patience(self) -> float:
        """How long nothing can happen of which nobody tells us."""
        if self.life.phase is not Phase.WAKE or self.life.unfinished or self._night is not None:
            return _TICK_SECONDS
        soonest = min(self._thresholds.drowsy_after, self._thresholds.sleep_after)
        left = self._activity.last_activity_ts + soonest - self._clock()
        return min(max(left, _TICK_SECONDS), _LONG_TICK_SECONDS)

    def _nothing_to_do(self) -> bool:
        """A look that costs microseconds, so that an idle daemon uses no processor."""
        if self._state.get("requests") or self._night is not None:
            return False
        seen = Seen(
            self._clock(), self._activity.last_activity_ts, paused=control.is_paused(self._state)
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
        asked = self._activity.last_activity_ts > self.life.last_activity
        if asked and self.life.phase is not Phase.WAKE:
            self._interrupted.set()
            self._nudge.set()
        elif self._state.get("requests"):
            self._nudge.set()

    def tick(self) -> Phase:
        """Look once, decide, and act on what changed."""
        requests = self._taken()
        kinds = {str(request.get("type")) for request in requests}
        seen = Seen(
            now=self._clock(),
            last_activity=self._activity.last_activity_ts,
            wake="force_wake" in kinds,
            sleep=bool(kinds & {"force_rem", "user_initiated_sleep"}),
            paused=control.is_paused(self._state),
            sleep_done=self._night_done,
        )
        before, self.life = self.life, step(self.life, seen, self._thresholds)
        if before.phase is not self.life.phase:
            self._changed(before.phase, self.life.phase, kinds)
        self._work()
        for request in requests:
            if request.get("type") == "session_open":
                self._session_opened(str(request.get("cwd") or ""))
        return self.life.phase

    def end(self) -> None:
        """Stop a sleep in progress after the page in hand, and keep where we stand."""
        self._interrupted.set()
        if self._night is not None:
            self._night.join(timeout=3)
        self._keep()

    def _changed(self, before: Phase, now: Phase, kinds: set[str]) -> None:
        self._show(self.life)
        if now is Phase.WAKE:
            # Whoever woke us is answered first; what is written down about it can wait that long.
            self._interrupted.set()
            self._warm()
            self._step_aside()
        reason = ", ".join(sorted(kinds)) or ("activity" if now is Phase.WAKE else "idle")
        self._record("lifecycle", {"from": before, "to": now, "reason": reason})
        self._keep()
        if now is Phase.HIBERNATION:
            self._hibernate()

    def _work(self) -> None:
        """Keep a night's thread running exactly while the phase is SLEEP and work is left."""
        if self._night is not None and not self._night.is_alive():
            self._night = None
        if self.life.phase is Phase.SLEEP and self.life.unfinished and self._night is None:
            self._interrupted.clear()
            self._night_done = False
            self._night = threading.Thread(target=self._sleep, name="sleep", daemon=True)
            self._night.start()

    def _sleep(self) -> None:
        began = time.time()
        try:
            self._sleeper().begin()
            self._record("sleep_started", {})
            while not self._interrupted.is_set():
                if self._sleeper().step():
                    self._finished(began)
                    return
            self._step_aside()
            self._record("sleep_interrupted", {})
        except Exception:  # noqa: BLE001 - supervision: the daemon outlives a step that fails
            _log.exception("sleep_failed")
            self._night_done = True  # not again at once: the next night tries anew

    def _finished(self, began: float) -> None:
        seconds = round(time.time() - began, 3)
        self._record("sleep_finished", {"seconds": seconds})
        night: dict[str, object] = {
            "started": iso(int(began * 1e6)),
            "ended": iso(int(time.time() * 1e6)),
            "seconds": seconds,
            "report": self._sleeper().report(),
        }
        # Kept before it is shown: whoever has seen a night will see it after a crash, too.
        self._keep(night)
        self._state["last_sleep"] = night
        self._night_done = True

    def _taken(self) -> list[dict[str, object]]:
        waiting = self._state.get("requests")
        self._state["requests"] = []
        return waiting if isinstance(waiting, list) else []

    def _show(self, life: Lifecycle) -> None:
        self._state["fsm_state"] = str(life.phase)

    def _keep(self, night: dict[str, object] | None = None) -> None:
        kept = {
            "phase": str(self.life.phase),
            "unfinished": self.life.unfinished,
            "last_sleep": night or self._state.get("last_sleep"),
        }
        self._journal.set_setting(_SETTING, json.dumps(kept))

    def _restored(self, dormant: bool) -> Lifecycle:
        """Where the last process stood: its sleep report, and a sleep it did not finish."""
        raw = self._journal.setting(_SETTING)
        kept = json.loads(raw) if raw else {}
        self._state["last_sleep"] = kept.get("last_sleep")
        return Lifecycle(
            phase=Phase.HIBERNATION if dormant else Phase.WAKE,
            last_activity=self._clock() if not dormant else self._activity.last_activity_ts,
            unfinished=bool(kept.get("unfinished")),
        )

    def _record(self, kind: str, data: dict[str, object]) -> None:
        self._journal.record_event(
            kind, {k: str(v) for k, v in data.items()}, int(time.time() * 1e6)
        )
