"""The measures of every candidate of a question, taken by the stages that recall itself runs."""

import json
import os
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bench.coding.judging import flat
from bench.coding.transcripts import of_developer
from bench.quality.datasets import Conversation
from bench.scratch import Scratch
from iai_mcp.engine.vectors import MeaningLeg
from iai_mcp.ports.memories import Scope
from iai_mcp.recall.candidates import Candidates
from iai_mcp.recall.query import parse_query
from iai_mcp.recall.score import MEASURES, Surroundings, measures, rank, scale_of

if TYPE_CHECKING:
    from iai_mcp.store import MemoryStore

FOLDS = 5
WORK, WORK_WITH_WORDINGS = "work", "work with wordings"


@dataclass(frozen=True, slots=True)
class Measured:
    """One question: a row of measures per candidate, and which candidates are evidence."""

    id: str
    column: str  # of the report
    category: str
    fold: int  # in cross-validation
    table: NDArray[np.float32]
    exact: NDArray[np.float32]  # what exact parts add to the score; not learned
    names: Sequence[str]  # per candidate: the turn, session or exchange that it is
    evidence: frozenset[str]
    by_session: bool = False

    @property
    def gold(self) -> NDArray[np.bool_]:
        return np.array([name in self.evidence for name in self.names], dtype=np.bool_)


def conversations(
    directory: Path, talks: Sequence[Conversation], columns: Sequence[str]
) -> list[Measured]:
    """The questions of conversations that `bench quality --stores` stored in `directory`."""
    from iai_mcp.memory.scoping import Caller, Filter

    rows: list[Measured] = []
    with _opened(directory) as (store, leg):
        for place, talk in enumerate(talks):
            scope = store.access.scope(Filter(project=talk.project), Caller())
            for asked in talk.questions:
                if asked.column not in columns:
                    continue
                now = _time(asked.now)
                candidates, table, exact = _measures(store, leg, asked.cue, (), scope, now)
                fold = zlib.crc32(asked.id.encode()) if len(talks) == 1 else place
                rows.append(
                    Measured(
                        asked.id,
                        asked.column,
                        asked.category,
                        fold % FOLDS,
                        table,
                        exact,
                        _names(store, candidates, by_session=asked.by_session),
                        asked.evidence,
                        asked.by_session,
                    )
                )
    return rows


def sessions_of_work(
    stores: Path, questions: Path, wordings: Path, transcripts: Path
) -> list[Measured]:
    """Questions about coding sessions, each asked alone and with its wordings. The sessions of a
    developer are captured into a store of their own, which is kept in `stores`."""
    asked = json.loads(questions.read_text())["questions"]
    other = json.loads(wordings.read_text())
    files = sorted(transcripts.glob("*.jsonl"))
    rows: list[Measured] = []
    for developer in sorted({one["developer"] for one in asked}):
        directory = stores / f"work-{developer}"
        _captured(directory, files, developer)
        own = [one for one in asked if one["developer"] == developer]
        with _opened(directory) as (store, leg):
            said = _exchanges_said(store)
            for place, one in enumerate(own):
                for column, given in ((WORK, ()), (WORK_WITH_WORDINGS, other.get(one["id"], ()))):
                    now = _time(one.get("asked_at", ""))
                    candidates, table, exact = _measures(
                        store, leg, one["cue"], given, Scope(), now
                    )
                    rows.append(
                        Measured(
                            one["id"],
                            column,
                            one["kind"],
                            place % FOLDS,
                            table,
                            exact,
                            [str(head) for head in candidates.heads.tolist()],
                            _evidence(one, said),
                        )
                    )
    return rows


@contextmanager
def _opened(directory: Path) -> Iterator[tuple["MemoryStore", MeaningLeg]]:
    os.environ["IAI_MCP_STORE"] = str(directory)
    from iai_mcp.store import MemoryStore

    store = MemoryStore()
    try:
        while store.memories.renew(500):
            continue
        store.embedder.wait(60)
        leg = store.meaning()
        if isinstance(leg, str):
            raise RuntimeError(leg)  # noqa: TRY004 - a sentence that says why there is no model
        yield store, leg
    finally:
        store.close()


def _measures(
    store: "MemoryStore",
    leg: MeaningLeg,
    cue: str,
    wordings: Sequence[str],
    scope: Scope,
    now: datetime,
) -> tuple[Candidates, NDArray[np.float32], NDArray[np.float32]]:
    finder, model = store.recall.finder, leg.embedder.model_id
    query = parse_query(cue, wordings, now=now, speakers=finder.people(scope))
    embedded = np.asarray(leg.embedder.embed([one.meaning for one in query.wordings]), np.float32)
    candidates = finder.find(query, embedded, scope)
    columns = measures(candidates, query, scale_of(model))
    exact = rank(candidates, query, model, Surroundings(now.timestamp())).parts["exact"]
    return candidates, np.stack([columns[name] for name in MEASURES], axis=1), exact


def _names(store: "MemoryStore", candidates: Candidates, *, by_session: bool) -> list[str]:
    """The ids that the set gives to the turns, or to their sessions."""
    keys = candidates.best.tolist()
    memories = {one.key: one for one in store.memories.get(keys, 1)}
    return [
        memories[key].provenance.session_id if by_session else str(memories[key].meta.get("id"))
        for key in keys
    ]


def _captured(directory: Path, files: list[Path], developer: str) -> None:
    if directory.exists():
        return
    home = Scratch()
    home.environment["IAI_MCP_STORE"] = str(directory)
    try:
        home.start()
        home.wait_warm()
        for transcript in of_developer(files, developer):
            transcript.capture(home)
        while home.call("topology")["vectors_pending"]:
            time.sleep(0.2)
    finally:
        home.remove()


def _exchanges_said(store: "MemoryStore") -> list[tuple[str, str]]:
    """The text of every turn, with its exchange."""
    finder = store.recall.finder
    view = finder.columns.current()
    groups = finder.groups.of(view, finder.columns.within(view, Scope()))
    heads = view.keys[groups.heads]
    memories = store.memories.get(view.keys.tolist())
    rows = view.rows_of(np.array([one.key for one in memories], np.int64))
    owners = heads[groups.number[rows]].tolist()
    return [(flat(one.text), str(head)) for one, head in zip(memories, owners, strict=True)]


def _evidence(asked: dict[str, Any], said: Sequence[tuple[str, str]]) -> frozenset[str]:
    """The exchanges that hold a gold quote."""
    quotes = [
        flat(one["quote"])
        for gold in asked["gold"]
        for one in (gold, *gold.get("alt", ()), *gold.get("alts", ()))
    ]
    return frozenset(head for text, head in said if any(quote in text for quote in quotes))


def _time(text: str) -> datetime:
    moment = datetime.fromisoformat(text) if text else datetime.now(UTC)
    return moment.replace(tzinfo=moment.tzinfo or UTC)
