"""Stage 1: a question parsed into what the index, the model and the filters need."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from iai_mcp.domain.cue.exact import exact_parts
from iai_mcp.domain.cue.stop_words import language_of, stop_words, tells_nothing
from iai_mcp.domain.cue.times import windows
from iai_mcp.domain.cue.times_elsewhere import windows_elsewhere
from iai_mcp.domain.cue.windows import Window
from iai_mcp.domain.history_language import in_another_script
from iai_mcp.domain.words import index_terms, words

_FEWEST_WORDS = 2
_NICKNAME = 3


@dataclass(frozen=True, slots=True)
class Wording:
    """One way to say the question: `terms` for the word index, `meaning` for the model."""

    terms: tuple[str, ...]
    meaning: str


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed question. The cue is the first wording; all else comes from the cue alone."""

    wordings: tuple[Wording, ...]
    exact: tuple[str, ...]  # identifiers, paths, numbers, errors, quoted phrases of the cue
    windows: tuple[Window, ...]  # times that the cue names
    speakers: tuple[str, ...]  # people that the cue names
    other_script: bool  # the cue is written in other letters than Latin ones


def parse_query(
    cue: str,
    wordings: Sequence[str] = (),
    *,
    now: datetime,
    speakers: Sequence[str] = (),
    language: str | None = None,
) -> Query:
    """Parse `cue` and its other `wordings`, asked at `now` by somebody who knows `speakers`."""
    named = tuple(name for name in speakers if _names(cue, name))
    times = _windows(cue, now, language)
    return Query(
        wordings=(
            _wording(cue, language, named),
            *(_wording(text, language, ()) for text in dict.fromkeys(wordings) if text != cue),
        ),
        exact=exact_parts(cue, years=not times),
        windows=times,
        speakers=named,
        other_script=in_another_script(cue),
    )


def _wording(text: str, language: str | None, named: Sequence[str]) -> Wording:
    return Wording(tuple(_terms(text, language, named)), _meaning(text, named))


def _windows(cue: str, now: datetime, language: str | None) -> tuple[Window, ...]:
    spoken = language or language_of(words(cue))
    if spoken == "en" and cue.isascii():
        return windows(cue, now)
    return (*windows(cue, now), *windows_elsewhere(cue, now, spoken))


def _names(cue: str, name: str) -> bool:
    """Whether the cue holds the name, or its first letters as a nickname: "Mel" for Melanie."""
    if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", cue, re.IGNORECASE):
        return True
    short = name[:_NICKNAME]
    return len(name) > _NICKNAME + 2 and re.search(rf"(?<=\s){re.escape(short)}\b", cue) is not None


def _terms(text: str, language: str | None, named: Sequence[str]) -> list[str]:
    """The words to search for. A named speaker is matched by who spoke, not by the word."""
    every = words(text)
    silent = stop_words(every, language) | {word for name in named for word in words(name)}
    content = [word for word in every if word.removesuffix("'s") not in silent]
    terms: dict[str, None] = {}
    for word in content or every:
        terms.update(dict.fromkeys(index_terms(word.removesuffix("'s"))))
    kept = [term for term in terms if term not in silent]
    return (
        [term for term in kept if term.isascii() or not tells_nothing(term)] or kept or list(terms)
    )


def _meaning(text: str, named: Sequence[str]) -> str:
    """The text for the model, without the names of speakers."""
    short = text
    for name in named:
        short = re.sub(
            rf"(?<!\w){re.escape(name)}(?:['’]s)?(?!\w)", " ", short, flags=re.IGNORECASE
        )
    short = " ".join(short.split())
    return short if len(short.split()) >= _FEWEST_WORDS else text


def holds_exactly(text: str, part: str) -> bool:
    """Whether a text holds an exact part letter by letter, in any case, and not within a longer name."""
    lowered, wanted = text.lower(), part.lower()
    at = lowered.find(wanted)
    while at >= 0:
        before, after = lowered[at - 1 : at], lowered[at + len(wanted) : at + len(wanted) + 1]
        inside = (_of_a_name(before) and _of_a_name(wanted[0])) or (
            _of_a_name(after) and _of_a_name(wanted[-1])
        )
        if not inside:
            return True
        at = lowered.find(wanted, at + 1)
    return False


def _of_a_name(letter: str) -> bool:
    return letter.isalnum() or letter == "_"
