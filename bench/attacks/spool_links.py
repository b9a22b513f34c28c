"""Things in the spool that are no files: they are shown, and hold nobody up."""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.attacks.outcome import Outcome
from bench.scratch import Scratch, scratch

_ODD: tuple[Callable[[Path], object], ...] = (
    lambda path: path.symlink_to("nowhere"),
    lambda path: path.symlink_to(path),
    lambda path: path.symlink_to("/dev/zero"),
    lambda path: path.symlink_to("/etc/passwd"),
    os.mkfifo,
    lambda path: path.mkdir(),
)
_WITHIN = 10.0


def attacks() -> Iterator[Outcome]:
    with scratch() as home:
        spool = home.path / "store/.deferred-captures"
        spool.mkdir(parents=True, mode=0o700)
        for number, make in enumerate(_ODD):
            make(spool / f"odd-{number}.jsonl")
        good = spool / "good-1.jsonl"
        good.write_text('{"version": 1, "session_id": "good"}\n{"text": "drained all the same"}\n')
        home.start()
        _wait(lambda: _counts(home) == {"waiting": 0, "set_aside": len(_ODD)})
        aside = _counts(home)["set_aside"]
        drained = home.call("memory_timeline", session_id="good")["records"]
        yield Outcome("odd things in the spool that are set aside", aside, len(_ODD))
        yield Outcome("files beside them that are drained", int(bool(drained)), 1)


def _counts(home: Scratch) -> dict[str, int]:
    counts = home.control("status")["spool"]
    assert isinstance(counts, dict)
    return counts


def _wait(condition: Callable[[], bool]) -> None:
    ends_at = time.monotonic() + _WITHIN
    while not condition() and time.monotonic() < ends_at:
        time.sleep(0.05)
