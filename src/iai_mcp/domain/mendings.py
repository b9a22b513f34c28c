"""What mended a failure: the steps between a command that failed and the same command that did not.

A failure is mended when the same command is run again and succeeds. Runs in between may fail with
another error: then what came before the first run without this error mended it. Where nobody ran
the same command again, but one like it, at once, and that succeeded, then that one mended it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from iai_mcp.domain.commands import errors_in, is_variant, same_command
from iai_mcp.domain.telling import is_looking
from iai_mcp.domain.work import Command, Done, Edit, Looked

_TRIES = re.compile(
    r"\b(?:test|tests|pytest|lint|check|vet|build|run|compile|typecheck|mypy|tsc|ruff)\b"
)
_NEARBY = 6  # commands later: a variant that comes after more than this has another purpose
_MOST_STEPS = 12
_FAR = 3_600 * 24 * 1_000_000  # microseconds: who comes back after a day began anew


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that was done in a session, in its order."""

    key: int
    at: int  # microseconds
    done: Done


@dataclass(frozen=True, slots=True)
class Mending:
    """A failed command, what mended it, and the run that showed it."""

    failure: int
    steps: tuple[int, ...]
    success: int


def mendings(steps: Sequence[Step]) -> list[Mending]:
    """All mendings among what was done in one session (or a part of it), in order."""
    ran = {n: step.done for n, step in enumerate(steps) if isinstance(step.done, Command)}
    same = {n: same_command(done.command) for n, done in ran.items()}
    found: list[Mending] = []
    for place, failure in ran.items():
        if failure.failed:
            mended = _same_again(steps, ran, same, place) or _variant(steps, failure, place)
            if mended is not None:
                found.append(mended)
    return found


def _same_again(
    steps: Sequence[Step], ran: Mapping[int, Command], same: Mapping[int, str], place: int
) -> Mending | None:
    errors = set(errors_in(ran[place].output))
    last = place
    without = success = None
    for later, done in ran.items():
        if later <= place or done.rejected or same[later] != same[place]:
            continue
        if steps[later].at - steps[place].at > _FAR:
            break
        if done.failed and errors & set(errors_in(done.output)):
            last = later
        elif without is None:
            without = later
        if not done.failed:
            success = later
            break
    if success is None or without is None:
        return None
    between = _useful(steps[last + 1 : without])
    return Mending(steps[place].key, between, steps[success].key) if between else None


def _variant(steps: Sequence[Step], failure: Command, place: int) -> Mending | None:
    """The command as it should have been: it comes soon after, and with no edit before it."""
    seen = 0
    for step in steps[place + 1 :]:
        done = step.done
        if isinstance(done, Edit) or step.at - steps[place].at > _FAR or seen >= _NEARBY:
            return None
        if isinstance(done, Command) and not done.rejected:
            seen += 1
            if (
                not done.failed
                and not is_looking(done.command)
                and is_variant(done.command, failure.command)
            ):
                return Mending(steps[place].key, (step.key,), step.key)
    return None


def _useful(steps: Sequence[Step]) -> tuple[int, ...]:
    """The last steps that can have changed something: who only looked has mended nothing."""
    kept = [step for step in steps if _changes(step.done)]
    if any(isinstance(step.done, Edit) for step in kept):
        # Where files were changed, commands that only tried them out changed nothing.
        kept = [step for step in kept if not _only_tries(step.done)]
    return tuple(step.key for step in kept[-_MOST_STEPS:])


def _only_tries(done: Done) -> bool:
    return isinstance(done, Command) and _TRIES.search(same_command(done.command)) is not None


def _changes(done: Done) -> bool:
    if isinstance(done, Looked):
        return False
    if isinstance(done, Command):
        return not done.rejected and not done.failed and not is_looking(done.command)
    return True
