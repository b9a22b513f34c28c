"""What a search for secrets yields, and how it begins.

Every search takes the text and, where case plays no part, the text in lower case, letter by letter,
so that places in the one are places in the other.
"""

# start, end, kind
Span = tuple[int, int, str]


def has_any(text: str, needles: tuple[str, ...]) -> bool:
    """Whether it is worth while to look any closer."""
    # A generator would cost more than the search itself.
    return any([needle in text for needle in needles])  # noqa: C419
