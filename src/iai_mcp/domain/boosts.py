"""What recent and near memories gain over others in ranking. Bounded, so that merit decides."""

from iai_mcp.domain.knobs import Knobs

# At full weight a memory of this moment counts half again; after a month a quarter.
_RECENCY = 0.5
_RECENCY_HALF_LIFE_DAYS = 30.0
# At full preference the caller's project counts a fifth more.
_PROJECT = 0.2
_MICROS_PER_DAY = 86_400_000_000


def boosted(score: float, knobs: Knobs, *, age_micros: int, own_project: bool) -> float:
    """The score of a memory with what it gains as the knobs say. `score` must not be negative."""
    days = max(0.0, age_micros / _MICROS_PER_DAY)
    recent: float = 0.5 ** (days / _RECENCY_HALF_LIFE_DAYS)
    factor = 1.0 + knobs.recency_weight * _RECENCY * recent
    if own_project:
        factor *= 1.0 + knobs.project_preference * _PROJECT
    return score * factor
