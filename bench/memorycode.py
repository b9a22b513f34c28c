"""`python -m bench memorycode DIR [NUMBER …]`: DIR holds MemoryCode's `dialogue_N.json`.

A mentor states coding rules over many sessions and changes some. After the last session each rule that
holds is asked for with its own coding task: which are told, and is the version told the one that holds?
"""

import argparse
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.quality.datasets import Conversation, Said
from bench.quality.filling import fill
from bench.report import Row, show
from bench.scratch import Caller, Scratch
from iai_mcp.domain.passages import passages

METHOD = (
    "Every dialogue is a project, its mentor the user, a session a day, captured into a real daemon. A rule counts as\n"
    "told when a turn that states its newest version is among the sources (or the first 20 hits); as outdated when\n"
    "one that states an older version is. A turn often states several rules, of which one was changed later: so\n"
    "`in words` counts only the sentence itself."
)
_BEGINS = datetime(2025, 1, 6, 9, tzinfo=UTC)
_KEYS = (
    "comment|annotation|type hint|assert|docstring|\\btry\\b|digit|CamelCase|UPPERCASE|snake_case"
)
_THING = re.compile(r"argument|attribute|class|method|function|variable|comment|import")
_TASK = "Write a {task}."
_TASK_WITH_RULES = (
    "Write a {task}. Do not provide example usage. You must follow all the latest coding guidelines "
    "provided by your mentor, including any possible updates."
)
_QUESTION = "Which rule do we follow for {what}?"
_HITS = 20


@dataclass(frozen=True, slots=True)
class Version:
    """One wording of a rule: what to look for, and the ids of the turns that state it."""

    key: str
    turns: frozenset[str]


@dataclass(slots=True)
class Pivot:
    """A rule with its versions in the order stated; the last one holds."""

    kind: str
    task: str
    versions: list[Version] = field(default_factory=list)

    @property
    def holding(self) -> frozenset[str]:
        return self.versions[-1].turns

    @property
    def outdated(self) -> frozenset[str]:
        return frozenset().union(*(one.turns for one in self.versions[:-1])) - self.holding

    @property
    def changed(self) -> bool:
        return len(self.versions) > 1

    @property
    def what(self) -> str:
        """What the rule is for, as somebody would ask."""
        first, _, rest = self.kind.partition(" ")
        plain = {"comment": "comments in code", "import": "imported modules"}
        if self.kind in plain:
            return plain[self.kind]
        return f"{rest}s in {first}s" if rest and rest != "argument" else f"{self.kind} names"


@dataclass(frozen=True, slots=True)
class Story:
    talk: Conversation
    pivots: Sequence[Pivot]


@dataclass(slots=True)
class Tally:
    """Of each rule: told, outdated version told, outdated version told in words, and whether it changed."""

    rows: list[tuple[bool, bool, bool, bool]] = field(default_factory=list)

    def given(self) -> float:
        return _mean(row[0] for row in self.rows)

    def outdated(self, in_words: bool = False) -> float:
        return _mean(row[1 + in_words] for row in self.rows if row[3])


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench memorycode")
    parser.add_argument("data", type=Path, help="the directory of dialogue_N.json")
    parser.add_argument("numbers", type=int, nargs="*", help="only these dialogues")
    options = parser.parse_args(arguments)
    paths = [options.data / f"dialogue_{number}.json" for number in options.numbers]
    stories = [_read(path) for path in paths or sorted(options.data.glob("dialogue_*.json"))]
    if not stories:
        parser.error(f"there is no dialogue_N.json in {options.data}")
    home = Scratch()
    try:
        home.start()
        home.wait_warm()
        with home.dial() as caller:
            fill(caller, [story.talk for story in stories])
            return show("memorycode", METHOD, _measured(caller, stories))
    finally:
        home.stop()
        home.remove()


def _read(path: Path) -> Story:
    story = json.loads(path.read_text())
    project = path.stem
    turns: list[Said] = []
    pivots: dict[int, Pivot] = {}
    for day, session in enumerate(story["sessions"]):
        said = list(_turns(project, day, session["text"], story["context"]["mentor"]))
        turns += said
        kinds = zip(session["topic"], session["type"], strict=True)
        topics = [topic for topic, kind in kinds if kind.startswith("instruction")]
        named = story["instructions"][day] if topics else []
        asked = zip(session["session_regex"], session["session_eval_query"], strict=True)
        for topic, (regex, task), (pivot, _) in zip(topics, asked, named, strict=False):
            key, stating = _stating(topic, said)
            if stating:
                rule = pivots.setdefault(pivot, Pivot(regex[0], task))
                rule.versions.append(Version(key, stating))
    return Story(Conversation(project, turns), list(pivots.values()))


def _turns(project: str, day: int, text: str, mentor: str) -> Iterable[Said]:
    for number, line in enumerate(part for part in text.split("\n\n") if part.strip()):
        who, _, words = line.partition(":")
        at = _BEGINS + timedelta(days=day, minutes=number)
        role = "user" if who.strip() == mentor else "assistant"
        said = words.strip() or line
        yield Said(f"{day}.{number}", f"{project}-{day}", role, said, who.strip(), at.isoformat())


def _stating(topic: str, said: Sequence[Said]) -> tuple[str, frozenset[str]]:
    """What a topic is known by, and the turns that state it."""
    quoted = re.findall(r"'([^']+)'", topic)
    if quoted:
        key = rf"(?<!\w){re.escape(quoted[0])}(?!\w)"
    else:
        key = "|".join(one for one in _KEYS.split("|") if re.search(one, topic, re.IGNORECASE))
        key += "|type hint" if "annotation" in topic else ""
    thing = _THING.search(topic)
    naming = [turn for turn in said if re.search(key, turn.text, re.IGNORECASE)]
    about = [turn for turn in naming if thing and thing.group() in turn.text.lower()]
    return key, frozenset(turn.id for turn in about or naming)


def _measured(caller: Caller, stories: Sequence[Story]) -> list[Row]:
    told: dict[str, Tally] = defaultdict(Tally)
    ranked: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for story in stories:
        project, texts = story.talk.project, {turn.id: turn.text for turn in story.talk.turns}
        start = caller.call("session_start_payload", project=project, budget_tokens=1500)
        ids = _ids(caller, project)
        for number, rule in enumerate(story.pivots):
            told["session start"].rows.append(_judged(start, rule, ids, texts))
            for name, form in (("task", _TASK), ("task and rules", _TASK_WITH_RULES)):
                prompt, session = form.format(task=rule.task), f"{name} {number}"
                put = caller.call(
                    "prompt_injection", prompt=prompt, project=project, session_id=session
                )
                told[name].rows.append(_judged(put, rule, ids, texts))
                if rule.changed:
                    ranked[name].append(_ranks(caller, project, prompt, story, rule))
            if rule.changed:
                cue = _QUESTION.format(what=rule.what)
                ranked["question"].append(_ranks(caller, project, cue, story, rule))
    return [*_told_rows(told), *_ranked_rows(ranked)]


def _ids(caller: Caller, project: str) -> dict[str, str]:
    """The set's own id of each memory."""
    records = caller.call("memory_timeline", project=project, limit=100_000)["records"]
    assert isinstance(records, list)
    return {record["id"]: str((record.get("meta") or {}).get("id")) for record in records}


def _judged(
    answer: dict[str, object], rule: Pivot, ids: dict[str, str], texts: dict[str, str]
) -> tuple[bool, bool, bool, bool]:
    sources = answer["sources"]
    assert isinstance(sources, list)
    given = {ids.get(source["id"], "") for source in sources}
    shown = " ".join(str(answer["text"]).split())
    older = [
        " ".join(sentence.split())
        for version in rule.versions[:-1]
        for turn in version.turns - rule.holding
        for sentence in passages(texts[turn], 60)
        if re.search(version.key, sentence, re.IGNORECASE)
    ]
    in_words = any(sentence in shown for sentence in older)
    return bool(given & rule.holding), bool(given & rule.outdated), in_words, rule.changed


def _ranks(caller: Caller, project: str, cue: str, story: Story, rule: Pivot) -> tuple[int, int]:
    """The best places of what holds and of what is outdated; beyond the last where there is none."""
    now = story.talk.turns[-1].ts
    asked = {"cue": cue, "k": _HITS, "budget_tokens": 1_000_000, "project": project, "now": now}
    hits = caller.call("memory_recall", **asked)["hits"]
    assert isinstance(hits, list)
    order = [str((hit.get("meta") or {}).get("id")) for hit in hits]

    def best(turns: frozenset[str]) -> int:
        return min((place for place, one in enumerate(order) if one in turns), default=_HITS)

    return best(rule.holding), best(rule.outdated)


def _told_rows(told: dict[str, Tally]) -> list[Row]:
    goals = {"session start": 0.85, "task": 0.60, "task and rules": 0.60}
    rows = []
    for name, tally in told.items():
        given, stale, words = tally.given(), tally.outdated(), tally.outdated(in_words=True)
        met = given >= goals[name]
        rows.append(
            Row(f"{name}: told ({len(tally.rows)})", f"{given:.3f}", f">= {goals[name]:.2f}", met)
        )
        bound = (f"<= {0.03:.2f}", words <= 0.03) if name == "session start" else ("", None)
        rows.append(Row(f"{name}: outdated, in words", f"{words:.3f}", *bound))
        rows.append(Row(f"{name}: outdated, by turn", f"{stale:.3f}", "", None))
    return rows


def _ranked_rows(ranked: dict[str, list[tuple[int, int]]]) -> list[Row]:
    rows = []
    for name, places in ranked.items():
        latest = _mean(holds < stale for holds, stale in places)
        stale = _mean(stale < holds for holds, stale in places)
        what = f"recall by {name}"
        rows.append(
            Row(f"{what}: latest first ({len(places)})", f"{latest:.3f}", ">= 0.85", latest >= 0.85)
        )
        rows.append(Row(f"{what}: outdated first", f"{stale:.3f}", "<= 0.05", stale <= 0.05))
    return rows


def _mean(values: Iterable[float]) -> float:
    known = list(values)
    return sum(known) / len(known) if known else 0.0
