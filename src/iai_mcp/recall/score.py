"""Stage 3: one score for every candidate, from a dozen measures.

The weights stand in `weights.json`, which `python -m bench fit` writes: one set for every kind of
conversation. Exact parts of the cue decide before everything else.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

import numpy as np

from iai_mcp.domain.cue.windows import closeness
from iai_mcp.recall.candidates import NONE, Candidates, Floats
from iai_mcp.recall.query import Query

MEASURES = (
    "words",  # share of BM25 that the exchange reaches
    "coverage",  # share of the words that it holds, by their rarity
    "meaning",  # cosine of its best turn and of its best passage
    "near",  # what the exchange before or after it reaches
    "session",  # what the best other exchange of its session reaches
    "time",  # nearness to the time that the cue names
    "named",  # the speaker whom the cue names spoke in it
    "named_asks",  # … and asked
    "person",  # a person spoke in it, where assistants speak too
    "length",
    "wish",  # a standing wish about the cue
)
# An exact part outranks any sum of the measures.
_EXACT = 100.0
_PROJECT, _RECENT = 1.8, 4.0  # at full preference; recency counts nothing unless a knob says so
_USE = 0.8  # what was reinforced together moves a result by no more
_RECENT_HALF_LIFE = 30 * 86_400.0  # seconds
# An exchange's own strength, as its neighbours and its session count it.
_STRENGTH_WORDS, _STRENGTH_MEANING, _STRENGTH_FLOOR = 4.0, 1.2, 0.5
_FROM_BEFORE, _FROM_AFTER = 0.5, 0.3
_TYPICAL_LENGTH = 4.0
_UNREAD = 0.4  # what an English model's cosines are worth for a cue in another script


@dataclass(frozen=True, slots=True)
class Scale:
    """Cosines of unrelated texts in one model's space: mean and spread."""

    mean: float
    spread: float
    english: bool


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where and when the question is asked. A project number of NONE prefers none."""

    now: float  # seconds since 1970
    project: int = NONE
    project_preference: float = 1.0
    recency_weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Ranked:
    """Candidates in order, best first; `places` point into them, `parts` sum up to `scores`."""

    places: np.ndarray[tuple[int], np.dtype[np.int64]]
    scores: Floats
    parts: Mapping[str, Floats]


@cache
def _settings() -> tuple[Mapping[str, float], Mapping[str, Scale]]:
    data = json.loads(files("iai_mcp.recall").joinpath("weights.json").read_text("utf-8"))
    return data["weights"], {name: Scale(**scale) for name, scale in data["scales"].items()}


def scale_of(model_id: str) -> Scale:
    """The scale of a model's cosines; a common one for a model that nothing is known of."""
    scales = _settings()[1]
    return scales.get(model_id.partition(".")[0], scales["default"])


def threshold(model_id: str, usual: float) -> float:
    """Where a threshold that was set for the default model's cosines lies among another's."""
    own, default = scale_of(model_id), _settings()[1]["all-minilm-l6-v2"]
    if own is _settings()[1]["default"]:
        return usual
    return own.mean + (usual - default.mean) / default.spread * own.spread


def rank(found: Candidates, query: Query, model_id: str, around: Surroundings) -> Ranked:
    """Order the candidates; equal scores by arrival, newest first."""
    weights = _settings()[0]
    columns = measures(found, query, scale_of(model_id))
    parts = {name: np.float32(weights.get(name, 0.0)) * columns[name] for name in MEASURES}
    parts["exact"] = np.float32(_EXACT) * found.exact
    own = (found.project == around.project) & (around.project != NONE)
    parts["project"] = np.float32(_PROJECT * around.project_preference) * own
    age = np.maximum(0.0, around.now - found.at)
    recent = _RECENT * around.recency_weight * 0.5 ** (age / _RECENT_HALF_LIFE)
    parts["recency"] = recent.astype(np.float32)
    total: Floats = np.stack(list(parts.values())).sum(axis=0, dtype=np.float32)
    places = np.lexsort((-found.heads, -total)).astype(np.int64)
    return Ranked(places, total, parts)


def with_use(ranked: Ranked, found: Candidates, gained: Mapping[int, float]) -> Ranked:
    """The same with what memories gained from answering together with the best ones: it breaks near ties."""
    best, heads = found.best.tolist(), found.heads.tolist()
    use = np.array(
        [max(gained.get(a, 0.0), gained.get(b, 0.0)) for a, b in zip(best, heads, strict=True)],
        np.float32,
    )
    total = ranked.scores + np.float32(_USE) * use
    places = np.lexsort((-found.heads, -total)).astype(np.int64)
    return Ranked(places, total, {**ranked.parts, "use": np.float32(_USE) * use})


def measures(found: Candidates, query: Query, scale: Scale) -> dict[str, Floats]:
    """The measures by name, one value per candidate. Nothing is NaN."""
    found = _with_matches(found)
    turn = _scaled(found.turn, scale, found.coverage)
    passage = np.where(np.isnan(found.passage), turn, _z(found.passage, scale))
    if scale.english and query.other_script:
        turn, passage = turn * np.float32(_UNREAD), passage * np.float32(_UNREAD)
    meaning = (turn + np.maximum(turn, passage)) / 2
    strength = np.maximum(
        _STRENGTH_WORDS * found.words + _STRENGTH_MEANING * meaning - _STRENGTH_FLOOR, 0
    )
    nothing = np.zeros(len(found), np.float32)
    person = found.spoken.astype(np.float32) if found.assistants else nothing
    topic = np.nan_to_num(np.maximum(_z(found.topic, scale), 0))
    columns = {
        "words": found.words.mean(axis=0),
        "coverage": found.coverage.mean(axis=0),
        "meaning": meaning.mean(axis=0),
        "near": _near(strength, found).mean(axis=0),
        "session": _session(strength, found).mean(axis=0),
        "time": closeness(query.windows, found.at) if query.windows else nothing,
        "named": found.named,
        "named_asks": found.named & found.asks,
        "person": person,
        "length": np.log(10 + found.length) - _TYPICAL_LENGTH,
        "wish": topic,
    }
    return {name: np.asarray(column, np.float32) for name, column in columns.items()}


def _with_matches(found: Candidates) -> Candidates:
    """Without the wordings that nothing matches: they must not make the others count less."""
    matched = [
        row
        for row in range(len(found.words))
        if row == 0 or found.words[row].any() or not np.isnan(found.turn[row]).all()
    ]
    if len(matched) == len(found.words):
        return found
    return replace(
        found,
        words=found.words[matched],
        coverage=found.coverage[matched],
        turn=found.turn[matched],
        passage=found.passage[matched],
    )


def _z(cosines: Floats, scale: Scale) -> Floats:
    return ((cosines - scale.mean) / scale.spread).astype(np.float32)


def _scaled(cosines: Floats, scale: Scale, coverage: Floats) -> Floats:
    """What has no vector yet is as near as the nearest, as far as it holds the words: what was captured a
    moment ago must be found by them."""
    scaled = _z(cosines, scale)
    known = ~np.isnan(scaled)
    nearest = np.where(known, scaled, 0).max(axis=1, initial=0)
    return np.where(known, scaled, nearest[:, None] * np.minimum(coverage, 1)).astype(np.float32)


def _near(strength: Floats, found: Candidates) -> Floats:
    before = np.where(found.before == NONE, 0, strength[:, found.before])
    after = np.where(found.after == NONE, 0, strength[:, found.after])
    return np.maximum(_FROM_BEFORE * before, _FROM_AFTER * after).astype(np.float32)


def _session(strength: Floats, found: Candidates) -> Floats:
    """The strength of the best other candidate of the same session; 0 for one that is alone."""
    others = np.zeros_like(strength)
    for own, row in zip(strength, others, strict=True):
        order = np.lexsort((-own, found.session))
        sessions = found.session[order]
        first = np.flatnonzero(np.append(True, sessions[1:] != sessions[:-1])[: len(order)])
        sizes = np.append(first[1:], len(order)) - first
        second = order[np.minimum(first + 1, max(0, len(order) - 1))]
        best = np.repeat(np.where(sizes > 1, own[order[first]], 0), sizes)
        best[first] = np.where(sizes > 1, own[second], 0)
        row[order] = best
    return others


# What words, coverage and meaning of the best candidate reach together where something is about the cue.
# Set on the sessions of one developer of the dev set, judged on those of the other: docs/retrieval.md.
_CLOSE = 1.8
_CLOSE_BY_WORDS = 0.9  # without a model


def is_close(ranked: Ranked, *, by_meaning: bool) -> bool:
    """Whether anything stored is about the cue, as far as one measure can tell."""
    if not len(ranked.places):
        return False
    if ranked.parts["exact"].any():
        return True
    about = ranked.parts["words"] + ranked.parts["coverage"] + ranked.parts["meaning"]
    return bool(about.max() >= (_CLOSE if by_meaning else _CLOSE_BY_WORDS))
