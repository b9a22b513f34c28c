"""What the control plane is asked for reaches the lifecycle: each request once, none lost."""

import sys
import threading
from collections import Counter
from collections.abc import Iterator

import pytest

from iai_mcp.daemon import control
from iai_mcp.daemon.control import Rem, Requests, SessionOpen, SleepRequest, Wake


@pytest.fixture
def hectic() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_none_is_lost_and_none_arrives_twice_while_one_thread_asks_and_another_takes(
    hectic: None,
) -> None:
    requests = Requests()
    state: dict[str, object] = {}
    taken: Counter[str] = Counter()
    asked = threading.Event()

    def take() -> None:
        while True:
            last = asked.is_set()
            for request in requests.take():
                taken[f"{request.name} {getattr(request, 'cwd', request.ts)}"] += 1
            if last:
                return

    taking = threading.Thread(target=take)
    taking.start()
    for n in range(20_000):
        for message in (
            {"type": "session_open", "cwd": f"{n}"},
            {"type": "force_rem", "ts": f"{n}"},
        ):
            assert control.answer(message, state, requests, dict)["ok"]
    asked.set()
    taking.join()
    assert set(taken.values()) == {1}
    # Only the newest of a kind counts, and that one always arrives.
    assert {"session_open 19999", "force_rem 19999"} <= set(taken)
    assert not state


def test_only_the_newest_of_a_kind_counts() -> None:
    requests = Requests()
    for n in range(3):
        requests.put(SessionOpen(None, None, f"/{n}"))
        requests.put(Wake(f"{n}"))
    requests.put(Rem())
    requests.put(SleepRequest("tired", ""))
    assert requests.take() == [
        SessionOpen(None, None, "/2"),
        Wake("2"),
        Rem(),
        SleepRequest("tired", ""),
    ]
    assert not requests
    assert requests.take() == []


def test_a_pause_that_ran_out_does_not_undo_the_one_after_it() -> None:
    state: dict[str, object] = {}
    control.answer({"type": "pause", "seconds": 0}, state, Requests(), dict)
    assert not control.is_paused(state)
    control.answer({"type": "pause"}, state, Requests(), dict)
    assert control.is_paused(state)
    control.answer({"type": "resume"}, state, Requests(), dict)
    assert not control.is_paused(state)
