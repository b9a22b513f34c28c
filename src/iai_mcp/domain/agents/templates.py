"""Templates with versions, and how an agent follows one without losing what was edited by hand."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from iai_mcp.domain.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Template:
    """A persona to start from. `where` is `project` or `user`."""

    id: str
    version: int
    text: str
    where: str

    def __post_init__(self) -> None:
        if not self.id.strip():
            raise InvalidInput("a template has an id, and this one was blank")
        if self.version < 1:
            raise InvalidInput(f"a template's versions start at 1, not at {self.version}")


class SyncState(StrEnum):
    """How an agent's persona stands to its template."""

    UP_TO_DATE = "up_to_date"  # the template has nothing new
    FOLLOWS = "follows"  # nobody edited the persona: the new text simply replaces it
    MERGES = "merges"  # both changed, in different places
    CONFLICTS = "conflicts"  # both changed the same lines
    BASE_LOST = "base_lost"  # what the agent started from is gone, so edits can not be told apart


@dataclass(frozen=True, slots=True)
class Comparison:
    """A three-way comparison. `result` is what synchronizing would write, where that is clear."""

    state: SyncState
    template_diff: str
    hand_diff: str
    result: str | None


def compare(base: str | None, mine: str, theirs: str) -> Comparison:
    """Compare the text both started from, the agent's persona, and the template as it is now."""
    if mine == theirs:
        return Comparison(SyncState.UP_TO_DATE, "", "", mine)
    if base is None:
        return Comparison(SyncState.BASE_LOST, _diff(mine, theirs, "persona", "template"), "", None)
    template_diff = _diff(base, theirs, "template before", "template now")
    hand_diff = _diff(base, mine, "template before", "persona")
    if base == theirs:
        return Comparison(SyncState.UP_TO_DATE, "", hand_diff, mine)
    if base == mine:
        return Comparison(SyncState.FOLLOWS, template_diff, "", theirs)
    merged = merge(base, mine, theirs)
    state = SyncState.CONFLICTS if merged is None else SyncState.MERGES
    return Comparison(state, template_diff, hand_diff, merged)


def _diff(before: str, after: str, from_name: str, to_name: str) -> str:
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), from_name, to_name
    )
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


@dataclass(frozen=True, slots=True)
class _Change:
    """Lines `start:end` of the base become `lines`."""

    start: int
    end: int
    lines: tuple[str, ...]


def merge(base: str, mine: str, theirs: str) -> str | None:
    """Both sets of changes applied to `base`; None where they touch the same lines, or adjoin."""
    original = base.splitlines(keepends=True)
    ours = _changes(original, mine.splitlines(keepends=True))
    others = _changes(original, theirs.splitlines(keepends=True))
    joined = list(ours)
    for change in others:
        if change in ours:
            continue
        if any(_touch(change, own) for own in ours):
            return None
        joined.append(change)
    result = list(original)
    for change in sorted(joined, key=lambda each: (each.start, each.end), reverse=True):
        result[change.start : change.end] = change.lines
    return "".join(result)


def _changes(base: Sequence[str], changed: Sequence[str]) -> list[_Change]:
    matcher = difflib.SequenceMatcher(None, base, changed, autojunk=False)
    return [
        _Change(b0, b1, tuple(changed[c0:c1]))
        for tag, b0, b1, c0, c1 in matcher.get_opcodes()
        if tag != "equal"
    ]


def _touch(one: _Change, other: _Change) -> bool:
    return one.start <= other.end and other.start <= one.end
