"""`python -m bench learning`: what reinforcing used memories gains, and what it costs the others."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from bench.quality import datasets
from bench.quality.datasets import Conversation, Question
from bench.quality.filling import fill
from bench.quality.metrics import Outcome, share
from bench.quality.run import OWN, asked_of, outcome_of
from bench.report import Row, show
from bench.scratch import Caller, Scratch

METHOD = (
    "Every second question with several pieces of evidence has them reinforced five times, as an agent that used\n"
    "them would; then all questions are asked again. Links are kept for as long as the daemon's store lives."
)
_TIMES = 5


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench learning")
    parser.add_argument("--locomo", type=Path, help="a set to learn on, beside the coding set")
    options = parser.parse_args(arguments)
    talks = datasets.own(OWN / "coding")
    if options.locomo:
        talks += datasets.locomo(options.locomo)
    home = Scratch()
    try:
        home.start()
        home.wait_warm()
        with home.dial() as caller:
            fill(caller, talks)
            questions = [
                q for talk in talks for q in talk.questions if "adversarial" not in q.column
            ]
            taught = [q for q in questions if len(q.evidence) > 1][::2]
            before = _all(caller, questions)
            _teach(caller, talks, taught)
            after = _all(caller, questions)
    finally:
        home.remove()
    return show("learning", METHOD, _rows(before, after, {q.id for q in taught}))


def _all(caller: Caller, questions: Sequence[Question]) -> list[Outcome]:
    return [outcome_of(q, *asked_of(caller, q)) for q in questions]


def _teach(caller: Caller, talks: Sequence[Conversation], taught: Sequence[Question]) -> None:
    ids: dict[tuple[str, str], str] = {}
    for talk in talks:
        found = caller.call("memory_timeline", project=talk.project, limit=100_000)["records"]
        assert isinstance(found, list)
        ids |= {(talk.project, record["meta"]["id"]): record["id"] for record in found}
    for asked in taught:
        used = [ids[(asked.project, name)] for name in sorted(asked.evidence)]
        for _ in range(_TIMES):
            caller.call("memory_reinforce", ids=used)


def _rows(before: list[Outcome], after: list[Outcome], taught: set[str]) -> list[Row]:
    def pair(
        chosen: set[str] | None, column: str, measure: str, k: int
    ) -> tuple[float, float, int]:
        def kept(found: list[Outcome]) -> list[Outcome]:
            return [
                one
                for one in found
                if (one.question in taught if chosen else one.question not in taught)
                and one.column.startswith(column)
            ]

        first, then = share(kept(before), measure, k), share(kept(after), measure, k)
        return first.value, then.value, first.count

    rows: list[Row] = []
    for label, chosen, column, measure, k, gain in (
        ("questions that taught", taught, "", "all", 5, True),
        ("questions that taught", taught, "", "all", 10, True),
        ("all other questions", None, "", "any", 5, False),
        ("all other questions", None, "", "all", 10, False),
        ("other exact cues", None, "coding: exact", "any", 1, False),
    ):
        was, now, count = pair(chosen, column, measure, k)
        goal = "more" if gain else "no less than half a point below"
        met = now > was if gain else now >= was - 0.005
        rows.append(Row(f"{label} ({count}) {measure}@{k}", f"{was:.3f} -> {now:.3f}", goal, met))
    return rows
