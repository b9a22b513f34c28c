"""Damaged bytes in the store's write-ahead log, and kills that damage nothing."""

import random
from collections.abc import Iterator
from pathlib import Path

from bench.attacks.outcome import Outcome
from bench.scratch import Scratch, scratch

_ROUNDS = 6
_TURNS = 20


def attacks() -> Iterator[Outcome]:
    yield from _flipped_bytes()
    yield _kills()


def _flipped_bytes() -> Iterator[Outcome]:
    """One byte anywhere in the log of a daemon that was killed."""
    chance = random.Random(13)
    in_order = told = 0
    for _ in range(_ROUNDS):
        with scratch() as home:
            home.environment.pop("IAI_MCP_EMBED_MODEL", None)
            home.start()
            turns = _say(home)
            home.kill()
            log = home.path / "store/memory.db-wal"
            damaged = bytearray(log.read_bytes())
            damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
            log.write_bytes(damaged)
            home.start()
            kept = _stored(home)
            in_order += kept == turns[: len(kept)]
            told += kept == turns or _is_told(home, damaged)
    yield Outcome("damaged logs that open with what came before", in_order, _ROUNDS)
    yield Outcome("lost writes that are told, with a copy of what held them", told, _ROUNDS)


def _kills() -> Outcome:
    held = 0
    with scratch() as home:
        home.environment.pop("IAI_MCP_EMBED_MODEL", None)
        turns: list[str] = []
        for round_ in range(_ROUNDS):
            home.start()
            turns += _say(home, f"round {round_} ")
            home.kill()
            home.start()
            events = home.call("events_query", kind="writes_lost")["events"]
            held += not events and _stored(home) == turns
            home.stop()
    return Outcome("kills after which nothing is lost, and no loss is told", held, _ROUNDS)


def _say(home: Scratch, begin: str = "") -> list[str]:
    turns = [f"{begin}turn {number}" for number in range(_TURNS)]
    for text in turns:
        home.call("capture_events", session_id="s", events=[{"text": text, "id": text}])
    return turns


def _stored(home: Scratch) -> list[str]:
    records = home.call("memory_timeline", session_id="s", limit=1000)["records"]
    assert isinstance(records, list)
    return [record["text"] for record in records]


def _is_told(home: Scratch, damaged: bytearray) -> bool:
    events = home.call("events_query", kind="writes_lost")["events"]
    copies: list[Path] = list((home.path / "store").glob("memory.db-wal.damaged-*"))
    return bool(events) and [copy.read_bytes() for copy in copies] == [bytes(damaged)]
