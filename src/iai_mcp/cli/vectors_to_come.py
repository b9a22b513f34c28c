"""What to tell people of the time until memories are found by meaning."""

# Turns a second on one core: 7,600 of real sessions took ten minutes.
_PACE = 12.5


def about(memories: int) -> str:
    """How long the vectors of so many memories take, in round words; empty for none."""
    minutes = memories / _PACE / 60
    if not memories:
        return ""
    if minutes < 1:
        return "less than a minute"
    if minutes < 90:
        return f"about {round(minutes)} minute{'s' if round(minutes) != 1 else ''}"
    return f"about {round(minutes / 60)} hours"


def sentence(memories: int) -> str:
    """The same for what is stored already; empty where nothing is."""
    if not memories:
        return ""
    return f"{memories} memories get vectors in the background: {about(memories)}; recall works by words meanwhile"
