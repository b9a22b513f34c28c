"""Captures acknowledged per second: durable, redacted and findable by words."""

import time

from bench.corpus import Corpus
from bench.report import Row, show
from bench.scratch import Scratch, scratch

METHOD = (
    "10,000 turns in batches of 100 over one connection; the clock stops at the last acknowledgement. Vectors: how\n"
    "many are made in the 20 seconds after it."
)
COUNT = 10_000
_WATCHED = 20.0


def main(arguments: list[str]) -> int:
    events = [event for _, event in Corpus().turns(COUNT)]
    with scratch() as home:
        home.start()
        home.wait_warm()
        home.open_mcp()
        with home.dial() as caller:
            began = time.perf_counter()
            stored = 0
            for start in range(0, COUNT, 100):
                answer = caller.call(
                    "capture_events",
                    session_id="s",
                    project="bench",
                    events=events[start : start + 100],
                )
                stored += int(str(answer["inserted"]))
            took = time.perf_counter() - began
        assert stored == COUNT
        waiting = _pending(home)
        time.sleep(_WATCHED)
        vectors = (waiting - _pending(home)) / _WATCHED
    rate = COUNT / took
    return show(
        "ingest",
        METHOD,
        [
            Row("captures acknowledged", f"{rate:,.0f}/s", ">= 2,000/s", rate >= 2000),
            Row("vectors in the background", f"{vectors:,.0f}/s", "", None),
        ],
    )


def _pending(home: Scratch) -> int:
    pending = home.control("status")["vectors_pending"]
    assert isinstance(pending, int)
    return pending
