"""`python -m bench exact [--notes N]`: identifiers asked letter by letter, in a store of many notes."""

import argparse
import random
import time
from collections.abc import Sequence

from bench.report import Row, show
from bench.scratch import Caller, Scratch, needed_model

METHOD = (
    "Notes of one project, half of them worded as rules ('must', 'always', 'from now on'); each holds one\n"
    "identifier, path, pull request or error code that no other holds. 180 are asked for letter by letter: the note\n"
    "that holds it has to come first. Then the daemon starts anew: seconds from spawn to the answer of a recall,\n"
    "by words until the model is loaded, and with it."
)
_ASKED = 180
_FEWEST_FIRST = 178
_MOST_SECONDS = 2.0
_AT_ONCE = 200
_SEED = 11
_SUBJECTS = (
    "the login page",
    "the nightly export",
    "the payment worker",
    "the search index",
    "the mobile client",
    "the staging cluster",
)
_SENTENCES = (
    "{part} is about {subject}; it was slow on Monday.",
    "We must look at {part} before {subject} is released.",
    "Always read {part} before you change {subject}.",
    "From now on {subject} goes by {part}.",
    "Never restart {subject} without {part}.",
    "{subject} failed again, see {part}.",
    "Ann moved {part} to next week, {subject} can wait.",
    "Please don't touch {subject} until {part} is closed.",
)
_CUES = ("{part}", "what about {part}?", "why did we need {part}?")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench exact")
    parser.add_argument("--notes", type=int, default=10_000)
    options = parser.parse_args(arguments)
    if options.notes < _ASKED:
        parser.error(f"at least {_ASKED} notes are needed")
    needed_model()
    notes = [note(number) for number in range(options.notes)]
    chosen = random.Random(_SEED).sample(range(len(notes)), _ASKED)
    home = Scratch()
    try:
        home.start()
        home.wait_warm()
        with home.dial() as caller:
            _fill(caller, [text for _, text in notes])
            first = [_comes_first(caller, *notes[number], number) for number in chosen]
        home.stop()
        part = notes[chosen[0]][0]
        began = time.perf_counter()
        up = home.start()
        home.call("memory_recall", cue=part, project="exact")
        by_words = time.perf_counter() - began
        home.wait_warm()
        home.call("memory_recall", cue=part, project="exact")
        warm = time.perf_counter() - began
    finally:
        home.remove()
    return show("exact", METHOD, _rows(first, up, by_words, warm, len(notes)))


def note(number: int) -> tuple[str, str]:
    """The part that only this note holds, and its text."""
    part = _part(number)
    sentence = _SENTENCES[number * 7 % len(_SENTENCES)]
    return part, sentence.format(part=part, subject=_SUBJECTS[number % len(_SUBJECTS)])


def _part(number: int) -> str:
    kinds = (
        f"SHOP-{1000 + number}",
        f"src/cart/step_{number}.py",
        f"PR #{20_000 + number}",
        f"E{40_000 + number}",
        f"retryQueueOf{number}",
    )
    return kinds[number % len(kinds)]


def _fill(caller: Caller, texts: Sequence[str]) -> None:
    for start in range(0, len(texts), _AT_ONCE):
        events = [
            {"id": str(start + place), "text": text, "role": "user", "meta": {"n": start + place}}
            for place, text in enumerate(texts[start : start + _AT_ONCE])
        ]
        caller.call("capture_events", session_id=f"s{start}", project="exact", events=events)
    while caller.call("topology")["vectors_pending"]:
        time.sleep(0.2)


def _comes_first(caller: Caller, part: str, text: str, number: int) -> bool:
    cue = _CUES[number % len(_CUES)].format(part=part)
    hits = caller.call("memory_recall", cue=cue, project="exact", k=5)["hits"]
    assert isinstance(hits, list)
    return bool(hits) and hits[0]["text"] == text


def _rows(first: Sequence[bool], up: float, by_words: float, warm: float, notes: int) -> list[Row]:
    count = sum(first)
    return [
        Row(
            f"exact part first, of {len(first)} ({notes:,} notes)",
            str(count),
            f">= {_FEWEST_FIRST}",
            count >= _FEWEST_FIRST,
        ),
        Row("start to first status", f"{up:.2f} s", "", None),
        Row(
            "start to first recall",
            f"{by_words:.2f} s",
            f"<= {_MOST_SECONDS:.0f} s",
            by_words <= _MOST_SECONDS,
        ),
        Row("start to first recall by meaning", f"{warm:.2f} s", "", None),
    ]
