"""From what is known about candidates to the measures that are weighed against each other."""

from dataclasses import dataclass

import numpy as np

from iai_mcp.domain.cue.analysis import CueReading
from iai_mcp.domain.cue.windows import closeness
from iai_mcp.domain.ranking.candidates import Candidates, Floats, at_places

# How a turn's own strength reaches its neighbours: an answer stands after its question.
_FROM_BEFORE, _AFTER_A_QUESTION, _FROM_AFTER = 0.4, 0.2, 0.3
_OWN_WORDS, _OWN_MEANING, _OWN_FLOOR = 4.0, 1.2, 0.5
_PASSAGE_SHARE = 0.7
_TYPICAL_LENGTH = 4.0  # the logarithm of a turn of some fifty words


@dataclass(frozen=True, slots=True)
class CosineScale:
    """Cosines of unrelated texts in one model's space: their mean and how far they spread.

    Models place unrelated texts at .1 or at .7: only the distance from there means something.
    """

    mean: float
    spread: float

    def of(self, cosines: Floats) -> Floats:
        return ((cosines - self.mean) / self.spread).astype(np.float32)

    def moved(self, cosine: float, to: "CosineScale") -> float:
        """Where a cosine of this space lies in another model's."""
        return to.mean + (cosine - self.mean) / self.spread * to.spread


@dataclass(frozen=True, slots=True)
class Asked:
    """The cue as the measures need it. `speaker` is NOBODY's number unless exactly one is named."""

    reading: CueReading
    speaker: int | None
    assistants: bool  # whether assistants speak at all among what is asked


def features(found: Candidates, asked: Asked, scale: CosineScale) -> dict[str, Floats]:
    """The measures by name, each a column as long as `found`. Nothing is NaN."""
    turn = _or_guessed(scale.of(found.turn), found.coverage)
    passage = _or_else(scale.of(found.passage), turn)
    context = _or_else(scale.of(found.context), turn)
    columns = {
        "words": found.words,
        "coverage": found.coverage,
        "coverage_squared": found.coverage**2,
        "turn": turn,
        "passage": passage,
        "context": context,
        "asks": found.asks,
        "length": np.log(10.0 + found.length) - _TYPICAL_LENGTH,
    }
    columns |= _neighbours(found, passage, turn)
    columns |= _kinds(found, asked)
    columns |= _sessions(found, passage)
    columns |= _people(found, asked, passage)
    columns |= _standing(found, asked, scale)
    columns |= _by_cue(columns, asked)
    columns["date"] = _dates(found, asked)
    return {name: np.asarray(column, dtype=np.float32) for name, column in columns.items()}


def _or_guessed(meaning: Floats, coverage: Floats) -> Floats:
    """What has no vector yet is as near as the nearest, as far as it holds the cue's words: a turn
    that was captured a moment ago must be found by them."""
    known = ~np.isnan(meaning)
    nearest = max(0.0, float(meaning[known].max())) if known.any() else 0.0
    return np.where(known, meaning, nearest * coverage).astype(np.float32)


def _or_else(column: Floats, other: Floats) -> Floats:
    return np.where(np.isnan(column), other, column).astype(np.float32)


def _neighbours(found: Candidates, passage: Floats, turn: Floats) -> dict[str, Floats]:
    meaning = _PASSAGE_SHARE * np.where(found.spoken, passage, turn) + (1 - _PASSAGE_SHARE) * turn
    own = _OWN_WORDS * found.words + _OWN_MEANING * meaning - _OWN_FLOOR
    reaching: Floats = np.maximum(own, 0.0).astype(np.float32)
    before, after = at_places(reaching, found.before), at_places(reaching, found.after)
    asked = at_places(found.asks.astype(np.float32), found.before)
    best = np.maximum((_FROM_BEFORE + _AFTER_A_QUESTION * asked) * before, _FROM_AFTER * after)
    return {"near": best, "before": before, "after": after, "answer": before * asked}


def _kinds(found: Candidates, asked: Asked) -> dict[str, Floats]:
    """Whether it holds a time, a name; and whether the cue asks for one, or for what changed."""
    wants = asked.reading.wants
    held = {
        "time": (found.time, wants.time),
        "name": (found.name, wants.name),
    }
    columns: dict[str, Floats] = {}
    for kind, (holds, wanted) in held.items():
        columns[kind] = holds.astype(np.float32)
        columns[f"{kind}_asked"] = columns[kind] * wanted
    columns["change_asked"] = _changed(found) if wants.change else np.zeros(len(found), np.float32)
    columns["change_present"] = found.change * np.float32(asked.reading.of_the_present)
    return columns


def _changed(found: Candidates) -> Floats:
    """Who is told of a change confirms it in other words ("Done")."""
    told = found.change.astype(np.float32)
    return np.maximum(told, at_places(told, found.before))


def _sessions(found: Candidates, passage: Floats) -> dict[str, Floats]:
    together = np.argsort(found.session, kind="stable")
    firsts = np.flatnonzero(np.diff(found.session[together], prepend=-1))
    sizes = np.diff(firsts, append=len(found))
    best = np.empty((2, len(found)), np.float32)
    if len(found):
        both = np.stack([passage, found.words])[:, together]
        best[:, together] = np.repeat(np.maximum.reduceat(both, firsts, axis=1), sizes, axis=1)
    return {
        "session_words": found.session_words,
        "session_best": best[0],
        "session_best_words": best[1],
    }


def _people(found: Candidates, asked: Asked, passage: Floats) -> dict[str, Floats]:
    named = asked.speaker is not None
    theirs = (found.speaker == asked.speaker) if named else np.zeros(len(found), dtype=np.bool_)
    by_person = found.spoken & asked.assistants
    answered = at_places(theirs.astype(np.float32), found.after)
    person = (by_person & (not asked.reading.of_the_assistant)).astype(np.float32)
    return {
        "named": theirs.astype(np.float32),
        "not_named": (~theirs & named).astype(np.float32),
        "named_asks": (theirs & found.asks).astype(np.float32),
        "named_passage": theirs * passage,
        "named_after": ~theirs * answered,
        "person": person,
        "person_of_self": person * asked.reading.of_the_speaker,
        "person_not_asked": (by_person & asked.reading.of_the_assistant).astype(np.float32),
    }


def _standing(found: Candidates, asked: Asked, scale: CosineScale) -> dict[str, Floats]:
    topic = np.nan_to_num(np.maximum(scale.of(found.topic), 0.0))
    seeks = asked.reading.seeks_advice
    return {
        "instruction": found.instruction.astype(np.float32),
        "instruction_topic": found.instruction * topic,
        "instruction_advice": (found.instruction & seeks).astype(np.float32),
        "preference": found.preference.astype(np.float32),
        "preference_topic": found.preference * topic,
        "preference_advice": (found.preference & seeks).astype(np.float32),
    }


def _by_cue(columns: dict[str, Floats], asked: Asked) -> dict[str, Floats]:
    """Measures whose worth depends on the cue: words mislead where advice is sought."""
    seeks = float(asked.reading.seeks_advice)
    covered = float(columns["coverage"].max(initial=0.0))
    nearest = float(columns["passage"].max(initial=0.0))
    return {
        "words_advice": columns["words"] * seeks,
        "meaning_advice": columns["turn"] * seeks,
        "session_advice": columns["session_words"] * seeks,
        "words_covered": columns["words"] * covered,
        "passage_nearest": columns["passage"] * nearest,
    }


def _dates(found: Candidates, asked: Asked) -> Floats:
    return closeness(asked.reading.windows, found.at).astype(np.float32)
