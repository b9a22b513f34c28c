"""`python -m bench fit --stores DIR --locomo FILE …`: learn the weights of the ranker.

`--without GROUP,…` leaves measures out (`who`, `time`, … as `recall --explain` calls them, or single
names): what a group is worth is what is lost without it.

Uses the stores that `bench quality --stores DIR` filled, and the measures that recall itself takes.
Every column counts alike however many questions it has. For each piece of evidence the loss asks how
far it stands above the fifth and the tenth best of what is no evidence: what matters is the first
page, not the first place. Cross-validation leaves out whole conversations. A question that has no
answer is about something all the same: what was said about it is worth finding.
"""

import argparse
import os
import pickle
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from iai_mcp.domain.ranking.candidates import Candidates
from iai_mcp.domain.ranking.features import Asked, CosineScale, features
from iai_mcp.domain.ranking.scoring import EXACT, FEATURES, REASONS
from numpy.typing import NDArray

from bench.quality import datasets
from bench.quality.datasets import Conversation, Question
from bench.quality.metrics import Outcome, ranks, share
from bench.quality.run import OWN
from bench.scratch import needed_model

Floats = NDArray[np.float64]
FOLDS = 5
COLUMNS = {
    "locomo": 2.0,
    "locomo adversarial": 0.25,
    "longmemeval": 2.0,
    "beam facts": 1.0,
    "beam preferences, instructions": 0.5,
    "coding": 0.5,
}
SETS = ("locomo", "longmemeval", "beam", "coding")
_CUTS = (4, 9)  # the fifth and the tenth best of the rest
_POOL = 80


Raw = tuple[Question, int, Candidates, Asked, list[str]]


@dataclass(frozen=True, slots=True)
class Example:
    """The measures of one question's candidates, and which of them are evidence."""

    asked: Question
    fold: int
    table: NDArray[np.float32]
    fixed: NDArray[np.float32]  # what exact matches add, not learned
    names: Sequence[str]  # evidence ids of the candidates: turns or sessions

    @property
    def gold(self) -> NDArray[np.bool_]:
        return np.array([name in self.asked.evidence for name in self.names], dtype=np.bool_)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench fit")
    for name in ("locomo", "longmemeval", "beam"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--stores", type=Path, required=True)
    parser.add_argument("--keep", type=Path, help="keep the measures here, and reuse them")
    parser.add_argument("--ridge", type=float, default=0.03)
    parser.add_argument("--without", default="", help="groups or names of measures to leave out")
    options = parser.parse_args(arguments)
    scale, examples = _examples(options)
    left_out = set(filter(None, options.without.split(",")))
    kept = [n for n in FEATURES if not {n, REASONS[n]} & left_out]
    examples = [replace(one, table=one.table[:, _places(kept)]) for one in examples]
    print(f"cosines of unrelated texts: mean {scale.mean:.4f}, spread {scale.spread:.4f}")
    learner = Learner(examples, options.ridge, kept)
    _tell("cross-validated", learner.cross_validated())
    weights = learner.fitted(range(len(examples)))
    _tell("fitted on all", learner.outcomes(weights, range(len(examples))))
    if not left_out:
        for name, weight in zip(FEATURES, weights / learner.spread, strict=True):
            print(f'    "{name}": {weight:.3f},')
    return 0


def _places(names: Sequence[str]) -> list[int]:
    return [FEATURES.index(name) for name in names]


def _examples(options: argparse.Namespace) -> tuple[CosineScale, list[Example]]:
    if options.keep and options.keep.exists():
        kept: tuple[CosineScale, list[Example]] = pickle.loads(options.keep.read_bytes())
        return kept
    needed_model()
    raw: list[Raw] = []
    for name in SETS:
        raw += _measured(options.stores / name, _talks(name, options))
        print(f"{name}: measured", flush=True)
    cosines = np.concatenate([found.turn for _, _, found, _, _ in raw])
    known = cosines[~np.isnan(cosines)]
    scale = CosineScale(float(known.mean()), float(known.std()))
    examples = []
    for asked, fold, found, cue, names in raw:
        columns = features(found, cue, scale)
        eligible = found.eligible
        table = np.stack([columns[name] for name in FEATURES], axis=1)[eligible]
        fixed = EXACT * found.exact[eligible]
        examples.append(Example(asked, fold, table, fixed, names))
    if options.keep:
        options.keep.write_bytes(pickle.dumps((scale, examples)))
    return scale, examples


def _talks(name: str, options: argparse.Namespace) -> list[Conversation]:
    """The set's conversations; all kinds of questions of the coding set are one column."""
    if name != "coding":
        found: list[Conversation] = getattr(datasets, name)(getattr(options, name))
        return found
    return [
        replace(talk, questions=[replace(asked, column="coding") for asked in talk.questions])
        for talk in datasets.own(OWN / "coding")
    ]


def _clock(now: str) -> datetime | None:
    moment = datetime.fromisoformat(now) if now else None
    return moment.replace(tzinfo=moment.tzinfo or UTC) if moment else None


def _measured(directory: Path, talks: Sequence[Conversation]) -> list[Raw]:
    os.environ["IAI_MCP_STORE"] = str(directory)
    from iai_mcp.memory.question import Question as Recalled
    from iai_mcp.memory.scoping import Caller, Filter
    from iai_mcp.store import MemoryStore

    store = MemoryStore()
    while store.memories.renew(500):
        continue
    store.embedder.wait(60)
    leg = store.meaning()
    assert not isinstance(leg, str), leg
    found = []
    for place, talk in enumerate(talks):
        for asked in talk.questions:
            if asked.column not in COLUMNS:
                continue
            about = Filter(project=asked.project)
            question = Recalled(cue=asked.cue, about=about, now=_clock(asked.now))
            scope = store.access.scope(about, Caller())
            sought, cue = store.recall.sought(question, scope, leg)
            pool = store.recall.finder.find(sought).talk
            memories = {m.key: m for m in store.memories.get(pool.keys[pool.eligible].tolist())}
            names = [
                memories[key].provenance.session_id
                if asked.by_session
                else str(memories[key].meta["id"])
                for key in pool.keys[pool.eligible].tolist()
            ]
            fold = zlib.crc32(asked.id.encode()) if len(talks) == 1 else place
            found.append((asked, fold % FOLDS, pool, cue, names))
    store.close()
    return found


class Learner:
    """Weights for measures divided by their spread."""

    def __init__(
        self, examples: Sequence[Example], ridge: float, names: Sequence[str] = FEATURES
    ) -> None:
        self.examples = examples
        self._names = names
        self._ridge = ridge
        self.spread = np.concatenate([one.table for one in examples]).std(axis=0) + 1e-6
        self._tables = [(one.table / self.spread).astype(np.float32) for one in examples]
        counts = {c: sum(one.asked.column == c for one in examples) for c in COLUMNS}
        self._worth = np.array(
            [COLUMNS[one.asked.column] / counts[one.asked.column] for one in examples]
        )

    def cross_validated(self) -> list[Outcome]:
        found: list[Outcome] = []
        for fold in range(FOLDS):
            inside = [i for i, one in enumerate(self.examples) if one.fold != fold]
            outside = [i for i, one in enumerate(self.examples) if one.fold == fold]
            found += self.outcomes(self.fitted(inside), outside)
        return found

    def outcomes(self, weights: Floats, chosen: Sequence[int]) -> list[Outcome]:
        found = []
        for i in chosen:
            one = self.examples[i]
            scores = self._tables[i] @ weights + one.fixed
            order = [one.names[place] for place in np.argsort(-scores, kind="stable")]
            found.append(
                Outcome(
                    one.asked.id,
                    one.asked.category,
                    one.asked.column,
                    ranks(order, one.asked.evidence),
                )
            )
        return found

    def fitted(self, chosen: Sequence[int]) -> Floats:
        """Three rounds: after each, a session is stood for by the turn of it that scores best."""
        first = ("words", "passage", "named", "date", "near")
        weights = np.array([float(name in first) for name in self._names])
        for _ in range(4):
            weights = _descend(self._loss(weights, chosen), weights)
        return weights

    def _loss(
        self, weights: Floats, chosen: Sequence[int]
    ) -> Callable[[Floats], tuple[float, Floats]]:
        shape = (len(chosen), _POOL)
        tables = np.zeros((*shape, len(self._names)), np.float32)
        fixed, gold, rest = np.zeros(shape), np.zeros(shape, bool), np.zeros(shape, bool)
        for row, i in enumerate(chosen):
            places = self._representatives(i, weights)
            is_gold = self.examples[i].gold[places]
            tables[row, : len(places)] = self._tables[i][places]
            fixed[row, : len(places)] = self.examples[i].fixed[places]
            gold[row, : len(places)], rest[row, : len(places)] = is_gold, ~is_gold
        worth = self._worth[list(chosen)][:, None] * gold / np.maximum(gold.sum(1), 1)[:, None]
        flat = tables.reshape(-1, len(self._names))

        def loss(now: Floats) -> tuple[float, Floats]:
            scores = (flat @ now.astype(np.float32)).reshape(shape) + fixed
            others = np.where(rest, scores, -1e9)
            order = np.argsort(-others, axis=1)
            total, slope = 0.0, np.zeros(shape)
            for cut in _CUTS:
                at = order[:, cut : cut + 1]
                margin = scores - np.take_along_axis(others, at, 1)
                total += float((worth * np.logaddexp(0, -margin)).sum()) / len(_CUTS)
                push = worth / (1 + np.exp(np.clip(margin, -30, 30))) / len(_CUTS)
                slope -= push
                back = np.take_along_axis(slope, at, 1) + push.sum(1, keepdims=True)
                np.put_along_axis(slope, at, back, 1)
            gradient = flat.T @ slope.reshape(-1).astype(np.float32)
            penalty = self._ridge * float(now @ now) / 2
            return total + penalty, gradient.astype(np.float64) + self._ridge * now

        return loss

    def _representatives(self, i: int, weights: Floats) -> NDArray[np.int64]:
        """Evidence and the strongest of the rest; for sessions the best turn of each."""
        one = self.examples[i]
        scores = self._tables[i] @ weights + one.fixed
        order = np.argsort(-scores, kind="stable")
        if one.asked.by_session:
            _, first = np.unique(np.array(one.names)[order], return_index=True)
            order = order[np.sort(first)]
        lifted = order[np.argsort(~one.gold[order], kind="stable")]
        return lifted[:_POOL]


def _descend(
    loss: Callable[[Floats], tuple[float, Floats]], start: Floats, steps: int = 120
) -> Floats:
    """Adam with a falling step: the loss has kinks where the tenth best changes."""
    weights, mean, square = start.copy(), np.zeros_like(start), np.zeros_like(start)
    for step in range(1, steps + 1):
        _, slope = loss(weights)
        mean = 0.9 * mean + 0.1 * slope
        square = 0.99 * square + 0.01 * slope**2
        pace = 0.08 * (1 - step / (steps + 1))
        unbiased = mean / (1 - 0.9**step), square / (1 - 0.99**step)
        weights -= pace * unbiased[0] / (np.sqrt(unbiased[1]) + 1e-8)
    return weights


def _tell(title: str, outcomes: Sequence[Outcome]) -> None:
    print(title)
    for column in COLUMNS:
        own = [one for one in outcomes if one.column == column]
        if own:
            shown = [
                f"{m}@{k} {share(own, m, k).value:.3f}"
                for m, k in (("any", 5), ("any", 10), ("all", 5), ("all", 10), ("all", 20))
            ]
            print(f"  {column:<32}", "  ".join(shown))
