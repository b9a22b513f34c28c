"""Every statement on a connection looks through its open cursors: one that stays slows all that follow."""

import gc
import weakref
from collections.abc import Callable, Iterator

import apsw
from tests.support.answers import ask

from iai_mcp.store import MemoryStore


def _left_open() -> Iterator[apsw.Cursor]:
    gc.collect()
    for known in gc.get_objects():
        if type(known) is weakref.ref and isinstance(cursor := known(), apsw.Cursor):
            yield cursor


def test_capturing_and_asking_leave_none(opened: Callable[[], MemoryStore]) -> None:
    store = opened()
    for number in range(3):
        events = [{"text": f"turn {number} {n}", "role": "user"} for n in range(5)]
        ask(store, "capture_events", session_id=f"s{number}", events=events)
    ask(store, "memory_capture", text="the port is 5433", session_id="s")
    ask(store, "memory_recall", cue="which port is it?")
    assert len(list(_left_open())) == 0


def test_a_sleep_leaves_none(opened: Callable[[], MemoryStore]) -> None:
    store = opened()
    events = [{"text": f"always run test {n} first", "role": "user"} for n in range(5)]
    ask(store, "capture_events", session_id="s", events=events)
    before = len(list(_left_open()))
    ask(store, "memory_consolidate", wait=True)
    assert len(list(_left_open())) == before
