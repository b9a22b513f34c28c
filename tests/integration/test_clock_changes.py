"""A clock that is set during a pause neither lets out what was said in it nor swallows what was not."""

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from iai_mcp import boot_clock
from iai_mcp.capture import consent
from iai_mcp.core import dispatch
from iai_mcp.store import MemoryStore

MINUTE, HOUR, YEAR = 60.0, 3600.0, 31_536_000.0
NOW = 1_800_000_000.0


class Machine:
    """One that can be told what its clocks show."""

    def __init__(self) -> None:
        self.wall, self.up, self.boot = NOW, 10 * HOUR, "first"

    def goes_on(self, seconds: float) -> str:
        """Time passes; what is said then has this time."""
        self.wall += seconds
        self.up += seconds
        return datetime.fromtimestamp(self.wall, UTC).isoformat()

    def clock_is_set(self, by: float) -> None:
        self.wall += by

    def restarts(self) -> None:
        self.boot_clock, self.up = self.boot + "'", 0.0


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine()
    monkeypatch.setattr(time, "time", lambda: made.wall)
    monkeypatch.setattr(time, "time_ns", lambda: int(made.wall * 1e9))
    monkeypatch.setattr(boot_clock, "uptime", lambda: made.up)
    monkeypatch.setattr(boot_clock, "boot_id", lambda: made.boot)
    return made


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MemoryStore]:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("IAI_MCP_STORE", str(tmp_path / "data"))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    opened = MemoryStore()
    yield opened
    opened.close()


@pytest.fixture
def stores(store: MemoryStore) -> Callable[[str], bool]:
    """Whether a turn said at that time gets into the store, and whether a hook would send it."""
    number = iter(range(1000))

    def stored(ts: str) -> bool:
        event = {"text": f"turn {next(number)}", "ts": ts}
        counts = dispatch(store, "capture_events", {"session_id": "s", "events": [event]})
        taken = counts["inserted"] == 1
        if not consent.paused():
            assert consent.muted(ts, consent.pauses()) is not taken
        return taken

    return stored


Stores = Callable[[str], bool]


def test_a_clock_set_back_during_a_pause_does_not_end_it(
    machine: Machine, stores: Stores, store: MemoryStore
) -> None:
    consent.pause()
    machine.goes_on(MINUTE)
    machine.clock_is_set(-HOUR)
    assert not stores(machine.goes_on(MINUTE))
    assert dispatch(store, "memory_capture", {"text": "by hand"})["status"] == "skipped"


def test_a_clock_set_back_a_little_does_not_let_out_the_beginning(
    machine: Machine, stores: Stores
) -> None:
    before = machine.goes_on(0)
    machine.goes_on(10 * MINUTE)
    consent.pause()
    machine.goes_on(1)
    machine.clock_is_set(-5 * MINUTE)
    in_pause = machine.goes_on(MINUTE)  # by its time, it was said before the pause
    machine.goes_on(10 * MINUTE)
    assert not stores(in_pause)
    consent.resume()
    assert not stores(in_pause)
    assert stores(before)
    machine.goes_on(HOUR)
    assert stores(machine.goes_on(MINUTE))


@pytest.mark.parametrize("back", [-10 * MINUTE, -HOUR, -30 * YEAR])
def test_what_was_said_in_it_stays_out_afterwards(
    machine: Machine, stores: Stores, back: float
) -> None:
    consent.pause()
    early = machine.goes_on(MINUTE)
    machine.clock_is_set(back)
    late = machine.goes_on(MINUTE)
    machine.goes_on(MINUTE)
    consent.resume()
    assert not stores(early)
    assert not stores(late)
    assert stores(machine.goes_on(1))
    machine.clock_is_set(-back)
    assert not stores(early)
    assert stores(machine.goes_on(1))


def test_a_clock_set_forward_and_corrected_later_swallows_nothing_for_long(
    machine: Machine, stores: Stores
) -> None:
    consent.pause()
    early = machine.goes_on(MINUTE)
    machine.clock_is_set(YEAR)
    late = machine.goes_on(MINUTE)
    consent.resume()
    assert not stores(early)
    assert not stores(late)
    assert stores(machine.goes_on(1))
    machine.clock_is_set(-YEAR)
    assert not stores(early)
    assert not stores(late)
    assert stores(machine.goes_on(MINUTE))


def test_a_pause_outlasts_a_restart_with_a_clock_that_lost_its_time(
    machine: Machine, stores: Stores
) -> None:
    consent.pause()
    machine.goes_on(MINUTE)
    machine.restarts()
    machine.clock_is_set(-10 * YEAR)
    late = machine.goes_on(MINUTE)
    assert not stores(late)
    machine.goes_on(5 * HOUR)
    consent.resume()
    assert not stores(late)
    assert stores(machine.goes_on(1))


def test_a_pause_that_sleeps_through_the_night_keeps_all_of_it_out(
    machine: Machine, stores: Stores
) -> None:
    consent.pause()
    said = []
    for _ in range(3):  # a suspended virtual machine: its clocks stand still, then the time is set
        machine.clock_is_set(3 * HOUR)
        said.append(machine.goes_on(MINUTE))
    consent.resume()
    assert not any(map(stores, said))
    assert stores(machine.goes_on(1))


def test_a_mark_that_somebody_made_by_hand_pauses_too(
    machine: Machine, stores: Stores, store: MemoryStore
) -> None:
    (store.directory / "capture-paused").write_text(f"{machine.wall + HOUR}\n")
    said = machine.goes_on(MINUTE)
    assert not stores(said)
    consent.resume()
    assert not stores(said)
    assert stores(machine.goes_on(1))
