"""Whether anything that was found is really about the cue: something always comes, and should say so."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from iai_mcp.domain.cue.times import MONTHS, WEEKDAYS
from iai_mcp.domain.cue_matching import CueMatcher
from iai_mcp.domain.exchanges import CueWords
from iai_mcp.domain.history_language import in_another_script
from iai_mcp.domain.ruling_cues import asking_words

NOTE = "nothing stored is really about this; the nearest there is comes all the same"

# What speaks for the best, in cosines of the default model. Fitted on coding sessions and on cues about
# things nobody ever spoke of; of answered questions one in fifty is below.
_WORDS, _UNSEEN, _UNKNOWN_NAME = 0.15, 0.25, 0.15
_BAR_OF_WORK = 0.48
_BAR_OF_OTHER_SCRIPTS = 0.36  # cosines of a model that reads them are lower there
# Where so much of what the cue tells was never said, nor anything like it, the matter itself is unknown, however
# near its surroundings are; unless a passage says it in another language.
_MOSTLY_UNSEEN, _IN_OTHER_WORDS = 0.7, 0.7
_UNSEEN_AND_UNREAD = 0.6  # where the model can not read the cue, only its words tell
# Turns of chats are short and name little: their cosines are lower throughout. Of questions of chats that
# have an answer one in five hundred is below.
_BAR_OF_TALK = 0.40
_BAR_OF_WORDS = 0.35  # where there is no model: the share of what the cue's words could reach
# A passage that holds so much of the cue's rarity says it, however far the model puts a sentence from a
# question: of cues without an answer none came above a half.
_SAID, _OF_A_PASSAGE = 0.6, 200  # characters
_LEAST_RARITY = 0.3  # of a word that every exchange holds
_PLACES = 200  # of each word in one text
# Parts of a score that say by themselves what a turn is about: quoted letter by letter, said by the one
# who is named, at the time that is named, a wish about the matter.
_TELLING = ("exact", "who", "time", "standing")
_TELLING_FROM = 0.5
# What no longer holds is named beside the hits only where it is about the cue by itself: by as much of the cue's
# rarity as makes a hit where there is no model. Where nothing else can tell, a word of four is enough.
_TELLING_OF_THE_OUTDATED = ("exact", "time")
_A_WORD_OF_FOUR = 0.2

_NAME = re.compile(r"(?<![.?!:]\s)(?<!^)\b[A-Z]\w+|\b\w*[A-Z]\w*[A-Z]\w*", re.MULTILINE)
_CALENDAR = frozenset((*MONTHS, *WEEKDAYS))


@dataclass(frozen=True, slots=True)
class Evidence:
    """The best of what speaks for the first hits. `cosine` is None where there is no model."""

    cosine: float | None
    words: float  # the share of what the cue's words could reach


def about_the_work(found: Evidence, cue: str, known: CueWords, *, unread: bool = False) -> bool:
    """Whether exchanges of worked sessions are about the cue, which the model may be unable to read."""
    if unread:
        return known.unseen < _UNSEEN_AND_UNREAD
    if found.cosine is None:
        return found.words >= _BAR_OF_WORDS
    if known.unseen >= _MOSTLY_UNSEEN and found.cosine < _IN_OTHER_WORDS:
        return False
    lacking = _UNSEEN * known.unseen + _UNKNOWN_NAME * names_the_unknown(cue, known)
    bar = _BAR_OF_OTHER_SCRIPTS if in_another_script(cue) else _BAR_OF_WORK
    return found.cosine + _WORDS * found.words - lacking >= bar


def about_the_talk(found: Evidence, parts: Iterable[tuple[str, float]]) -> bool:
    """Whether turns of chats, and notes, are about the cue; `parts` are those of their scores."""
    if any(name in _TELLING and worth >= _TELLING_FROM for name, worth in parts):
        return True
    if found.cosine is None:
        return found.words >= _BAR_OF_WORDS
    return found.cosine + _WORDS * found.words >= _BAR_OF_TALK


def nearly_said(texts: Iterable[str], cue: str, known: CueWords) -> bool:
    """Whether a passage holds most of what the cue tells, word for word.

    One word is enough only where nothing else was asked.
    """
    asking = asking_words(cue)
    own = [
        replace(word, idf=max(word.idf, _LEAST_RARITY), stand_ins=())
        for word in known.words
        if not any(one.startswith(word.token) for one in asking)
    ]
    matcher = CueMatcher(CueWords(own))
    needed = 1 if len(cue.split()) == 1 else 2
    return len(own) >= needed and any(_says(text, matcher, needed) for text in texts)


def _says(text: str, cue: CueMatcher, needed: int) -> bool:
    found = cue.occurrences(text, _PLACES)
    if cue.overlap(found) < _SAID:
        return False
    starts = [one.start for one in found]
    for place, start in enumerate(starts):
        passage = found[place : bisect_right(starts, start + _OF_A_PASSAGE)]
        if cue.overlap(passage) >= _SAID and len({one.word for one in passage}) >= needed:
            return True
    return False


def about_what_is_outdated(found: Evidence, parts: Mapping[str, float], *, near: bool) -> bool:
    """Whether something that no longer holds is about the cue; `near` to the first hits by its score."""
    if any(parts.get(name, 0.0) >= _TELLING_FROM for name in _TELLING_OF_THE_OUTDATED):
        return True
    if found.cosine is None:
        return found.words >= _A_WORD_OF_FOUR
    alike = found.cosine + _WORDS * found.words >= _BAR_OF_TALK
    return (near and alike) or found.words >= _BAR_OF_WORDS


def names_the_unknown(cue: str, known: CueWords) -> bool:
    """Whether the cue calls by name what nobody ever spoke of."""
    unheard = [word.token for word in known.words if not word.held_by]
    names = {name.lower() for name in _NAME.findall(cue)} - _CALENDAR
    return any(name.startswith(token) for token in unheard for name in names)
