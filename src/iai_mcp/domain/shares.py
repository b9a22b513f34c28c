"""How the room of an answer is shared among its hits, best first."""

from collections.abc import Sequence
from dataclasses import dataclass

SHORT = 320  # bytes: a text that is no longer stays whole
# What the longer ones get of the rest, by place: the first answer is the likeliest by far.
_BY_PLACE = (1200, 900, 600, 400, 400, 350)
_BEHIND = 300


@dataclass(frozen=True, slots=True)
class Cost:
    """The bytes of a hit: of its text as a whole, and of all that stands around it."""

    text: int
    around: int

    @property
    def all(self) -> int:
        return self.text + self.around

    @property
    def least(self) -> int:
        """What it takes if as little of its text is shown as may be."""
        return min(self.text, SHORT) + self.around


def shares(
    hits: Sequence[Cost], room: int, *, whole: bool = False, needed: bool = True
) -> list[int | None]:
    """How many bytes the text of each may have; None for what is not shown.

    If `whole`, each text is shown as it is or not at all. The first is shown in any case if `needed`.
    """
    found: list[int | None] = []
    for cost in hits:
        least = cost.text if whole else min(cost.text, SHORT)
        fits = (needed and not found) or cost.around + least <= room
        found.append(least if fits else None)
        room -= cost.around + least if fits else 0
    longer = [
        place for place, own in enumerate(found) if own is not None and own < hits[place].text
    ]
    left = sum(map(_worth, longer))
    for place in longer:
        if room <= 0:
            break
        least = found[place] or 0
        more = min(hits[place].text - least, room * _worth(place) // left)
        found[place] = least + more
        room -= more
        left -= _worth(place)
    return found


def _worth(place: int) -> int:
    return _BY_PLACE[place] if place < len(_BY_PLACE) else _BEHIND
