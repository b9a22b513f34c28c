"""Public sets of conversations and questions, read as stores to fill and cues to ask.

Nothing of them is kept here: their paths are given on the command line.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

FACTS = frozenset(
    (
        "information_extraction",
        "knowledge_update",
        "temporal_reasoning",
        "contradiction_resolution",
        "multi_session_reasoning",
    )
)
WISHES = frozenset(("preference_following", "instruction_following"))


@dataclass(frozen=True, slots=True)
class Said:
    """One turn. `id` is what evidence names; `session` groups turns."""

    id: str
    session: str
    role: str
    text: str
    speaker: str = ""
    ts: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A cue with the ids of the turns, or of the sessions, that answer it."""

    id: str
    cue: str
    evidence: frozenset[str]
    category: str
    column: str  # the column of the report it counts in
    project: str
    now: str = ""
    by_session: bool = False


@dataclass(frozen=True, slots=True)
class Conversation:
    """What one project holds. `fold` is its place in cross-validation."""

    project: str
    turns: Sequence[Said]
    questions: Sequence[Question] = field(default_factory=tuple)


def locomo(path: Path) -> list[Conversation]:
    """One project per conversation, one memory per turn; categories 1–4, adversarial apart."""
    return [_locomo(sample) for sample in json.loads(path.read_text())]


def _locomo(sample: dict[str, Any]) -> Conversation:
    talk, project = sample["conversation"], f"locomo-{sample['sample_id']}"
    turns: list[Said] = []
    numbers = (int(match[1]) for key in talk if (match := re.fullmatch(r"session_(\d+)", key)))
    for number in sorted(numbers):
        at = datetime.strptime(talk[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y")
        for turn in talk[f"session_{number}"]:
            text = turn.get("text") or ""
            if turn.get("blip_caption"):
                text = f"{text} [photo: {turn['blip_caption']}]".strip()
            turns.append(
                Said(
                    id=turn["dia_id"],
                    session=f"{project}-{number}",
                    role="user",
                    text=text,
                    speaker=turn["speaker"],
                    ts=at.replace(tzinfo=UTC).isoformat(),
                )
            )
    return Conversation(project, turns, list(_locomo_questions(sample, project, turns)))


def _locomo_questions(
    sample: dict[str, Any], project: str, turns: Sequence[Said]
) -> Iterator[Question]:
    known = {turn.id for turn in turns}
    for place, asked in enumerate(sample["qa"]):
        named = re.findall(r"D:?(\d+):0*(\d+)", " ".join(asked.get("evidence", [])))
        evidence = frozenset(f"D{a}:{b}" for a, b in named) & known
        if evidence:
            category = str(asked["category"])
            yield Question(
                id=f"{project}/{place}",
                cue=asked["question"],
                evidence=evidence,
                category=category,
                column="locomo adversarial" if category == "5" else "locomo",
                project=project,
            )


def longmemeval(path: Path) -> list[Conversation]:
    """Every session of every question in one project; questions without an answer apart."""
    project = "longmemeval"
    turns: list[Said] = []
    questions: list[Question] = []
    seen: set[str] = set()
    for asked in json.loads(path.read_text()):
        sessions = zip(
            asked["haystack_session_ids"],
            asked["haystack_dates"],
            asked["haystack_sessions"],
            strict=True,
        )
        for session, day, said in sessions:
            if session not in seen:
                seen.add(session)
                turns.extend(
                    Said(f"{session}#{n}", session, turn["role"], turn["content"], "", _day(day))
                    for n, turn in enumerate(said)
                    if turn["content"].strip()
                )
        absent = asked["question_id"].endswith("_abs")
        questions.append(
            Question(
                id=asked["question_id"],
                cue=asked["question"],
                evidence=frozenset(asked["answer_session_ids"]),
                category=asked["question_type"],
                column="longmemeval without answer" if absent else "longmemeval",
                project=project,
                now=_day(asked["question_date"]),
                by_session=True,
            )
        )
    return [Conversation(project, turns, questions)]


def _day(text: str) -> str:
    plain = re.sub(r" \(\w+\)", "", text)
    return datetime.strptime(plain, "%Y/%m/%d %H:%M").replace(tzinfo=UTC).isoformat()


def beam(path: Path) -> list[Conversation]:
    """One project per chat, one session per batch."""
    found: list[Conversation] = []
    for chat in json.loads(path.read_text()):
        project, day = f"beam-{chat['chat']}", ""
        turns: list[Said] = []
        for turn in chat["turns"]:
            if turn.get("date"):
                at = datetime.strptime(turn["date"], "%B-%d-%Y").replace(tzinfo=UTC)
                day = at.isoformat()
            session = f"{project}-{turn['batch']}"
            turns.append(Said(str(turn["id"]), session, turn["role"], turn["text"], "", day))
        known = {turn.id for turn in turns}
        questions = [
            Question(
                id=f"{project}/{place}",
                cue=asked["question"],
                evidence=frozenset(map(str, asked["evidence"])) & known,
                category=asked["category"],
                column=_beam_column(asked["category"]),
                project=project,
            )
            for place, asked in enumerate(chat["questions"])
        ]
        found.append(Conversation(project, turns, [q for q in questions if q.evidence]))
    return found


def _beam_column(category: str) -> str:
    if category in FACTS:
        return "beam facts"
    return "beam preferences, instructions" if category in WISHES else "beam summaries, orderings"


def own(path: Path) -> list[Conversation]:
    """A set of the project's own: JSON with `project`, `sessions` and `questions`."""
    found: list[Conversation] = []
    for file in sorted(path.glob("*.json")):
        data = json.loads(file.read_text())
        project = data["project"]
        turns = [
            Said(
                id=turn["id"],
                session=session["id"],
                role=turn["role"],
                text=turn["text"],
                ts=session["ts"],
            )
            for session in data["sessions"]
            for turn in session["turns"]
        ]
        questions = [
            Question(
                id=f"{project}/{place}",
                cue=asked["cue"],
                evidence=frozenset(asked["evidence"]),
                category=asked["kind"],
                column=f"{data['column']}: {asked['kind']}",
                project=project,
                now=data.get("now", ""),
            )
            for place, asked in enumerate(data["questions"])
        ]
        found.append(Conversation(project, turns, questions))
    return found
