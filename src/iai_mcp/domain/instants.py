"""Moments in time: parsed once at the door, kept as given, compared as microseconds."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from iai_mcp.domain.errors import InvalidInput

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICRO = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Instant:
    """A moment: `micros` since the epoch for comparing, `text` as it was given for showing."""

    micros: int
    text: str


def instant(value: object, *, name: str = "ts") -> Instant:
    """Parse ISO-8601 text; without an offset it means UTC.

    Raises:
        InvalidInput: it is not ISO-8601.
    """
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(f"{name} must be an ISO-8601 time such as 2026-03-01T09:30:00Z")
    text = value.strip()
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        micros = (moment - _EPOCH) // _MICRO
        iso(
            micros
        )  # year 0 and year 10000, an offset away from the calendar's ends, can not be shown
        return Instant(micros, text)
    except (ValueError, OverflowError) as bad:
        raise InvalidInput(
            f"{name} must be an ISO-8601 time such as 2026-03-01T09:30:00Z, not {text[:40]!r}"
        ) from bad


def from_micros(micros: int) -> Instant:
    return Instant(micros, iso(micros))


def iso(micros: int) -> str:
    """The moment in UTC, as ISO-8601 with microseconds."""
    return (_EPOCH + timedelta(microseconds=micros)).isoformat(timespec="microseconds")
