"""A clock that is set while capture is paused."""

import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from bench.attacks.outcome import Outcome
from bench.scratch import Scratch, scratch

_HOUR = 3600.0
# Every Python process of the scratch home reads its time through this.
_SET_CLOCK = """
import time
_time, _time_ns = time.time, time.time_ns
def _by():
    with open({place!r}) as file:
        return float(file.read())
time.time = lambda: _time() + _by()
time.time_ns = lambda: _time_ns() + int(_by() * 1e9)
"""


def attacks() -> Iterator[Outcome]:
    yield _set_during_a_pause(-_HOUR, "set back during a pause: what was said in it stays out")
    yield _set_during_a_pause(_HOUR, "set forward during a pause: what was said in it stays out")


def _set_during_a_pause(by: float, attack: str) -> Outcome:
    with scratch() as home:
        clock = _Clock(home)
        home.start()
        before = clock.now()
        clock.passes()
        _capture(home, "pause")
        in_pause = [clock.now()]
        clock.passes()
        clock.set(by)
        clock.passes()
        in_pause.append(clock.now())
        held = sum(not _stored(home, ts, "during") for ts in in_pause)
        held += home.call("memory_capture", text="by hand")["status"] == "skipped"
        clock.passes()
        _capture(home, "resume")
        held += sum(not _stored(home, ts, "after") for ts in in_pause)
        clock.passes()
        held += _stored(home, clock.now(), "said after it") + _stored(home, before, "said before")
    return Outcome(attack, held, 7)


class _Clock:
    """The time as the processes of one home are told it."""

    def __init__(self, home: Scratch) -> None:
        self._place = home.path / "clock"
        site = home.path / "site"
        site.mkdir()
        (site / "sitecustomize.py").write_text(_SET_CLOCK.format(place=str(self._place)))
        home.environment["PYTHONPATH"] = f"{site}:{home.environment['PYTHONPATH']}"
        self.set(0.0)

    def set(self, by: float) -> None:
        fresh = Path(f"{self._place}.new")
        fresh.write_text(str(by))
        fresh.replace(self._place)
        self._by = by

    def now(self) -> str:
        return datetime.fromtimestamp(time.time() + self._by, UTC).isoformat()

    def passes(self) -> None:
        """Long enough that the next thing is said at another time."""
        time.sleep(0.05)


def _capture(home: Scratch, wish: str) -> None:
    command = [sys.executable, "-m", "iai_mcp.cli", "capture", wish]
    subprocess.run(command, env=home.environment, capture_output=True, check=True, timeout=30)


def _stored(home: Scratch, ts: str, text: str) -> bool:
    events = [{"text": f"{text} {ts}", "ts": ts}]
    return home.call("capture_events", session_id="s", events=events)["inserted"] == 1
