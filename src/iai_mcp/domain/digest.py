"""A topic in a few sentences that were really said, with their dates. Nothing is rephrased."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import log, sqrt

from iai_mcp.domain.memories import Memory
from iai_mcp.domain.nearness import terms
from iai_mcp.domain.standing import standing_wish
from iai_mcp.domain.words import is_cjk, words

_SENTENCES = 5
# Letters that are weighed, of each memory and of all: a digest is one page of sleep's work.
_LOOKED_AT, _LOOKED_AT_IN_ALL = 4000, 16_000
_SENTENCES_EACH = 14
_SHORTEST, _LONGEST = 24, 320
_FEWEST_TERMS = 3
_FEWEST_WORDS = 4  # a mere path or name says nothing
_LABEL_WORDS = 3
# Closing quotes stay with their sentence; Chinese and Japanese need no space after a full stop.
_SENTENCE = re.compile(r"[^\n]+?(?:[.!?][\"')\]]*(?=\s|$)|[。！？]|(?=\n|$))")
_CODE = re.compile(r"```.*?(?:```|$)", re.DOTALL)
_NOT_PROSE = ("|", "{", "}", "$ ", "#", ">", "<", "//", "at ", "File ", "Traceback")
_TELLING = re.compile(
    r"\b(?:decid|agreed|because|instead|fixed|root cause|turned out|must|should|default|port|version"
    r"|always|never|use|uses|moved|switched|replaced|renamed|works|fails|listens|runs on|lives in)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Digest:
    """The text of a topic, its label, and the memories it quotes."""

    text: str
    label: str
    quoted: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Candidate:
    memory: Memory
    sentence: str
    terms: frozenset[str]


def digest(members: Sequence[Memory]) -> Digest | None:
    """The sentences that say most about what all members share; None where there are none."""
    letters = min(_LOOKED_AT, _LOOKED_AT_IN_ALL // max(1, len(members)))
    candidates = [one for memory in members for one in _candidates(memory, letters)]
    spread = Counter(term for memory in members for term in set(terms(memory.text[:letters])))
    chosen = _chosen(candidates, spread, len(members))
    if not chosen:
        return None
    chosen.sort(key=lambda one: (one.memory.at.micros, one.memory.key))
    first = min(members, key=lambda memory: memory.at.micros).at.text[:10]
    last = max(members, key=lambda memory: memory.at.micros).at.text[:10]
    label = ", ".join(_label(chosen, spread))
    when = first if first == last else f"{first} to {last}"
    lines = [f"{label} ({when}, {len(members)} turns)"]
    lines += [f"- {one.memory.at.text[:10]} {_who(one.memory)}: {one.sentence}" for one in chosen]
    quoted = tuple(dict.fromkeys(one.memory.key for one in chosen))
    return Digest("\n".join(lines), label, quoted)


def sentences(text: str, letters: int = _LOOKED_AT) -> list[str]:
    """The sentences of a text, each letter by letter as it stands there; code is left out.

    Of a longer text only so many letters are looked at; a sentence cut off there is left out.
    """
    prose = _CODE.sub("\n", text[:letters])
    found = [match.group().strip().lstrip("-*• ").strip() for match in _SENTENCE.finditer(prose)]
    if found and len(text) > letters and not found[-1].endswith((".", "!", "?", "。", "！", "？")):
        found.pop()
    return [one for one in found if one and not one.startswith(_NOT_PROSE)]


def _candidates(memory: Memory, letters: int) -> list[_Candidate]:
    found: list[_Candidate] = []
    for sentence in sentences(memory.text, letters)[:_SENTENCES_EACH]:
        told = frozenset(terms(sentence))
        enough = len(told) >= _FEWEST_TERMS and (
            len(sentence.split()) >= _FEWEST_WORDS or is_cjk(sentence)
        )
        if enough and _SHORTEST <= len(sentence) <= _LONGEST:
            found.append(_Candidate(memory, sentence, told))
    return found


def _chosen(
    candidates: Sequence[_Candidate], spread: Counter[str], members: int
) -> list[_Candidate]:
    """The best by what they share with the other members, each saying something new."""
    scored = sorted(
        candidates,
        key=lambda one: (-_worth(one, spread, members), -one.memory.at.micros, one.sentence),
    )
    chosen: list[_Candidate] = []
    for one in scored:
        if len(chosen) == _SENTENCES:
            break
        if all(
            len(one.terms & kept.terms) <= 0.6 * min(len(one.terms), len(kept.terms))
            for kept in chosen
        ):
            chosen.append(one)
    return chosen


def _worth(one: _Candidate, spread: Counter[str], members: int) -> float:
    # Sorted: a sum of floats depends on its order, and sets have none.
    shared = sum(log(1 + spread[term]) for term in sorted(one.terms) if spread[term] > 1)
    worth = shared / sqrt(len(one.terms) + 4)
    if one.sentence.endswith(("?", "？")):
        return worth * 0.4
    if _TELLING.search(one.sentence):
        worth *= 1.3
    if one.memory.role == "user":
        worth *= 1.2 if standing_wish(one.sentence) is None else 1.4
    return worth


def _label(chosen: Sequence[_Candidate], spread: Counter[str]) -> list[str]:
    """The words most members share, as they were written in the chosen sentences."""
    written: dict[str, str] = {}
    for one in chosen:
        for word in words(one.sentence):
            for term in terms(word):
                if len(word) > 2 and not word.isdigit():
                    written.setdefault(term, word)
    best = sorted(written, key=lambda term: (-spread[term], term))
    return list(dict.fromkeys(written[term] for term in best))[:_LABEL_WORDS]


def _who(memory: Memory) -> str:
    return memory.speaker or memory.provenance.agent_name or memory.role
