"""Memories, names and files that try to act on the terminal of whoever looks at them."""

from collections.abc import Callable, Iterator

from bench.attacks.outcome import Outcome
from bench.hostile_home import NAME, WORDS, HostileHome, acts

_LOOKS = (
    ("recall", "postgres", "--context", "2"),
    ("timeline", "--all"),
    ("why",),
    ("forget", "--query", "postgres", "--dry-run"),
    ("events",),
    ("project", "list"),
    ("privacy",),
    ("template", "list"),
    ("template", "show", "plain"),
    ("skill", "list"),
    ("skill", "show", "plain"),
    ("session", "list"),
    ("session", "logs", "{session}"),
    ("agent", "list"),
    ("agent", "show", "Ann"),
    ("agent", "sync", "Ann", "--dry-run"),
    ("agent", "launch", "Ann", "--print-only"),
    ("profile", "list"),
    ("hosts", "install", "--dry-run", "--diff"),
    ("capture", "status"),
    ("import", f"/none/{NAME}"),
    ("status",),
    ("doctor",),
    ("export",),
    ("recall", WORDS.replace("\0", ""), f"--{NAME}"),
)


def attacks() -> Iterator[Outcome]:
    home = HostileHome()
    try:
        home.furnish()
        yield _tried("at a terminal", home, home.at_terminal)
        yield _tried("as JSON at a terminal", home, lambda *look: home.at_terminal(*look, "--json"))
        yield _tried("through a pipe", home, lambda *look: home.piped(*look)[1])
    finally:
        home.remove()


def _tried(how: str, home: HostileHome, look: Callable[..., bytes]) -> Outcome:
    looks = [[word.replace("{session}", home.session) for word in words] for words in _LOOKS]
    held = sum(not acts(look(*words)) for words in looks)
    return Outcome(f"escapes in memories, names and files, seen {how}", held, len(looks))
