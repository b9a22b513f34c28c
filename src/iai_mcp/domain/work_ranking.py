"""Ranks commands and edits that were found for a question: values in, values out."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from iai_mcp.domain.commands import same_command
from iai_mcp.domain.telling import is_looking
from iai_mcp.domain.words import words
from iai_mcp.domain.work import Command, Edit, Record

_USES = 0.1  # of the score, for each doubling of the uses
_NEVER_WORKED = 0.6
_ONLY_LOOKS = 0.3  # what only reads is rarely what somebody asks how to do
_SHARED = 0.6  # of the score, for the share of the asked words that it has
_SUBCOMMANDS = 3
_FLAGS = 6
_WORD = re.compile(r"[A-Za-z][\w:.-]*")


@dataclass(frozen=True, slots=True)
class Ranked:
    """Runs of one command that were found; `shown` stands for them."""

    shown: Record
    runs: int
    score: float


def rank_commands(
    found: Sequence[tuple[Record, float]], uses: Mapping[str, int], *, worked_first: bool = True
) -> list[Ranked]:
    """Commands, best first, each variant once: how well it fits, how often it ran, whether it worked.

    The run that is shown is the newest that succeeded, if one did. A command that a person refused
    never ran: it is an answer only where failures are asked for.
    """
    groups: dict[tuple[str, ...], list[tuple[Record, float]]] = {}
    for record, score in found:
        if isinstance(record.done, Command) and not (worked_first and record.done.rejected):
            groups.setdefault(shape(record.done.command), []).append((record, score))
    ranked = [_ranked(runs, uses, worked_first=worked_first) for runs in groups.values()]
    return sorted(ranked, key=lambda one: (-one.score, -one.shown.at.micros, -one.shown.key))


def shape(command: str) -> tuple[str, ...]:
    """What the variants of a command share: the program, its subcommands, and the names of its flags."""
    parts = same_command(command).split()
    named: list[str] = []
    for part in parts[: _SUBCOMMANDS + 1]:
        if len(named) == _SUBCOMMANDS or not _WORD.fullmatch(part):
            break
        named.append(part)
    flags = sorted({part.partition("=")[0] for part in parts if part.startswith("-")})[:_FLAGS]
    return (*(named or parts[:1]), *flags)


def nearer(ranked: Sequence[Ranked], cosines: Sequence[float]) -> list[Ranked]:
    """The best of them, ordered by meaning too; the rest as they were."""
    best = [
        replace(one, score=one.score * (1 + max(0.0, cosine)))
        for one, cosine in zip(ranked, cosines, strict=False)
    ]
    return [*sorted(best, key=lambda one: -one.score), *ranked[len(best) :]]


def _ranked(
    runs: Sequence[tuple[Record, float]], uses: Mapping[str, int], *, worked_first: bool
) -> Ranked:
    best = max(score for _, score in runs)
    worked = [record for record, _ in runs if _worked(record)]
    shown = max(worked or [record for record, _ in runs], key=lambda one: (one.at.micros, one.key))
    same = {same_command(_command(record)) for record, _ in runs}
    count = max(len(runs), sum(uses.get(command, 0) for command in same))
    score = best * (1 + _USES * math.log2(max(count, 1)))
    if worked_first and not worked:
        score *= _NEVER_WORKED
    if is_looking(_command(shown)):
        score *= _ONLY_LOOKS
    return Ranked(shown, count, score)


def _command(record: Record) -> str:
    return record.done.command if isinstance(record.done, Command) else ""


def _worked(record: Record) -> bool:
    done = record.done
    return isinstance(done, Command) and not done.failed and not done.rejected


def covered(record: Record, asked: str, terms: Sequence[str]) -> float:
    """How much of the asked words stands in what was done and what it was for: 0 to 1."""
    done = record.done
    own = [record.note, asked]
    own += [done.command, done.output] if isinstance(done, Command) else []
    own += [done.path, *done.names] if isinstance(done, Edit) else []
    have = {stem(word) for word in {word for text in own for word in words(text)}}
    wanted = {stem(term) for term in terms}
    return len(have & wanted) / len(wanted) if wanted else 0.0


def stem(word: str) -> str:
    """Roughly what the index makes of a word."""
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def weighed(strength: float, share: float) -> float:
    """One rare word does not outweigh all the others that were asked for."""
    return strength * (1 - _SHARED + _SHARED * share)


_OF_FAILURE = re.compile(
    r"\b(?:fail\w*|error\w*|reject\w*|refus\w*|complain\w*|chok\w*|broke\w*|crash\w*|wrong|not work\w*|did ?n[o']t work)\b",
    re.IGNORECASE,
)


def is_about_failure(question: str) -> bool:
    """Whether somebody asks for what did not work."""
    return _OF_FAILURE.search(question) is not None
