"""`python -m bench memorycode DIR [NUMBER …]`: DIR holds MemoryCode's `dialogue_N.json`.

A mentor states coding rules over many sessions and changes some. After the last session each rule is asked
for: does recall find its newest version?
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

METHOD = (
    "Every dialogue is a project, its mentor the user, a session a day, captured into a real daemon. After the last\n"
    "session each rule is asked for, by its coding task and by a question: is a turn that states its newest version\n"
    "among the first hits, and does it come before the turns that state only older ones? Nothing is inferred about\n"
    "which version holds; a reader sees it by the dates."
)
_BEGINS = datetime(2025, 1, 6, 9, tzinfo=UTC)
_KEYS = (
    "comment|annotation|type hint|assert|docstring|\\btry\\b|digit|CamelCase|UPPERCASE|snake_case"
)
_THING = re.compile(r"argument|attribute|class|method|function|variable|comment|import")
_FORMS = {
    "task": "Write a {task}.",
    "task and rules": (
        "Write a {task}. Do not provide example usage. You must follow all the latest coding guidelines "
        "provided by your mentor, including any possible updates."
    ),
    "question": "Which rule do we follow for {what}?",
}
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
    ranked: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for story in stories:
        project = story.talk.project
        for rule in story.pivots:
            for name, form in _FORMS.items():
                cue = form.format(task=rule.task, what=rule.what)
                ranked[name].append(_ranks(caller, project, cue, story, rule))
    changed = [rule.changed for story in stories for rule in story.pivots]
    return [row for name, places in ranked.items() for row in _rows(name, places, changed)]


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


def _rows(name: str, places: Sequence[tuple[int, int]], changed: Sequence[bool]) -> list[Row]:
    """Only to see: which version comes first is for the reader to notice, by its date."""
    latest = [place for place, is_changed in zip(places, changed, strict=True) if is_changed]
    shares = {
        f"newest version in the first 5 ({len(places)})": _mean(h < 5 for h, _ in places),
        f"newest version in the first {_HITS}": _mean(h < _HITS for h, _ in places),
        f"newest before older ones ({len(latest)})": _mean(h < s for h, s in latest),
    }
    return [Row(f"{name}: {what}", f"{value:.3f}", "", None) for what, value in shares.items()]


def _mean(values: Iterable[float]) -> float:
    known = list(values)
    return sum(known) / len(known) if known else 0.0
