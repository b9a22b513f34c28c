"""From what is known about candidates to the measures that are weighed against each other."""

from dataclasses import dataclass

import numpy as np

from iai_mcp.domain.cue.analysis import CueReading
from iai_mcp.domain.cue.windows import closeness
from iai_mcp.domain.ranking.candidates import Candidates, Floats, at_places, beginnings

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
        return ((cosines - self.mean) / self.spread).astype(np.float32, copy=False)

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
    nothing = np.zeros(len(found), np.float32)  # most cues ask for none of what is special
    columns |= _neighbours(found, passage, turn)
    columns |= _kinds(found, asked, nothing)
    columns |= _sessions(found, passage)
    columns |= _named(found, asked, passage, nothing)
    columns |= _people(found, asked, nothing)
    columns |= _standing(found, asked, scale, nothing)
    columns |= _by_cue(columns, asked, nothing)
    windows = asked.reading.windows
    columns["date"] = closeness(windows, found.at) if windows else nothing
    return {name: np.asarray(column, dtype=np.float32) for name, column in columns.items()}


def _or_guessed(meaning: Floats, coverage: Floats) -> Floats:
    """What has no vector yet is as near as the nearest, as far as it holds the cue's words: a turn
    that was captured a moment ago must be found by them."""
    known = ~np.isnan(meaning)
    nearest = max(0.0, float(meaning[known].max())) if known.any() else 0.0
    return np.where(known, meaning, nearest * coverage).astype(np.float32, copy=False)


def _or_else(column: Floats, other: Floats) -> Floats:
    return np.where(np.isnan(column), other, column).astype(np.float32, copy=False)


def _neighbours(found: Candidates, passage: Floats, turn: Floats) -> dict[str, Floats]:
    meaning = _PASSAGE_SHARE * np.where(found.spoken, passage, turn) + (1 - _PASSAGE_SHARE) * turn
    own = _OWN_WORDS * found.words + _OWN_MEANING * meaning - _OWN_FLOOR
    reaching: Floats = np.maximum(own, 0.0).astype(np.float32, copy=False)
    before, after = at_places(reaching, found.before), at_places(reaching, found.after)
    asked = at_places(found.asks.astype(np.float32), found.before)
    best = np.maximum((_FROM_BEFORE + _AFTER_A_QUESTION * asked) * before, _FROM_AFTER * after)
    return {"near": best, "before": before, "after": after, "answer": before * asked}


def _kinds(found: Candidates, asked: Asked, nothing: Floats) -> dict[str, Floats]:
    """Whether it holds a time, a name; and whether the cue asks for one, or for what changed."""
    wants = asked.reading.wants
    time, name = found.time.astype(np.float32), found.name.astype(np.float32)
    return {
        "time": time,
        "time_asked": time if wants.time else nothing,
        "name": name,
        "name_asked": name if wants.name else nothing,
        "change_asked": _changed(found) if wants.change else nothing,
        "change_present": found.change.astype(np.float32)
        if asked.reading.of_the_present
        else nothing,
    }


def _changed(found: Candidates) -> Floats:
    """Who is told of a change confirms it in other words ("Done")."""
    told = found.change.astype(np.float32)
    return np.maximum(told, at_places(told, found.before))


def _sessions(found: Candidates, passage: Floats) -> dict[str, Floats]:
    together = np.argsort(found.session, kind="stable")
    sessions = found.session[together]
    best = np.empty((2, len(found)), np.float32)
    if len(found):
        firsts = beginnings(sessions)
        which = np.searchsorted(sessions[firsts], sessions)
        both = np.array([passage, found.words])[:, together]
        best[:, together] = np.maximum.reduceat(both, firsts, axis=1)[:, which]
    return {
        "session_words": found.session_words,
        "session_best": best[0],
        "session_best_words": best[1],
    }


def _named(found: Candidates, asked: Asked, passage: Floats, nothing: Floats) -> dict[str, Floats]:
    """What the speaker whom the cue names said, and who answered."""
    if asked.speaker is None:
        measures = ("named", "not_named", "named_asks", "named_passage", "named_after")
        return dict.fromkeys(measures, nothing)
    theirs = found.speaker == asked.speaker
    said = theirs.astype(np.float32)
    return {
        "named": said,
        "not_named": (~theirs).astype(np.float32),
        "named_asks": (theirs & found.asks).astype(np.float32),
        "named_passage": theirs * passage,
        "named_after": ~theirs * at_places(said, found.after),
    }


def _people(found: Candidates, asked: Asked, nothing: Floats) -> dict[str, Floats]:
    """What people said, where assistants speak as well: it counts unless the cue asks for theirs."""
    by_person = found.spoken.astype(np.float32) if asked.assistants else nothing
    person = nothing if asked.reading.of_the_assistant else by_person
    return {
        "person": person,
        "person_of_self": person if asked.reading.of_the_speaker else nothing,
        "person_not_asked": by_person if asked.reading.of_the_assistant else nothing,
    }


def _standing(
    found: Candidates, asked: Asked, scale: CosineScale, nothing: Floats
) -> dict[str, Floats]:
    topic = np.nan_to_num(np.maximum(scale.of(found.topic), 0.0))
    columns: dict[str, Floats] = {}
    for wish, holds in (("instruction", found.instruction), ("preference", found.preference)):
        held = holds.astype(np.float32) if holds.any() else nothing
        columns[wish] = held
        columns[f"{wish}_topic"] = nothing if held is nothing else held * topic
        columns[f"{wish}_advice"] = held if asked.reading.seeks_advice else nothing
    return columns


def _by_cue(columns: dict[str, Floats], asked: Asked, nothing: Floats) -> dict[str, Floats]:
    """Measures whose worth depends on the cue: words mislead where advice is sought."""
    seeks = asked.reading.seeks_advice
    covered = float(columns["coverage"].max(initial=0.0))
    nearest = float(columns["passage"].max(initial=0.0))
    return {
        "words_advice": columns["words"] if seeks else nothing,
        "meaning_advice": columns["turn"] if seeks else nothing,
        "session_advice": columns["session_words"] if seeks else nothing,
        "words_covered": columns["words"] * covered,
        "passage_nearest": columns["passage"] * nearest,
    }
