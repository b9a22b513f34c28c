"""`python -m bench fit --stores DIR --locomo FILE …`: learn the weights of the score and write them.

One set of weights serves every kind of conversation. Every column counts as `COLUMNS` says, however many
questions it has. For each piece of evidence the loss asks how far it stands above the fifth and the tenth
best of the rest, for sessions of work above the first and the fifth. Cross-validation leaves out whole
conversations, or every fifth question where there is one store.

`--without NAME,…` leaves measures out and writes nothing: what a measure is worth is what is lost then.
"""

import argparse
import json
import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.quality import datasets
from bench.quality.datasets import Conversation
from bench.quality.measured import (
    FOLDS,
    WORK,
    WORK_WITH_WORDINGS,
    Measured,
    conversations,
    sessions_of_work,
)
from bench.quality.metrics import Outcome, ranks, share
from bench.quality.run import OWN
from bench.scratch import needed_model
from iai_mcp.recall.score import MEASURES

Floats = NDArray[np.float64]
COLUMNS = {
    "locomo": 2.5,
    "locomo adversarial": 0.25,
    "longmemeval": 2.0,
    "beam facts": 1.0,
    "beam preferences, instructions": 0.8,
    "coding": 1.0,
    WORK: 1.5,
    WORK_WITH_WORDINGS: 2.0,
}
WEIGHTS = Path(__file__).parents[2] / "src/iai_mcp/recall/weights.json"
FITTED = ("locomo", "longmemeval", "beam", "coding")
_CUTS, _CUTS_OF_WORK = (4, 9), (0, 4)  # places, from 0, that the evidence has to reach
_POOL = 60  # candidates of a question that the loss looks at
_ROUNDS, _STEPS = 3, 80
_START, _PACE = 0.5, 0.08
_SHOWN = (("any", 1), ("any", 5), ("any", 10), ("all", 10))


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench fit")
    for name in ("locomo", "longmemeval", "beam"):
        parser.add_argument(f"--{name}", type=Path, required=True, help="the set's JSON file")
    parser.add_argument(
        "--stores", type=Path, required=True, help="what `bench quality --stores` kept"
    )
    parser.add_argument(
        "--coding",
        type=Path,
        nargs=3,
        metavar=("QUESTIONS", "WORDINGS", "TRANSCRIPTS"),
        help="real coding sessions",
    )
    parser.add_argument("--keep", type=Path, help="keep the measures here, and reuse them")
    parser.add_argument("--ridge", type=float, default=0.03)
    parser.add_argument("--without", default="", help="measures to leave out; writes nothing")
    options = parser.parse_args(arguments)
    left_out = set(filter(None, options.without.split(",")))
    if left_out - set(MEASURES):
        parser.error(f"no measures: {', '.join(sorted(left_out - set(MEASURES)))}")
    needed_model()
    names = [name for name in MEASURES if name not in left_out]
    places = [MEASURES.index(name) for name in names]
    rows = [replace(row, table=row.table[:, places]) for row in _rows(options)]
    learner = Learner(rows, options.ridge)
    _report("cross-validated", learner.cross_validated())
    weights = learner.fitted(range(len(rows)))
    _report("fitted on all", learner.outcomes(weights, range(len(rows))))
    learned = dict(zip(names, (weights / learner.spread).tolist(), strict=True))
    print("\n".join(f"  {name:<12}{weight:8.3f}" for name, weight in learned.items()))
    if not left_out:
        write(WEIGHTS, learned)
        print(f"written: {WEIGHTS}")
    return 0


def write(path: Path, weights: Mapping[str, float]) -> None:
    """Replace the weights. The scales of the models stay as they are."""
    data = json.loads(path.read_text())
    data["weights"] = {name: round(weight, 3) for name, weight in weights.items()}
    path.write_text(json.dumps(data, indent=2) + "\n")


def _rows(options: argparse.Namespace) -> list[Measured]:
    if options.keep and options.keep.exists():
        kept: list[Measured] = pickle.loads(options.keep.read_bytes())
        return kept
    rows: list[Measured] = []
    for name in FITTED:
        rows += conversations(options.stores / name, _talks(name, options), list(COLUMNS))
        print(f"{name}: measured", flush=True)
    if options.coding:
        rows += sessions_of_work(options.stores, *options.coding)
        print("sessions of work: measured", flush=True)
    if options.keep:
        options.keep.write_bytes(pickle.dumps(rows))
    return rows


def _talks(name: str, options: argparse.Namespace) -> list[Conversation]:
    """The set's conversations. All kinds of questions of the project's own set are one column."""
    if name != "coding":
        talks: list[Conversation] = getattr(datasets, name)(getattr(options, name))
        return talks
    return [
        replace(talk, questions=[replace(asked, column="coding") for asked in talk.questions])
        for talk in datasets.own(OWN / "coding")
    ]


class Learner:
    """Learns weights for measures that are divided by their spread."""

    def __init__(self, rows: Sequence[Measured], ridge: float) -> None:
        self._rows = rows
        self._ridge = ridge
        self.spread = np.concatenate([row.table for row in rows]).std(axis=0) + 1e-6
        self._tables = [(row.table / self.spread).astype(np.float32) for row in rows]
        self._gold = [row.gold for row in rows]
        counts = {column: sum(row.column == column for row in rows) for column in COLUMNS}
        self._worth = np.array([COLUMNS[row.column] / counts[row.column] for row in rows])

    def cross_validated(self) -> list[Outcome]:
        outcomes: list[Outcome] = []
        for fold in range(FOLDS):
            inside = [i for i, row in enumerate(self._rows) if row.fold != fold]
            outside = [i for i, row in enumerate(self._rows) if row.fold == fold]
            outcomes += self.outcomes(self.fitted(inside), outside)
        return outcomes

    def outcomes(self, weights: Floats, chosen: Sequence[int]) -> list[Outcome]:
        outcomes = []
        for i in chosen:
            row = self._rows[i]
            order = [row.names[place] for place in self._order(i, weights)]
            places = ranks(order, row.evidence)
            outcomes.append(Outcome(row.id, row.category, row.column, places))
        return outcomes

    def fitted(self, chosen: Sequence[int]) -> Floats:
        """A few rounds: each looks at the candidates that are best by the weights of the last."""
        weights = np.full(self.spread.shape, _START)
        for _ in range(_ROUNDS):
            weights = _descend(self._slope(weights, chosen), weights)
        return weights

    def _order(self, i: int, weights: Floats) -> NDArray[np.int64]:
        scores = self._tables[i] @ weights + self._rows[i].exact
        return np.argsort(-scores, kind="stable")

    def _slope(self, weights: Floats, chosen: Sequence[int]) -> Callable[[Floats], Floats]:
        """The gradient of the loss over the best candidates of the chosen questions."""
        shape = (len(chosen), _POOL)
        tables = np.zeros((*shape, len(weights)), np.float32)
        exact, gold, rest = np.zeros(shape), np.zeros(shape, bool), np.zeros(shape, bool)
        for line, i in enumerate(chosen):
            places = self._representatives(i, weights)
            size = len(places)
            tables[line, :size] = self._tables[i][places]
            exact[line, :size] = self._rows[i].exact[places]
            gold[line, :size] = self._gold[i][places]
            rest[line, :size] = ~gold[line, :size]
        worth = self._worth[list(chosen)][:, None] * gold / np.maximum(gold.sum(1), 1)[:, None]
        work = np.array([self._rows[i].column in (WORK, WORK_WITH_WORDINGS) for i in chosen])
        flat = tables.reshape(-1, len(weights))

        def slope_at(now: Floats) -> Floats:
            scores = (flat @ now.astype(np.float32)).reshape(shape) + exact
            others = np.where(rest, scores, -1e9)
            order = np.argsort(-others, axis=1)
            slope = np.zeros(shape)
            for usual, of_work in zip(_CUTS, _CUTS_OF_WORK, strict=True):
                at = np.take_along_axis(order, np.where(work, of_work, usual)[:, None], 1)
                margin = scores - np.take_along_axis(others, at, 1)
                push = worth / (1 + np.exp(np.clip(margin, -30, 30))) / len(_CUTS)
                slope -= push
                back = np.take_along_axis(slope, at, 1) + push.sum(1, keepdims=True)
                np.put_along_axis(slope, at, back, 1)
            gradient = flat.T @ slope.reshape(-1).astype(np.float32)
            return gradient.astype(np.float64) + self._ridge * now

        return slope_at

    def _representatives(self, i: int, weights: Floats) -> NDArray[np.int64]:
        """Evidence and the strongest of the rest; of each session the best turn."""
        order = self._order(i, weights)
        if self._rows[i].by_session:
            _, first = np.unique(np.array(self._rows[i].names)[order], return_index=True)
            order = order[np.sort(first)]
        return order[np.argsort(~self._gold[i][order], kind="stable")][:_POOL]


def _descend(slope_at: Callable[[Floats], Floats], start: Floats) -> Floats:
    """Adam with a falling step: the loss has kinks where the tenth best changes."""
    weights, mean, square = start.copy(), np.zeros_like(start), np.zeros_like(start)
    for step in range(1, _STEPS + 1):
        slope = slope_at(weights)
        mean = 0.9 * mean + 0.1 * slope
        square = 0.99 * square + 0.01 * slope**2
        pace = _PACE * (1 - step / (_STEPS + 1))
        weights -= pace * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
    return weights


def _report(title: str, outcomes: Sequence[Outcome]) -> None:
    print(title)
    for column in COLUMNS:
        own = [one for one in outcomes if one.column == column]
        if own:
            figures = [f"{name}@{k} {share(own, name, k).value:.3f}" for name, k in _SHOWN]
            print(f"  {column:<32}", "  ".join(figures))
