"""Parses the user's own redaction patterns.

    [[pattern]]
    name = "employee-id"          # shown as [secret:employee-id]
    regex = 'EMP-\\d{6}'           # group 1 is replaced, or the whole match without a group

A pattern that can not be used is reported and left out; the others work.
"""

import re
import tomllib
from dataclasses import dataclass

from iai_mcp.domain.redaction import Pattern

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
# What matters to the search for repetitions inside repetitions: escapes and sets are skipped.
_STEP = re.compile(
    r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|(?P<open>\()|(?P<close>\))|(?P<endless>[*+]|\{\d*,\})",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class UserPatterns:
    """What a user's file came to: the patterns that work, and a sentence per one that does not."""

    patterns: tuple[Pattern, ...] = ()
    problems: tuple[str, ...] = ()


def parse(text: str) -> UserPatterns:
    """The patterns in the text of a `redaction.toml`."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return UserPatterns(problems=(f"it is not TOML: {error}",))
    rows = document.get("pattern", [])
    if not isinstance(rows, list):
        return UserPatterns(problems=("write each pattern below a line [[pattern]]",))
    patterns: list[Pattern] = []
    problems: list[str] = []
    for number, row in enumerate(rows, start=1):
        made = _pattern(row)
        if isinstance(made, Pattern):
            patterns.append(made)
        else:
            problems.append(f"pattern {number}: {made}")
    return UserPatterns(tuple(patterns), tuple(problems))


def _pattern(row: object) -> Pattern | str:
    """The pattern of one row, or what is wrong with it."""
    if not isinstance(row, dict):
        return "write it as name = … and regex = … below a line [[pattern]]"
    name, regex = row.get("name"), row.get("regex")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        return "it needs a name of small letters, digits and dashes"
    if not isinstance(regex, str) or not regex:
        return f"'{name}' needs a regex"
    try:
        expression = re.compile(regex)
    except (re.error, RecursionError, OverflowError) as error:
        return f"the regex of '{name}' does not compile: {error}"
    if _repeats_a_repetition(regex):
        return f"the regex of '{name}' repeats a repetition and may never end: bound one of them"
    return Pattern(name, expression)


def _repeats_a_repetition(regex: str) -> bool:
    """Whether an endless repetition holds another one: `(a+)+` takes for ever on some texts."""
    open_groups = [False]
    closed_at, closed_endless = -1, False
    for step in _STEP.finditer(regex):
        if step["open"]:
            open_groups.append(False)
        elif step["close"] and len(open_groups) > 1:
            closed_at, closed_endless = step.end(), open_groups.pop()
            open_groups[-1] |= closed_endless
        elif step["endless"]:
            if closed_endless and step.start() == closed_at:
                return True
            open_groups[-1] = True
    return False
