"""What a new session should know about its project: chosen from memories, without a model.

Each function takes memories and returns points, the most useful first. A point quotes words that
were really said and names the memory they come from.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from iai_mcp.domain.memories import Memory
from iai_mcp.domain.passages import passages
from iai_mcp.domain.recap import Ended, left_open
from iai_mcp.domain.rule_register import Register
from iai_mcp.domain.rulings import rulings
from iai_mcp.domain.shown_text import shortened
from iai_mcp.domain.words import count

# A decision stands at the top of what somebody says, not on page nine of a pasted log.
_LOOKED_AT = 4000
_LONGEST_POINT = 280
_SHORTEST_POINT = 12
_FEWEST_WORDS = 4
_LONGEST_ASIDE = 500
_RULES_OF_ONE = 4
_LONGEST_REFUSED = 80

_DECIDED = re.compile(
    r"\b(?:decided|decision:|we (?:agreed|chose|settled|picked|went)"
    r"|let['’]?s (?:go with|use|stick|switch)|(?:going|go|stick|went|settled?) with"
    r"|(?:switch|migrat|mov)(?:ed|ing) (?:\w+ )?(?:to|from|over)"
    r"|we (?:now|will|['’]ll|should|are going to) use"
    r"|entschieden|entscheidung|décidé|décision|decidido|decisión|решили|решение)\b"
    r"|决定|決定|قررنا",
    re.IGNORECASE,
)
_CORRECTED = re.compile(
    r"^\W{0,40}(?:no[,:] (?!i(?:['’]m| think| am)|thanks|that['’]?s)|actually[, ]|correction\b"
    r"|that['’]?s (?:wrong|not right|incorrect)|not \w+[,;] (?:but|it['’]?s)|i meant\b|nein, |non, )"
    r"|\b(?:is|was) wrong\b|\bnot true\b|\bno longer\b|\bturned out\b",
    re.IGNORECASE | re.MULTILINE,
)
_REPORTED = re.compile(r"decided|decision:", re.IGNORECASE)
_CLAUSE = re.compile(r"(?:, |; | - | – |: |\. )")
_LASTING = ("semantic", "procedural", "parametric")


@dataclass(frozen=True, slots=True)
class Point:
    """One thing worth knowing: the words, where they come from, and why they were chosen."""

    text: str
    memory: Memory
    why: str
    about: str = ""  # what the words alone do not say: the command that was refused with them


@dataclass(frozen=True, slots=True)
class Sitting:
    """One session as its turns show it, in the order they were said."""

    turns: tuple[Memory, ...]

    @property
    def last(self) -> Memory:
        return self.turns[-1]


def holding(memories: Iterable[Memory]) -> list[Memory]:
    """Those that nothing has superseded, once each."""
    seen: dict[int, Memory] = {}
    for memory in memories:
        if memory.valid_to is None and memory.successor is None:
            seen.setdefault(memory.key, memory)
    return list(seen.values())


def confirmed(memories: Iterable[Memory]) -> list[Memory]:
    """Without what an agent's tool wrote, unless a person pinned it: nobody said it in a session."""
    return [one for one in memories if one.pinned or not one.provenance.captured_by]


def not_outlived(memories: Iterable[Memory], register: Register) -> list[Memory]:
    """Without habits that repeat a rule which was replaced after it was said last."""
    return [one for one in memories if _last_source(one) not in register.outdated]


def _last_source(memory: Memory) -> str:
    sources = memory.meta.get("sources") if memory.derived else None
    return str(sources[-1]) if isinstance(sources, list) and sources else ""


def lasting(memories: Iterable[Memory]) -> list[Point]:
    """What was pinned or kept for good, then habits; newest first. Topics only repeat what was said."""
    kept = newest(
        m
        for m in memories
        if m.pinned or (m.tier in _LASTING and not (m.derived and m.tier != "procedural"))
    )
    kept.sort(key=lambda m: m.derived)
    return _distinct(Point(_point(m.text), m, "known") for m in kept)


def decisions(memories: Iterable[Memory], successors: frozenset[int]) -> list[Point]:
    """What was decided or put right, newest first. `successors` superseded something."""
    return _distinct(_decisions(newest(memories), successors))


def rulings_in_passing(memories: Iterable[Memory]) -> list[Point]:
    """What people ruled in an aside and may have meant for once, newest first."""
    points = (point for memory in newest(memories) for point in _ruled(memory))
    return _distinct(points, each=_RULES_OF_ONE)


def rules(register: Register) -> list[Point]:
    """What people want for good, newest version only; first what is plainest to follow.

    Not what was said together with a rule that is outdated by now: whoever looks the turn up would find
    both. It comes with the prompts that it applies to.
    """
    firm = [
        rule
        for rule in register.holding
        if rule.ruling.firm and rule.memory.key not in register.newer
    ]
    firm.sort(key=lambda rule: -rule.ruling.weight)
    points = (Point(_point(one.ruling.sentence), one.memory, "standing rule") for one in firm)
    return _distinct(points, each=_RULES_OF_ONE)


def sittings(memories: Iterable[Memory]) -> list[Sitting]:
    """The sessions among the memories, the one that ended last first."""
    said = [memory for memory in memories if memory.provenance.session_id]
    said.sort(key=lambda m: (m.provenance.session_id, m.at.micros, m.key))
    found = [
        Sitting(tuple(turns)) for _, turns in groupby(said, key=lambda m: m.provenance.session_id)
    ]
    return sorted(found, key=lambda sitting: (-sitting.last.at.micros, -sitting.last.key))


def open_threads(found: Sequence[Ended], limit: int = 40) -> list[Point]:
    """What was left open in the latest exchanges: a question without an answer, a next step."""
    return _distinct(
        Point(
            _point(text),
            memory,
            "asked last, without an answer" if memory.role == "user" else "left open",
        )
        for text, memory in left_open(found, limit)
    )


def learned_by_others(memories: Iterable[Memory], agent_id: str, since: int | None) -> list[Point]:
    """The latest word of every other agent's session since this one last ran."""
    others = [
        memory
        for memory in memories
        if memory.provenance.agent_id not in ("", agent_id)
        and (since is None or memory.at.micros > since)
    ]
    points: list[Point] = []
    for sitting in sittings(others):
        answered = [turn for turn in sitting.turns if turn.role != "user"]
        latest = answered[-1] if answered else sitting.last
        points.append(Point(_point(_first_sentence(latest)), latest, "learned by a colleague"))
    return points


def newest(memories: Iterable[Memory]) -> list[Memory]:
    return sorted(memories, key=lambda m: (-m.at.micros, -m.key))


def _point(text: str) -> str:
    return shortened(text, _LONGEST_POINT)


def _decisions(memories: Sequence[Memory], successors: frozenset[int]) -> Iterator[Point]:
    for memory in memories:
        if memory.key in successors:
            yield Point(_point(memory.text), memory, "correction")
        elif memory.role != "user":
            # Most of what an assistant says with these words is a proposal.
            yield from _matching(memory, _REPORTED, "decision")
        else:
            yield from _matching(memory, _CORRECTED, "correction")
            yield from _matching(memory, _DECIDED, "decision")


def _ruled(memory: Memory) -> Iterator[Point]:
    """In a short prompt, that is: a long one was pasted."""
    if memory.role != "user" or len(memory.text) > _LONGEST_ASIDE:
        return
    for one in rulings(memory.text):
        if one.passing and not one.firm:
            yield Point(_point(one.sentence), memory, "ruled in passing", _refused(memory))


def _refused(memory: Memory) -> str:
    refused = memory.meta.get("rejected")
    return shortened(refused, _LONGEST_REFUSED) if isinstance(refused, str) else ""


def _matching(memory: Memory, pattern: re.Pattern[str], why: str) -> Iterator[Point]:
    if pattern.search(memory.text, 0, _LOOKED_AT) is None:
        return
    for sentence in _sentences(memory):
        found = pattern.search(sentence)
        if found is not None and count(sentence) >= _FEWEST_WORDS:
            yield Point(_around(sentence, found), memory, why)


def _around(sentence: str, found: re.Match[str]) -> str:
    """A long sentence is cut down to the clauses around what was found in it."""
    if len(sentence) <= _LONGEST_POINT:
        return _point(sentence)
    ends = [match.end() for match in _CLAUSE.finditer(sentence)]
    start = max([end for end in ends if end <= found.start()], default=0)
    rest = sentence[start : start + _LONGEST_POINT]
    return ("…" if start else "") + shortened(rest, _LONGEST_POINT - 40)


def _sentences(memory: Memory) -> list[str]:
    found = passages(memory.text[:_LOOKED_AT], limit=60)
    return [
        sentence
        for sentence in found
        if len(sentence) >= _SHORTEST_POINT
        and not sentence.startswith(("```", "|", "{", "$ "))
        and "?" not in sentence[-2:]
    ]


def _first_sentence(memory: Memory) -> str:
    found = passages(memory.text[:_LOOKED_AT], limit=60)
    return found[0] if found else memory.text


def _distinct(points: Iterable[Point], each: int = 1) -> list[Point]:
    """Points whose words were not said before, at most `each` per memory.

    A sentence that was pasted again with more around it, or cut, is the same.
    """
    words: list[str] = []
    memories: Counter[int] = Counter()
    kept: list[Point] = []
    for point in points:
        bare = "".join(c for c in point.text.lower() if c.isalnum())
        again = any(bare in one or one in bare for one in words)
        if bare and not again and memories[point.memory.key] < each:
            words.append(bare)
            memories[point.memory.key] += 1
            kept.append(point)
    return kept
