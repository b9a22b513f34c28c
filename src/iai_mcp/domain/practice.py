"""The commands a project is worked with, learned from use: how it is tested, built, run."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from iai_mcp.domain.commands import same_command
from iai_mcp.domain.telling import is_reading
from iai_mcp.domain.work import Command, Record

_LEAST_USES = 2
_LONGEST = 200
# The first that fits decides: who tests after building wants to test.
_PURPOSES = tuple(
    (purpose, re.compile(pattern))
    for purpose, pattern in (
        ("test", r"\b(?:tests?|pytest|jest|vitest|rspec|ctest|phpunit|test:\w+)\b"),
        ("lint", r"\b(?:lint|ruff|eslint|flake8|mypy|clippy|golangci-lint|vet|typecheck|check)\b"),
        ("build", r"\b(?:build|compile|tsc|make|package|bundle)\b"),
        ("format", r"\b(?:fmt|format|gofmt|prettier|black|rustfmt)\b"),
        ("run", r"\b(?:run|start|serve|dev|up|exec)\b"),
        ("install", r"\b(?:install|sync|ci|tidy)\b"),
    )
)
# What is done in every project says nothing about this one.
_EVERYWHERE = re.compile(
    r"^(?:git|gh|cd|ls|cat|echo|mkdir|rm|cp|mv|touch|which|pwd|curl|for|while|if|sleep|kill|export|source)\b"
)


@dataclass(frozen=True, slots=True)
class Habit:
    """A command that this project is worked with, and the latest run of it."""

    purpose: str
    command: str
    uses: int
    latest: Record


def practice(runs: Sequence[Record], most: int = 5) -> list[Habit]:
    """For each purpose the command that was used most and worked; runs come newest first."""
    used: dict[str, list[Record]] = {}
    for record in runs:
        done = record.done
        if isinstance(done, Command) and not done.failed and not done.rejected:
            used.setdefault(same_command(done.command), []).append(record)
    habits: dict[str, Habit] = {}
    for command, records in sorted(used.items(), key=lambda one: -len(one[1])):
        purpose = _purpose(command)
        if purpose and len(records) >= _LEAST_USES and len(command) <= _LONGEST:
            habits.setdefault(purpose, Habit(purpose, command, len(records), records[0]))
    order = [purpose for purpose, _ in _PURPOSES]
    return sorted(habits.values(), key=lambda one: order.index(one.purpose))[:most]


def _purpose(command: str) -> str:
    """What a single command is for; what several do one after the other is left out."""
    if _EVERYWHERE.match(command) or re.search(r"&&|\|\||[;|\n<>]", command) or is_reading(command):
        return ""
    return next((purpose for purpose, pattern in _PURPOSES if pattern.search(command)), "")
