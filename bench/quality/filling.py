"""A daemon of its own per set, filled over its socket as a hook would fill it."""

import os
import time
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

import numpy as np

from bench.quality.datasets import Conversation, Said
from bench.scratch import Caller, Scratch
from iai_mcp.ports.embedder import Matrix

_EVENTS_AT_ONCE = 200


def fill(caller: Caller, conversations: Sequence[Conversation]) -> None:
    """Store every turn through `capture_events`, then wait until each has its vectors."""
    for talk in conversations:
        for session, turns in groupby(talk.turns, key=lambda turn: turn.session):
            events = [_event(turn) for turn in turns]
            for start in range(0, len(events), _EVENTS_AT_ONCE):
                caller.call(
                    "capture_events",
                    session_id=session,
                    project=talk.project,
                    events=events[start : start + _EVENTS_AT_ONCE],
                )
    while caller.call("topology")["vectors_pending"]:
        time.sleep(0.2)


def _event(turn: Said) -> dict[str, object]:
    event: dict[str, object] = {
        "id": turn.id,
        "text": turn.text,
        "role": turn.role,
        "meta": {"id": turn.id},
    }
    if turn.speaker:
        event["speaker"] = turn.speaker
    if turn.ts:
        event["ts"] = turn.ts
    return event


def stored_vectors(home: Scratch, talk: Conversation) -> Matrix:
    """The vectors that the daemon made, in the order of the turns; zero where there is none."""
    os.environ.update({k: v for k, v in home.environment.items() if k.startswith(("IAI_", "HOME"))})
    from iai_mcp.store import MemoryStore

    store = MemoryStore(Path(home.environment["IAI_MCP_STORE"]))
    sql = (
        "SELECT m.meta ->> 'id', v.scale, v.code FROM vectors AS v JOIN memories AS m USING (key) "
        "JOIN projects AS p ON p.id = m.project WHERE p.key = ?"
    )
    with store.database.reading() as db:
        found = {
            str(row[0]): np.frombuffer(row[2], np.int8).astype(np.float32) * row[1]
            for row in db.execute(sql, (talk.project,))
        }
    store.close()
    blank = np.zeros_like(next(iter(found.values())))
    return np.stack([found.get(turn.id, blank) for turn in talk.turns])
