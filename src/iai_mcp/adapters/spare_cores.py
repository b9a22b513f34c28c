"""How many cores nobody else needs: the idle ones of a machine on mains, else one."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

_SUPPLIES = Path("/sys/class/power_supply")
_PMSET = "/usr/bin/pmset"
_SECONDS, _POWER_SECONDS = 2.0, 30.0  # for which an answer holds
_TOO_LONG = 2.0


class SpareCores:
    """Looks at most every two seconds."""

    def __init__(
        self,
        cores: int | None = None,
        load: Callable[[], float] = lambda: os.getloadavg()[0],
        on_mains: Callable[[], bool] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._cores = cores or _cores()
        self._load = load
        self._on_mains = on_mains or mains
        self._clock = clock
        self._answer, self._until = 1, float("-inf")
        self._mains, self._mains_until = True, float("-inf")

    def __call__(self, own: int) -> int:
        """At least one; `own` of those that are busy are the caller's."""
        now = self._clock()
        if now >= self._until:
            others = max(0.0, self._load() - own)
            idle = int(self._cores - others + 0.5)
            self._answer = max(1, idle) if self._powered(now) else 1
            self._until = now + _SECONDS
        return self._answer

    def _powered(self, now: float) -> bool:
        if now >= self._mains_until:
            self._mains, self._mains_until = self._on_mains(), now + _POWER_SECONDS
        return self._mains


def mains(supplies: Path = _SUPPLIES) -> bool:
    """Whether no battery of the machine itself is being drained."""
    if sys.platform == "darwin":
        return not _pmset_says_battery()
    try:
        found = list(supplies.iterdir())
    except OSError:
        return True
    return not any(
        _said(one / "type") == "Battery"
        and _said(one / "scope") != "Device"  # a mouse, a headset
        and _said(one / "status") == "Discharging"
        for one in found
    )


def _said(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(64).decode("ascii", "replace").strip()
    except OSError:
        return ""


def _pmset_says_battery() -> bool:
    try:
        told = subprocess.run(
            [_PMSET, "-g", "batt"], capture_output=True, timeout=_TOO_LONG, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return b"Battery Power" in told.stdout


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
