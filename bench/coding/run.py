"""`python -m bench coding --data DIR [--wordings FILE]`: what a model reads when it asks about real sessions."""

import argparse
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.coding.judging import first_result, flat, has_no_match, holds, ids, mean, near
from bench.coding.rivals import Rivals
from bench.coding.transcripts import of_developer
from bench.mcp_client import McpClient
from bench.report import Row, show
from bench.scratch import Caller, Scratch, needed_model

METHOD = (
    "Each developer's transcripts go through `capture-transcript` into a real daemon. Questions are asked over MCP,\n"
    "through the stdio bridge, at the default budget: alone, and with their wordings. Shown: the gold quotes stand in\n"
    "the answer. Listed: there, or in what memory_show opens for an id of the answer. First: in its first result.\n"
    "BM25, cosine of the best passage and rank fusion of both: the same turns, within 6,000 bytes."
)
_WANTED = (
    "wanted is a directory with transcripts/*.jsonl (sessions of Claude Code) and questions.json, for example\n"
    '  {"questions": [{"id": "q1", "developer": "ann", "kind": "fact", "cue": "which port does staging use?",\n'
    '    "cwd": "/home/ann/shop", "asked_at": "2026-03-01T09:00:00Z", "gold": [{"quote": "port 8443"}]}],\n'
    '   "nothing": [], "prompts": [], "work": []}\n'
    "developer is who worked in /home/ann, gold what a transcript says word for word. FILE holds other ways to\n"
    'say each question, by its id: {"q1": ["staging listens on port", "staging server port number"]}. Then:\n'
    "  python -m bench coding --data DIR --wordings FILE"
)
ALONE, WORDED = "question alone", "with wordings"
_PARTS = ("questions", "nothing", "prompts", "work")
_BYTES = 6_000
_OPENED_AT_ONCE = 5
# what -> goal with the question alone and with wordings; None: only to see
_GOALS: Mapping[str, tuple[float | None, float | None]] = {
    "shown": (0.60, 0.87),
    "listed": (0.80, 0.97),
    "first": (None, None),
}
_LONGEST, _DENIED, _WORK = 6_600, 0.05, 0.50

Asked = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the answer to one question held."""

    kind: str
    shown: bool
    listed: bool
    first: bool
    denied: bool  # it says that nothing is close
    size: int  # bytes
    ids: int


@dataclass(slots=True)
class Tally:
    """What was answered, over all developers."""

    asked: dict[str, list[Outcome]] = field(default_factory=lambda: {ALONE: [], WORDED: []})
    silent: dict[str, list[bool]] = field(default_factory=lambda: {ALONE: [], WORDED: []})
    helped: list[bool] = field(default_factory=list)  # prompts that earlier work helps
    useless: list[bool] = field(default_factory=list)  # lines came with a prompt that nothing helps
    work: list[bool] = field(default_factory=list)
    rivals: dict[str, dict[str, list[bool]]] = field(default_factory=dict)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench coding")
    parser.add_argument("--data", type=Path, help="questions.json and transcripts/")
    parser.add_argument("--wordings", type=Path, help="JSON: other wordings by the question's id")
    options = parser.parse_args(arguments)
    if options.data is None:
        parser.error(f"it is not said where the data is; {_WANTED}")
    files = sorted((options.data / "transcripts").glob("*.jsonl"))
    if not files or not (options.data / "questions.json").is_file():
        parser.error(f"{options.data} holds no such data; {_WANTED}")
    needed_model()
    asked = json.loads((options.data / "questions.json").read_text())
    wordings = json.loads(options.wordings.read_text()) if options.wordings else {}
    tally = Tally()
    for developer in sorted({one["developer"] for one in asked["questions"]}):
        _measure(_of(asked, developer), wordings, files, developer, tally)
    return show("coding", METHOD, rows(tally))


def _of(asked: Asked, developer: str) -> dict[str, list[Asked]]:
    return {
        part: [one for one in asked.get(part, ()) if one.get("developer", developer) == developer]
        for part in _PARTS
    }


def _measure(
    asked: Mapping[str, Sequence[Asked]],
    wordings: Mapping[str, list[str]],
    files: list[Path],
    developer: str,
    tally: Tally,
) -> None:
    home = Scratch()
    try:
        home.start()
        home.wait_warm()
        own = of_developer(files, developer)
        print(f"{developer}: {len(own)} sessions", flush=True)
        for transcript in own:
            transcript.capture(home)
        home.wait_embedded()
        with tempfile.TemporaryDirectory() as nowhere:
            client = McpClient(home, nowhere)
            _ask(client, asked, wordings, tally)
            client.close()
        with home.dial() as caller:
            for number, one in enumerate(asked["prompts"]):
                _prompted(caller, one, number, tally)
        home.stop()
        _ask_rivals(home, asked["questions"], wordings, tally)
    finally:
        home.remove()


def _ask(
    client: McpClient,
    asked: Mapping[str, Sequence[Asked]],
    wordings: Mapping[str, list[str]],
    tally: Tally,
) -> None:
    for one in asked["questions"]:
        for way, given in _ways(one, wordings):
            tally.asked[way].append(_answered(client, one, given))
    for one in asked["nothing"]:
        for way, given in _ways(one, wordings):
            tally.silent[way].append(has_no_match(_recalled(client, one, given)))
    for one in asked["work"]:
        gold = flat(one.get("gold_command") or one.get("gold_path") or "")
        given = wordings.get(one.get("id", ""), [])
        tally.work.append(gold in flat(_recalled(client, one, given)))


def _ways(one: Asked, wordings: Mapping[str, list[str]]) -> list[tuple[str, list[str]]]:
    given = wordings.get(one.get("id", ""), [])
    return [(ALONE, []), *([(WORDED, given)] if given else [])]


def _recalled(client: McpClient, one: Asked, wordings: list[str]) -> str:
    given = {"wordings": wordings} if wordings else {}
    return client.tool("memory_recall", cue=one["cue"], **given)


def _answered(client: McpClient, one: Asked, wordings: list[str]) -> Outcome:
    text = _recalled(client, one, wordings)
    listed, shown = ids(text), holds(one, text)
    return Outcome(
        kind=one["kind"],
        shown=shown,
        listed=shown or _opens(client, one, text, listed),
        first=holds(one, first_result(text)),
        denied=has_no_match(text),
        size=len(text.encode()),
        ids=len(listed),
    )


def _opens(client: McpClient, one: Asked, text: str, listed: Sequence[str]) -> bool:
    """Whether the gold quotes stand in what the ids of the answer open."""
    for start in range(0, len(listed), _OPENED_AT_ONCE):
        opened = client.tool("memory_show", ids=listed[start : start + _OPENED_AT_ONCE])
        text = f"{text}\n{opened}"
        if holds(one, text):
            return True
    return False


def _prompted(caller: Caller, one: Asked, number: int, tally: Tally) -> None:
    given = {"prompt": one["prompt"], "cwd": one["cwd"], "session_id": f"prompt {number}"}
    text = flat(str(caller.call("prompt_injection", **given).get("text", "")))
    if one["helpful"]:
        tally.helped.append(any(near(gold, text) for gold in one["helpful"]))
    else:
        tally.useless.append(bool(text))


def _ask_rivals(
    home: Scratch, questions: Sequence[Asked], wordings: Mapping[str, list[str]], tally: Tally
) -> None:
    os.environ.update({k: v for k, v in home.environment.items() if k.startswith("IAI_")})
    from iai_mcp.adapters.embedding.runtime import load_configured

    rivals = Rivals(home, load_configured())
    for one in questions:
        for way, given in _ways(one, wordings):
            for system, texts in rivals.answers([one["cue"], *given], _BYTES).items():
                kept = tally.rivals.setdefault(system, {ALONE: [], WORDED: []})
                kept[way].append(holds(one, "\n".join(texts)))
    rivals.close()


def rows(tally: Tally) -> list[Row]:
    """The table: each way of asking, then its kinds, then what is no question about what was said."""
    table: list[Row] = []
    for way, outcomes in tally.asked.items():
        if outcomes:
            table += _asked_rows(way, outcomes, tally)
    if tally.work:
        work = mean(tally.work)
        table.append(
            Row(f"work shown ({len(tally.work)})", f"{work:.3f}", f">= {_WORK:.2f}", work >= _WORK)
        )
    if tally.helped:
        table.append(Row("prompts: helped", f"{mean(tally.helped):.3f}", "", None))
    if tally.useless:
        table.append(Row("prompts: spoke without helping", f"{mean(tally.useless):.3f}", "", None))
    return table


def _asked_rows(way: str, outcomes: Sequence[Outcome], tally: Tally) -> list[Row]:
    table: list[Row] = []
    for what, goals in _GOALS.items():
        reached, goal = mean(getattr(one, what) for one in outcomes), goals[way == WORDED]
        wanted = f">= {goal:.2f}" if goal else ""
        if what == "shown":
            beside = (f"{name} {mean(kept[way]):.3f}" for name, kept in tally.rivals.items())
            wanted = "; ".join([wanted, *beside])
        met = reached >= goal if goal else None
        table.append(Row(f"{way}: {what} ({len(outcomes)})", f"{reached:.3f}", wanted, met))
    size = mean(one.size for one in outcomes)
    denied = mean(one.denied for one in outcomes)
    table += [
        Row(f"{way}: bytes", f"{size:.0f}", f"<= {_LONGEST}", size <= _LONGEST),
        Row(f"{way}: ids listed", f"{mean(one.ids for one in outcomes):.1f}", "", None),
        Row(f"{way}: says no match, wrongly", f"{denied:.3f}", f"<= {_DENIED}", denied <= _DENIED),
    ]
    if tally.silent[way]:
        silent = mean(tally.silent[way])
        table.append(Row(f"{way}: says no match, rightly", f"{silent:.3f}", "", None))
    for kind in sorted({one.kind for one in outcomes}):
        own = [one for one in outcomes if one.kind == kind]
        told = f"{mean(one.shown for one in own):.2f} / {mean(one.listed for one in own):.2f}"
        table.append(Row(f"  {kind} ({len(own)}), shown / listed", told, "", None))
    return table
