"""`Curve` by FSRS, the spaced-repetition model of Anki. Its library is imported when sleep needs it."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from iai_mcp.ports.learned import Trace, Use

if TYPE_CHECKING:
    from fsrs import Card, Scheduler

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_CALLED_USEFUL = 2


class FsrsCurve:
    """A memory is a card: saying it is its first review, each use a further one."""

    def __init__(self) -> None:
        self._scheduler: Scheduler | None = None

    def first(self, at: int) -> Trace:
        from fsrs import Card, Rating

        # The card's own id and due date are of no use here; given, they cost nothing.
        card, _ = self._loaded().review_card(Card(card_id=0, due=_EPOCH), Rating.Good, _moment(at))
        return _trace(card, at)

    def used(self, trace: Trace, use: Use) -> Trace:
        from fsrs import Rating

        rating = Rating.Easy if use.weight >= _CALLED_USEFUL else Rating.Good
        at = max(use.at, trace.used_at)
        card, _ = self._loaded().review_card(_card(trace), rating, _moment(at))
        return _trace(card, at)

    def strength(self, trace: Trace, now: int) -> float:
        return float(self._loaded().get_card_retrievability(_card(trace), _moment(now)))

    def _loaded(self) -> "Scheduler":
        if self._scheduler is None:
            from fsrs import Scheduler

            self._scheduler = Scheduler(
                learning_steps=(), relearning_steps=(), enable_fuzzing=False
            )
        return self._scheduler


def _card(trace: Trace) -> "Card":
    from fsrs import Card, State

    return Card(
        card_id=0,
        state=State.Review,
        stability=trace.stability,
        difficulty=trace.difficulty,
        due=_EPOCH,
        last_review=_moment(trace.used_at),
    )


def _trace(card: "Card", at: int) -> Trace:
    return Trace(float(card.stability or 0.001), float(card.difficulty or 5.0), at)


def _moment(micros: int) -> datetime:
    return _EPOCH + timedelta(microseconds=max(0, micros))
