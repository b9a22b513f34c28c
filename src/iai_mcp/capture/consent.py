"""What may be captured at all. People say no in three ways, and each is final:

- `iai-mcp capture pause`: nothing until `resume`, and what was said meanwhile not even then.
- `<user data>/never-capture`: one path, glob or project name per line.
- `.iai-ignore` in a directory: an empty one keeps its whole tree out, else its patterns
  (as in a `.gitignore`) say which directories below it.
"""

import os
import time

from iai_mcp import paths

TYPE_CHECKING = False  # see compact_json
if TYPE_CHECKING:
    from collections.abc import Iterator

IGNORE_FILE = ".iai-ignore"

_LONGEST_LIST = 1024 * 1024


def may_capture(cwd: str | None, project: str | None = None) -> bool:
    """Whether what is said in `cwd` (and `project`, a name or a path) may be captured now."""
    return refusal(cwd, project) is None


def refusal(cwd: str | None, project: str | None = None) -> str | None:
    """Why it may not, in a word or two; None if it may."""
    if paused():
        return "paused"
    return place_refusal(cwd, project)


def place_refusal(cwd: str | None, project: str | None = None) -> str | None:
    """The same without the pause: what the place itself says."""
    places = [os.path.abspath(os.path.expanduser(p)) for p in (cwd, project) if p and "/" in p]
    names = [project] if project and "/" not in project else []
    names += [os.path.basename(place) for place in places]
    if any(_is_listed(places, names)):
        return "listed in never-capture"
    return "ignored by .iai-ignore" if any(map(_is_ignored, places)) else None


def paused() -> bool:
    return os.path.exists(_marker())


def paused_since() -> float | None:
    """When the pause that lasts began, as seconds since the epoch; None if there is none."""
    if not paused():
        return None
    try:
        return float(_lines(_marker())[0])
    except (IndexError, ValueError):
        return os.stat(_marker()).st_mtime


def pause() -> None:
    """Capture nothing from now on."""
    if not paused():
        # Never later than now: what is said in the same millisecond is in the pause already.
        _append(_marker(), f"{int(time.time() * 1000) / 1000:.3f}\n")


def resume() -> None:
    """Capture again; the time since `pause` is remembered as one that is not captured."""
    since = _lines(_marker())
    if paused():
        start = since[0] if since else f"{os.stat(_marker()).st_mtime:.3f}"
        _append(_history(), f"{start} {(int(time.time() * 1000) + 1) / 1000:.3f}\n")
        os.unlink(_marker())


def muted(ts: object, intervals: list[tuple[float, float]]) -> bool:
    """Whether a turn of that time was said during a pause."""
    if not intervals or not isinstance(ts, str):
        return False
    from datetime import UTC, datetime  # late: only who has ever paused pays for it

    try:
        moment = datetime.fromisoformat(ts)
    except ValueError:
        return False
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    seconds = moment.timestamp()
    return any(start <= seconds <= end for start, end in intervals)


def pauses() -> list[tuple[float, float]]:
    """The pauses that are over, as seconds since the epoch."""
    found: list[tuple[float, float]] = []
    for line in _lines(_history()):
        start, _, end = line.partition(" ")
        try:
            found.append((float(start), float(end)))
        except ValueError:
            continue  # a line of somebody else's making
    return found


def _marker() -> str:
    return paths.in_user_data("capture-paused")


def _history() -> str:
    return paths.in_user_data("capture-pauses")


def _append(path: str, line: str) -> None:
    paths.private_dir(paths.user_data())
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, line.encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _lines(path: str) -> list[str]:
    """The lines of a list, without blanks and comments."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            text = file.read(_LONGEST_LIST)
    except (OSError, ValueError):
        return []
    stripped = (line.strip() for line in text.splitlines())
    return [line for line in stripped if line and not line.startswith("#")]


def _is_listed(places: list[str], names: list[str]) -> "Iterator[bool]":
    for entry in _lines(paths.in_user_data("never-capture")):
        if "/" not in entry and entry != "~":
            from fnmatch import fnmatchcase

            yield any(fnmatchcase(name, entry) for name in names)
            continue
        listed = os.path.expanduser(entry).rstrip("/") or "/"
        wanted = [part for part in listed.split("/") if part]
        for place in places:
            yield any(matches(wanted, above) for above in _prefixes(place))


def _is_ignored(place: str) -> bool:
    """Whether an `.iai-ignore` at or above the place keeps it out; the nearest that speaks wins."""
    here, below = place, ""
    while True:
        file = os.path.join(here, IGNORE_FILE)
        if os.path.lexists(file):
            patterns = _lines(file)
            verdict = _verdict(patterns, below) if patterns else True
            if verdict is not None:
                return verdict
        parent = os.path.dirname(here)
        if parent == here:
            return False
        below = os.path.join(os.path.basename(here), below) if below else os.path.basename(here)
        here = parent


def _verdict(patterns: list[str], below: str) -> bool | None:
    """What the patterns say of a directory below theirs: the last that matches decides."""
    verdict: bool | None = None
    for pattern in patterns:
        wanted = pattern.removeprefix("!").rstrip("/")
        anchored = "/" in wanted
        parts = [part for part in wanted.split("/") if part]
        if not anchored:
            parts.insert(0, "**")
        if any(matches(parts, prefix) for prefix in _prefixes(below)):
            verdict = not pattern.startswith("!")
    return verdict


def _prefixes(path: str) -> "Iterator[list[str]]":
    """The path and every directory above it, each as its parts."""
    parts = [part for part in path.split("/") if part]
    for length in range(1, len(parts) + 1):
        yield parts[:length]


def matches(pattern: list[str], parts: list[str]) -> bool:
    """Whether the parts of a path are what the pattern says; `**` stands for any number of them."""
    if not pattern:
        return not parts
    if pattern[0] == "**":
        return any(matches(pattern[1:], parts[start:]) for start in range(len(parts) + 1))
    if not parts:
        return False
    from fnmatch import fnmatchcase

    return fnmatchcase(parts[0], pattern[0]) and matches(pattern[1:], parts[1:])
