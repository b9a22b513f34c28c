"""A cue read once: what to look for by words, by meaning, by speaker and by time."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from iai_mcp.domain.answer_kinds import Kinds, asked_for
from iai_mcp.domain.changes import speaks_in_the_present, spoken_plainly
from iai_mcp.domain.cue.exact import exact_parts
from iai_mcp.domain.cue.stop_words import language_of, stop_words, tells_nothing
from iai_mcp.domain.cue.times import windows
from iai_mcp.domain.cue.times_elsewhere import windows_elsewhere
from iai_mcp.domain.cue.windows import Window
from iai_mcp.domain.history_language import in_another_script
from iai_mcp.domain.words import index_terms, words

# Politeness and reference to earlier talk: true of every cue, so it tells nothing apart.
_FILLER = re.compile(
    r"\b(?:(?:can|could|would) you (?:please )?(?:remind me|tell me|help me remember)"
    r"|please remind me|remind me"
    r"|(?:in|from|during|about|on|to|at) (?:our|my|the) (?:previous|last|earlier|past)"
    r" (?:chat|conversation|discussion|talk|session)s?(?: about| on| regarding)?"
    r"|our (?:previous|last|earlier|past) (?:chat|conversation|discussion|session)s?"
    r"(?: about| on| regarding)?"
    r"|i(?:'m| am| was)? (?:just )?(?:wondering|curious|looking back at|checking|going (?:back )?"
    r"through|following up on)(?: if| whether)?"
    r"|i (?:wanted|want|was trying|would like|'d like) to (?:follow up|check back|check|confirm|"
    r"know|remember|recall)(?: on| about)?"
    r"|do you (?:remember|recall|know)"
    r"|you (?:mentioned|said|suggested|told me|recommended)(?: that)?"
    r"|i mentioned(?: that)?)\b",
    re.IGNORECASE,
)
_OF_THE_ASSISTANT = re.compile(
    r"\b(?:you (?:said|told|suggested|recommended|mentioned|provided|gave|listed|wrote|made|shared"
    r"|described|explained|created|advised|proposed|helped)|remind me|did you|"
    r"your (?:suggestion|recommendation|advice|answer|explanation|list|proposal)|"
    r"our (?:previous|last|earlier) (?:chat|conversation|discussion))\b",
    re.IGNORECASE,
)
# Who asks about himself asks for what he said, not for what was answered.
_OF_THE_SPEAKER = re.compile(
    r"\b(?:i|my|me|mine|myself|ich|mir|mich|mein\w*|je|moi|mon|mes|yo|mi|mis|я|мне|меня|мо[йяеи])\b"
    r"|我|私|僕",
    re.IGNORECASE,
)
# What is sought is how to do something, not what was said: wishes and taste matter then.
_SEEKS_ADVICE = re.compile(
    r"^\s*(?:how (?:should|can|could|do|would) (?:i|we|you)|what (?:should|would|are some|are the"
    r"|kind|is the best)|which .* should|can you|could you|would you|any (?:tips|ideas|suggest)"
    r"|i['’]m (?:about|planning|looking|trying|thinking|updating|applying)|where (?:do|should)"
    r"|help me|show me|suggest|recommend|explain|write|create|implement|add|refactor|fix)"
    r"|\b(?:suggest|recommend|advice|tips|should i|should we|would you|help me|best way|ideas)\b",
    re.IGNORECASE,
)
_FEWEST_WORDS = 2
_NICKNAME = 3


@dataclass(frozen=True, slots=True)
class CueReading:
    """`terms` go to the word index, `meaning` to the embedder, `exact` must match as written."""

    terms: tuple[str, ...]
    exact: tuple[str, ...]
    meaning: str
    speakers: tuple[str, ...]
    of_the_assistant: bool
    of_the_speaker: bool
    seeks_advice: bool
    windows: tuple[Window, ...]
    wants: Kinds
    of_the_present: bool  # how things are, not people: not said in so many words
    other_script: bool = False  # written in other letters than Latin ones


def read(
    cue: str, now: datetime, speakers: Sequence[str] = (), language: str | None = None
) -> CueReading:
    """Read `cue` as asked at `now`, by somebody who knows `speakers` by name."""
    plain = spoken_plainly(cue)
    named = tuple(name for name in speakers if _names(cue, name))
    times = _windows(plain, now, language)
    reading = CueReading(
        terms=tuple(_terms(plain, language, named)),
        exact=exact_parts(cue),
        meaning=_meaning(cue, named),
        speakers=named,
        of_the_assistant=_OF_THE_ASSISTANT.search(cue) is not None,
        of_the_speaker=_OF_THE_SPEAKER.search(cue) is not None,
        seeks_advice=_SEEKS_ADVICE.search(cue) is not None,
        windows=times,
        wants=_wanted(plain, times),
        of_the_present=False,
        other_script=in_another_script(cue),
    )
    return replace(reading, of_the_present=_of_the_present(plain, reading))


def _of_the_present(cue: str, reading: CueReading) -> bool:
    elsewhere = reading.exact or reading.speakers or reading.windows or reading.wants.change
    of_people = reading.of_the_speaker or reading.of_the_assistant or reading.seeks_advice
    return not elsewhere and not of_people and speaks_in_the_present(cue)


def _wanted(cue: str, times: Sequence[Window]) -> Kinds:
    """Who names a time asks how things were then, not how they are."""
    wants = asked_for(cue)
    return replace(wants, change=wants.change and not times)


def _windows(cue: str, now: datetime, language: str | None) -> tuple[Window, ...]:
    spoken = language or language_of(words(cue))
    if spoken == "en" and cue.isascii():
        return windows(cue, now)
    return (*windows(cue, now), *windows_elsewhere(cue, now, spoken))


def _names(cue: str, name: str) -> bool:
    """Whether the cue says the name, or begins it as friends do: "Mel" for Melanie."""
    if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", cue, re.IGNORECASE):
        return True
    short = name[:_NICKNAME]
    return len(name) > _NICKNAME + 2 and re.search(rf"(?<=\s){re.escape(short)}\b", cue) is not None


def _terms(cue: str, language: str | None, named: Sequence[str]) -> list[str]:
    """The cue's telling words. Who is named is matched by who spoke, not by the name's mention."""
    said = words(cue)
    silent = stop_words(said, language) | {word for name in named for word in words(name)}
    telling = [word for word in said if word.removesuffix("'s") not in silent]
    found: dict[str, None] = {}
    for word in telling or said:
        found.update(dict.fromkeys(index_terms(word.removesuffix("'s"))))
    told = [term for term in found if term not in silent]
    return (
        [term for term in told if term.isascii() or not tells_nothing(term)] or told or list(found)
    )


def _meaning(cue: str, named: Sequence[str]) -> str:
    text = _FILLER.sub(" ", cue)
    for name in named:
        text = re.sub(rf"(?<!\w){re.escape(name)}(?:['’]s)?(?!\w)", " ", text, flags=re.IGNORECASE)
    text = re.sub(r"\s+([?.!,])", r"\1", re.sub(r"\s+", " ", text)).strip(" ,")
    return text if len(text.split()) >= _FEWEST_WORDS else cue
