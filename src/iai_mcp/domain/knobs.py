"""The settings of the memory that people and agents can turn: few, typed, each with an effect."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from functools import lru_cache

from iai_mcp.domain.errors import InvalidInput
from iai_mcp.domain.prompt_match import MODES, Mode

Value = int | float | str


@dataclass(frozen=True, slots=True)
class Knobs:
    """All of them, at their values of this moment. The defaults are the defaults."""

    injection_depth: int = 900
    prompt_injection: Mode = "auto"
    recency_weight: float = 0.0
    project_preference: float = 0.5
    verbosity: str = "long"
    learning: str = "on"
    work: str = "on"
    after_failure: str = "on"
    retention_days: int = 0
    retention_mb: int = 0


@dataclass(frozen=True, slots=True)
class Knob:
    """One setting: what it does, what it may be, and how a given value is read."""

    name: str
    says: str
    takes: str
    read: Callable[[object], Value | None]  # None when the value can not be used


def _whole(low: int, high: int) -> tuple[str, Callable[[object], Value | None]]:
    def read(given: object) -> int | None:
        number = _number(given)
        if number is None or number != int(number) or not low <= number <= high:
            return None
        return int(number)

    return f"a whole number from {low} to {high}", read


def _share() -> tuple[str, Callable[[object], Value | None]]:
    def read(given: object) -> float | None:
        number = _number(given)
        return number if number is not None and 0.0 <= number <= 1.0 else None

    return "a number from 0 to 1", read


def _one_of(*choices: str) -> tuple[str, Callable[[object], Value | None]]:
    def read(given: object) -> str | None:
        if isinstance(given, bool):
            given = "on" if given else "off"
        word = given.strip().lower() if isinstance(given, str) else ""
        return word if word in choices else None

    return " | ".join(choices), read


def _number(given: object) -> float | None:
    if isinstance(given, bool) or not isinstance(given, int | float | str):
        return None
    try:
        number = float(given)
    except (ValueError, OverflowError):
        return None
    return number if -1e9 < number < 1e9 else None


KNOBS: Mapping[str, Knob] = {
    knob.name: knob
    for knob in (
        Knob(
            "injection_depth",
            "tokens of memory that a new session is told; 0 tells it nothing",
            *_whole(0, 8000),
        ),
        Knob(
            "prompt_injection",
            "memories given with a prompt: never, only when sure (auto), or when close (on)",
            *_one_of(*MODES),
        ),
        Knob(
            "recency_weight",
            "how much recall prefers what was said lately; 0 not at all",
            *_share(),
        ),
        Knob(
            "project_preference",
            "how much recall prefers the project you are in; 0 treats all alike",
            *_share(),
        ),
        Knob(
            "verbosity",
            "how much a hit's reason says: the two legs that spoke most, or one",
            *_one_of("long", "short"),
        ),
        Knob(
            "learning",
            "whether sleep finds topics, and recall prefers what was useful together",
            *_one_of("on", "off"),
        ),
        Knob(
            "work",
            "whether commands and edits of agents are remembered beside what was said",
            *_one_of("on", "off"),
        ),
        Knob(
            "after_failure",
            "whether an agent whose command failed is told what mended the very same failure before",
            *_one_of("on", "off"),
        ),
        Knob(
            "retention_days",
            "sleep forgets, for good, what is older and not pinned; 0 keeps everything",
            *_whole(0, 36500),
        ),
        Knob(
            "retention_mb",
            "megabytes of words and vectors kept; beyond, sleep forgets agents' notes and then the oldest; 0 keeps everything",
            *_whole(0, 1_000_000),
        ),
    )
}
assert set(KNOBS) == {field.name for field in fields(Knobs)}  # noqa: S101 - the two tables are one


def knob_named(name: str) -> Knob:
    """The knob of that name.

    Raises:
        InvalidInput: there is none; the sentence names those there are.
    """
    knob = KNOBS.get(name)
    if knob is None:
        raise InvalidInput(f"there is no knob {name[:40]!r}: choose one of {', '.join(KNOBS)}")
    return knob


def read_value(knob: Knob, given: object) -> Value:
    """The value as the knob understands it.

    Raises:
        InvalidInput: it can not be that; the sentence names what it takes.
    """
    value = knob.read(given)
    if value is None:
        raise InvalidInput(f"{knob.name} takes {knob.takes}, not {str(given)[:40]!r}")
    return value


def from_stored(stored: Mapping[str, str]) -> Knobs:
    """The knobs as they were set; a value that this version can not use counts as not set."""
    return _read_all(frozenset(stored.items()))


@lru_cache(maxsize=4)
def _read_all(settings: frozenset[tuple[str, str]]) -> Knobs:
    """Every recall asks, and they are hardly ever turned."""
    stored = dict(settings)
    values: dict[str, Value] = dict(asdict(Knobs()))
    for name, knob in KNOBS.items():
        value = knob.read(stored[name]) if name in stored else None
        if value is not None:
            values[name] = value
    return Knobs(**values)  # type: ignore[arg-type] # each knob's reader gave its own type
