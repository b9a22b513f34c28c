"""`python -m bench quality --locomo FILE --longmemeval FILE --beam FILE [--quick]`."""

import argparse
import json
import os
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from bench.quality import datasets
from bench.quality.baselines import Baselines
from bench.quality.datasets import Conversation, Question
from bench.quality.filling import fill, stored_vectors
from bench.quality.metrics import Outcome, Share, ranks, share
from bench.quality.shared_words import sharing_none
from bench.report import Row, percentile, show
from bench.scratch import Caller, Scratch

OURS, PLAIN = "iai-mcp", "cosine"
METHOD = (
    "Each turn is stored by `capture_events`, each question asked by `memory_recall` (k = 100) of a real daemon;\n"
    "evidence is turns, for LongMemEval sessions in the order of their first hit. BM25 (FTS5, all words of the cue),\n"
    "cosine (raw cue, the vectors the daemon stored) and their reciprocal rank fusion in the same run. Intervals: 95 %,\n"
    "bootstrap over questions. Goals are those of the dev halves; floors within one point. No shared word: questions\n"
    "none of whose words stands in the evidence; there recall must find what the plain cosine finds."
)
_DEPTH = 100
_ENOUGH = 30  # questions without a shared word, for a row of their own
_OWN_SETS = ("coding", "reversals", "languages")
_SETS = ("locomo", "longmemeval", "beam", *_OWN_SETS)
OWN = Path(__file__).parents[1] / "data"
# column -> (measure, k, goal, floor)
GOALS: dict[str, tuple[tuple[str, int, float, float], ...]] = {
    "locomo": (("any", 10, 0.92, 0.88), ("all", 10, 0.82, 0.76)),
    "longmemeval": (("any", 5, 0.96, 0.935), ("all", 10, 0.90, 0.86)),
    "beam facts": (("any", 10, 0.96, 0.93), ("all", 10, 0.68, 0.59)),
    "beam preferences, instructions": (("any", 10, 0.75, 0.56), ("all", 10, 0.65, 0.47)),
    "coding: exact": (("any", 1, 0.95, 0.95),),
    "coding: plain": (("any", 5, 0.90, 0.85),),
    "coding: reversal": (("any", 5, 0.90, 0.80),),
    "reversals: reversal": (("any", 5, 0.90, 0.80),),  # held apart: nothing is fitted on them
    "coding: wish": (("any", 5, 0.75, 0.65),),
    "coding: time": (("any", 5, 0.75, 0.65),),
    **{
        f"languages: {language}": (("any", 1, 0.80, 0.65),)
        for language in ("en", "de", "fr", "es", "ru", "ar", "zh", "ja")
    },
    # The cue in one language, the memory in another: only a multilingual model can; no goal for others.
    "languages: across": (("any", 1, 0.0, 0.0), ("any", 5, 0.0, 0.0)),
}
_ALSO = (("any", 1), ("any", 5), ("any", 10), ("all", 5), ("all", 10), ("all", 20))


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench quality")
    for name in ("locomo", "longmemeval", "beam"):
        parser.add_argument(f"--{name}", type=Path, help="the set's JSON file")
    parser.add_argument("--quick", action="store_true", help="a sample, for every day")
    parser.add_argument("--no-own", action="store_true", help="leave out the project's own sets")
    parser.add_argument("--stores", type=Path, help="keep the filled stores here, and reuse them")
    options = parser.parse_args(arguments)
    outcomes: dict[str, list[Outcome]] = {}
    for name in _SETS:
        talks = chosen(name, options)
        if talks:
            for system, found in _measured(name, talks, options.stores).items():
                outcomes.setdefault(system, []).extend(found)
    if not outcomes:
        parser.error("name at least one set")
    _keep(outcomes)
    return show("quality-quick" if options.quick else "quality", METHOD, rows(outcomes))


def chosen(name: str, options: argparse.Namespace) -> list[Conversation]:
    if name in _OWN_SETS:
        return [] if options.no_own else datasets.own(OWN / name)
    path = getattr(options, name)
    if path is None:
        return []
    talks: list[Conversation] = getattr(datasets, name)(path)
    return _sample(talks) if options.quick else talks


def _sample(talks: list[Conversation]) -> list[Conversation]:
    """Two conversations at most; of one large store, every sixth question and what it needs."""
    if len(talks) > 1:
        return [replace(talk, questions=talk.questions[:60]) for talk in talks[:2]]
    (talk,) = talks
    questions = talk.questions[::6]
    needed = {session for asked in questions for session in asked.evidence}
    every = sorted({turn.session for turn in talk.turns})
    needed |= set(every[::6])
    return [
        replace(talk, turns=[t for t in talk.turns if t.session in needed], questions=questions)
    ]


def _measured(
    name: str, talks: Sequence[Conversation], stores: Path | None
) -> dict[str, list[Outcome]]:
    home = Scratch()
    if stores is not None:
        home.environment["IAI_MCP_STORE"] = str(stores / name)
    try:
        home.start()
        home.wait_warm()
        with home.dial() as caller:
            print(f"{name}: filling", flush=True)
            fill(caller, talks)
            print(f"{name}: asking", flush=True)
            questions = [q for talk in talks for q in talk.questions]
            found = {OURS: [outcome_of(q, *asked_of(caller, q)) for q in questions]}
        home.stop()
        found |= _baselines(home, talks)
    finally:
        home.remove()
    return _set_apart(found, frozenset[str]().union(*map(sharing_none, talks)))


def _set_apart(
    found: dict[str, list[Outcome]], wordless: frozenset[str]
) -> dict[str, list[Outcome]]:
    return {
        system: [replace(one, shares_words=one.question not in wordless) for one in ones]
        for system, ones in found.items()
    }


def asked_of(caller: Caller, asked: Question) -> tuple[list[str], float]:
    """The ids of what the daemon answered (turns, or sessions), best first; and the seconds."""
    params: dict[str, object] = {
        "cue": asked.cue,
        "project": asked.project,
        "k": _DEPTH,
        "budget_tokens": 1_000_000,
    }
    if asked.now:
        params["now"] = asked.now
    began = time.perf_counter()
    answer = caller.call("memory_recall", **params)
    seconds = time.perf_counter() - began
    if answer["degraded"]:
        raise RuntimeError(f"recall was degraded: {answer['degraded']}")
    hits = answer["hits"]
    assert isinstance(hits, list)
    return [_name(hit, by_session=asked.by_session) for hit in hits], seconds


def _name(hit: dict[str, Any], *, by_session: bool) -> str:
    """What evidence calls it; "" for what sleep derived, which is nobody's evidence."""
    return str((hit["session_id"] if by_session else hit["meta"].get("id")) or "")


def outcome_of(asked: Question, order: Sequence[str], seconds: float = 0.0) -> Outcome:
    found = ranks(order, asked.evidence)
    return Outcome(asked.id, asked.category, asked.column, found, seconds)


def _baselines(home: Scratch, talks: Sequence[Conversation]) -> dict[str, list[Outcome]]:
    os.environ.update({k: v for k, v in home.environment.items() if k.startswith("IAI_")})
    from iai_mcp.adapters.embedding.runtime import load_configured

    embedder = load_configured()
    found: dict[str, list[Outcome]] = {}
    for talk in talks:
        rivals = Baselines(talk.turns, stored_vectors(home, talk), embedder)
        for asked in talk.questions:
            for system, order in rivals.orders(asked).items():
                found.setdefault(system, []).append(outcome_of(asked, order))
    return found


def rows(outcomes: dict[str, list[Outcome]]) -> list[Row]:
    """A row for each column and measure, and for its questions without a shared word if they are many."""
    found: list[Row] = []
    for column in dict.fromkeys(one.column for one in outcomes[OURS]):
        own = {s: [one for one in ones if one.column == column] for s, ones in outcomes.items()}
        for measure, k, goal, floor in GOALS.get(column, (("any", 10, 0.0, 0.0),)):
            reached, others = _beside(own, measure, k)
            wanted = f">= {goal:.3f}, floor {floor:.3f}; {others}" if goal else others
            met = reached.value >= floor - 0.01 if goal else None
            title = f"{column} ({reached.count}) {measure}@{k}"
            found.append(Row(title, str(reached), wanted, met))
        wordless = {s: [one for one in ones if not one.shares_words] for s, ones in own.items()}
        if len(wordless[OURS]) >= _ENOUGH:
            reached, others = _beside(wordless, "any", 10)
            met = reached.value >= share(wordless[PLAIN], "any", 10).value
            title = f"{column}, no shared word ({reached.count}) any@10"
            found.append(Row(title, str(reached), f">= cosine; {others}", met))
    times = [one.seconds for one in outcomes[OURS]]
    spent = f"{percentile(times, 0.5) * 1e3:.1f} / {percentile(times, 0.95) * 1e3:.1f} ms"
    return [*found, Row("a question, p50 / p95", spent, "", None)]


def _beside(outcomes: dict[str, list[Outcome]], measure: str, k: int) -> tuple[Share, str]:
    """What recall reached, and what the others did."""
    others = [
        f"{system} {share(ones, measure, k).value:.3f}"
        for system, ones in outcomes.items()
        if system != OURS
    ]
    return share(outcomes[OURS], measure, k), ", ".join(others)


def _keep(outcomes: dict[str, list[Outcome]]) -> None:
    """Every figure by column and category, and every outcome, for comparing runs."""
    figures: dict[str, object] = {}
    for system, found in outcomes.items():
        groups: dict[str, list[Outcome]] = {}
        for one in found:
            groups.setdefault(one.column, []).append(one)
            groups.setdefault(f"{one.column} / {one.category}", []).append(one)
            if not one.shares_words:
                groups.setdefault(f"{one.column} / no shared word", []).append(one)
        figures[system] = {
            group: {f"{measure}@{k}": asdict(share(ones, measure, k)) for measure, k in _ALSO}
            for group, ones in sorted(groups.items())
        }
    directory = Path(__file__).parents[1] / "results"
    directory.mkdir(exist_ok=True)
    kept = {
        "figures": figures,
        "outcomes": {s: [asdict(o) for o in f] for s, f in outcomes.items()},
    }
    (directory / "quality-detail.json").write_text(json.dumps(kept) + "\n")
