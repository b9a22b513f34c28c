"""`python -m bench coding --data DIR [--before CHECKOUT]`: DIR holds `questions.json` and `transcripts/`."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.coding.judging import CUTS, Found, flat, found, is_narration, lines_told, mean, near
from bench.coding.rivals import Rivals
from bench.report import Row, show
from bench.scratch import Caller, Scratch, needed_model

METHOD = (
    "Each developer's transcripts go through `capture-transcript` into a real daemon, up to each briefing's time\n"
    "first, then all; questions are asked by `memory_recall` with the defaults, in the directory and at the time of\n"
    "whoever asks. Counted is whether the gold quotes stand in the first 1, 3, 5 hits, and anywhere in the answer.\n"
    "BM25, cosine of the best passage and rank fusion of both: the same turns, within 6,000 bytes of JSON."
)
_WANTED = (
    "wanted is a directory with transcripts/*.jsonl (sessions of Claude Code) and questions.json, for example\n"
    '  {"questions": [{"developer": "ann", "kind": "fact", "cue": "which port does staging use?",\n'
    '    "cwd": "/home/ann/shop", "asked_at": "2026-03-01T09:00:00Z", "gold": [{"quote": "port 8443"}]}],\n'
    '   "nothing": [], "briefings": [], "prompts": [], "work": []}\n'
    "developer is who worked in /home/ann, gold what a transcript says word for word. Then:\n"
    "  python -m bench coding --data DIR"
)
OURS, BEFORE = "iai-mcp", "before"
_BYTES = 6_000
_NARRATION_AMONG = 5
_GOALS = {"any@1": 0.50, "any@3": 0.0, "any@5": 0.75, "answer": 0.85}
_KIND_GOALS = {"aggregate": 0.40}
_KIND_GOAL = 0.60

Asked = Mapping[str, Any]


@dataclass(slots=True)
class Tally:
    """What one system brought, over all developers."""

    kinds: dict[str, list[Found]] = field(default_factory=dict)
    narration: list[float] = field(default_factory=list)
    sizes: list[float] = field(default_factory=list)
    near: list[object] = field(default_factory=list)  # `close` where there is an answer
    far: list[object] = field(default_factory=list)  # and where there is none
    briefed: list[float] = field(default_factory=list)
    briefed_narration: list[float] = field(default_factory=list)
    helped: list[tuple[bool, bool]] = field(default_factory=list)  # spoke, and helped
    useless: list[bool] = field(default_factory=list)
    work: list[bool] = field(default_factory=list)

    def add(self, kind: str, outcome: Found) -> None:
        self.kinds.setdefault(kind, []).append(outcome)

    def shares(self, kind: str = "") -> list[float]:
        """Of the kind, or of all: found within each of CUTS."""
        rows = [row for name, rows in self.kinds.items() for row in rows if kind in ("", name)]
        return [mean(row[cut] for row in rows) for cut in range(len(CUTS))]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench coding")
    parser.add_argument("--data", type=Path, help="questions.json and transcripts/")
    parser.add_argument("--before", type=Path, help="another checkout to compare with")
    options = parser.parse_args(arguments)
    if options.data is None:
        parser.error(f"it is not said where the data is; {_WANTED}")
    files = sorted((options.data / "transcripts").glob("*.jsonl"))
    if not files or not (options.data / "questions.json").is_file():
        parser.error(f"{options.data} holds no such data; {_WANTED}")
    needed_model()
    asked = json.loads((options.data / "questions.json").read_text())
    tallies: dict[str, Tally] = {OURS: Tally()}
    _measure(asked, files, tallies, None)
    if options.before is not None:
        before = {OURS: Tally()}
        _measure(asked, files, before, options.before)
        tallies = {OURS: tallies[OURS], BEFORE: before[OURS], **tallies}
    return show("coding", METHOD, [*_recalled(tallies), *_beside(tallies)])


def _measure(
    asked: Asked, files: Sequence[Path], tallies: dict[str, Tally], checkout: Path | None
) -> None:
    for developer in sorted({one["developer"] for one in asked["questions"]}):
        home = Scratch()
        if checkout is not None:
            home.environment["PYTHONPATH"] = str(checkout.resolve() / "src")
        # Made anew: a new home has captured nothing.
        own = [one for path in files if (one := Transcript(path)).developer == developer]
        try:
            home.start()
            home.wait_warm()
            print(f"{developer}: {len(own)} sessions", flush=True)
            _ask(home, _of(asked, developer), own, tallies[OURS])
            home.stop()
            if checkout is None:
                _ask_rivals(home, _of(asked, developer), tallies)
        finally:
            home.remove()


def _of(asked: Asked, developer: str) -> dict[str, list[Asked]]:
    return {
        part: [one for one in asked.get(part, ()) if one.get("developer", developer) == developer]
        for part in ("questions", "nothing", "briefings", "prompts", "work")
    }


class Transcript:
    """One session's file, which is captured as far as it had been written at some time."""

    def __init__(self, path: Path) -> None:
        self.session = path.stem
        self.developer = "?"
        self._lines: list[tuple[str, str]] = []  # as they are, with their times
        self._captured = 0
        for raw, event in _events(path):
            self._lines.append((raw, str(event.get("timestamp") or "")))
            cwd = str(event.get("cwd") or "")
            if self.developer == "?" and cwd.count("/") > len("//"):
                self.developer = cwd.split("/")[2]

    def capture(self, home: Scratch, before: str = "") -> None:
        known = [raw for raw, at in self._lines if not before or not at or at < before]
        if len(known) <= self._captured:
            return
        self._captured = len(known)
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / f"{self.session}.jsonl"
            path.write_text("".join(known))
            command = ["-m", "iai_mcp.cli", "capture-transcript", "--host", "claude-code"]
            given = ["--session-id", self.session, str(path)]
            subprocess.run(
                [sys.executable, *command, *given],
                env=home.environment,
                stdout=subprocess.DEVNULL,
                check=True,
            )


def _events(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    with path.open(errors="replace") as lines:
        for raw in lines:
            try:
                event = json.loads(raw)
            except ValueError:
                continue
            if isinstance(event, dict):
                yield raw, event


def _ask(
    home: Scratch, asked: Mapping[str, Sequence[Asked]], own: Sequence[Transcript], tally: Tally
) -> None:
    with home.dial() as caller:
        for one in sorted(asked["briefings"], key=lambda one: str(one["at"])):
            for transcript in own:
                transcript.capture(home, one["at"])
            told = caller.call("session_start_payload", cwd=one["cwd"], session_id="b" + one["id"])
            _briefed(one, str(told["text"]), tally)
        for transcript in own:
            transcript.capture(home)
        home.wait_embedded()
        for one in asked["questions"]:
            answer = _recall(caller, one)
            texts = [str(hit["text"]) for hit in answer["hits"]]
            tally.add(one["kind"], found(one, texts))
            tally.narration.append(
                sum(map(is_narration, texts[:_NARRATION_AMONG])) / _NARRATION_AMONG
            )
            tally.sizes.append(len(json.dumps(answer, ensure_ascii=False).encode()))
            tally.near.append(answer.get("close"))
        tally.far += [_recall(caller, one).get("close") for one in asked["nothing"]]
        for number, one in enumerate(asked["prompts"]):
            _prompted(caller, one, number, tally)
        tally.work += [_worked(caller, one) for one in asked["work"]]


def _recall(caller: Caller, one: Asked) -> dict[str, Any]:
    return caller.call("memory_recall", cue=one["cue"], cwd=one["cwd"], now=one["asked_at"])


def _briefed(one: Asked, told: str, tally: Tally) -> None:
    said, plain = lines_told(told), flat(told)
    tally.briefed.append(mean(near(gold, plain) for gold in one["should"]))
    tally.briefed_narration.append(mean(map(is_narration, said)) if said else 0.0)


def _prompted(caller: Caller, one: Asked, number: int, tally: Tally) -> None:
    given = {"prompt": one["prompt"], "cwd": one["cwd"], "session_id": f"prompt {number}"}
    text = flat(str(caller.call("prompt_injection", **given).get("text", "")))
    if one["helpful"]:
        tally.helped.append((bool(text), any(near(gold, text) for gold in one["helpful"])))
    else:
        tally.useless.append(bool(text))


def _worked(caller: Caller, one: Asked) -> bool:
    gold = flat(one.get("gold_command") or one.get("gold_path") or "")
    answer = caller.call(
        "memory_recall", cue=one["cue"], cwd=one.get("cwd", ""), k=5, budget_tokens=4000
    )
    hits = answer["hits"]
    assert isinstance(hits, list)
    return any(gold in flat(json.dumps(hit)) for hit in hits)


def _ask_rivals(
    home: Scratch, asked: Mapping[str, Sequence[Asked]], tallies: dict[str, Tally]
) -> None:
    os.environ.update({k: v for k, v in home.environment.items() if k.startswith("IAI_")})
    from iai_mcp.adapters.embedding.runtime import load_configured

    rivals = Rivals(home, load_configured())
    for one in asked["questions"]:
        for system, texts in rivals.answers(one["cue"], _BYTES).items():
            tallies.setdefault(system, Tally()).add(one["kind"], found(one, texts))
    rivals.close()


def _recalled(tallies: Mapping[str, Tally]) -> list[Row]:
    """Total by cut, then the kinds: each beside what the others reach."""
    ours = tallies[OURS]
    others = {system: tally for system, tally in tallies.items() if system != OURS}
    rows = []
    for cut, (name, goal) in enumerate(_GOALS.items()):
        reached = ours.shares()[cut]
        beside = ", ".join(f"{s} {t.shares()[cut]:.3f}" for s, t in others.items())
        wanted = f">= {goal:.2f}; {beside}" if goal else beside
        count = sum(map(len, ours.kinds.values()))
        rows.append(
            Row(f"{name} ({count})", f"{reached:.3f}", wanted, reached >= goal if goal else None)
        )
    for kind in sorted(ours.kinds):
        shares, goal = ours.shares(kind), _KIND_GOALS.get(kind, _KIND_GOAL)
        beside = ", ".join(f"{s} {t.shares(kind)[-1]:.2f}" for s, t in others.items())
        told = " ".join(f"{share:.2f}" for share in shares)
        rows.append(
            Row(
                f"{kind} ({len(ours.kinds[kind])})",
                told,
                f"answer >= {goal:.2f}; {beside}",
                shares[-1] >= goal,
            )
        )
    return rows


def _beside(tallies: Mapping[str, Tally]) -> list[Row]:
    """What is asked of us alone, and of the checkout before."""
    columns: list[tuple[str, str, float, bool]] = [
        ("narration among the first five", "narration", 0.02, False),
        ("nothing close: says so", "says_so", 0.80, True),
        ("nothing close: wrongly", "wrongly", 0.05, False),
        ("briefing: of what a colleague would tell", "briefed", 0.65, True),
        ("briefing: narration", "briefed_narration", 0.02, False),
        ("prompts: helped", "helped", 0.50, True),
        ("prompts: spoke where nothing helps", "spoke", 0.04, False),
        ("work found", "work", 0.60, True),
    ]
    rows = []
    for what, name, goal, at_least in columns:
        reached = _figures(tallies[OURS])[name]
        before = f"; {BEFORE} {_figures(tallies[BEFORE])[name]:.3f}" if BEFORE in tallies else ""
        sign, met = (">=", reached >= goal) if at_least else ("<=", reached <= goal)
        rows.append(Row(what, f"{reached:.3f}", f"{sign} {goal:.2f}{before}", met))
    sizes = tallies[OURS].sizes
    return [*rows, Row("bytes of an answer, mean", f"{mean(sizes):.0f}", f"<= {_BYTES}", None)]


def _figures(tally: Tally) -> dict[str, float]:
    return {
        "narration": mean(tally.narration),
        "says_so": mean(close is False for close in tally.far),
        "wrongly": mean(close is False for close in tally.near),
        "briefed": mean(tally.briefed),
        "briefed_narration": mean(tally.briefed_narration),
        "helped": mean(helped for _, helped in tally.helped),
        "spoke": mean(tally.useless),
        "work": mean(tally.work),
    }
