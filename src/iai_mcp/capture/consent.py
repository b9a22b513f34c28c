"""What may be captured at all. People say no in three ways, and each is final:

- `iai-mcp capture pause`: nothing until `resume`, and what was said meanwhile not even then.
- `<user data>/never-capture`: one path, glob or project name per line.
- `.iai-ignore` in a directory: an empty one keeps its whole tree out, else its patterns
  (as in a `.gitignore`) say which directories below it.

What agents do is remembered unless `<user data>/never-capture-work` names the place, in the same
way; `*` is every place.

A list that can not be read is a no, too: whoever made it wanted something to be left out.
"""

import os
import time

from iai_mcp import paths, regular_files

TYPE_CHECKING = False  # see compact_json
if TYPE_CHECKING:
    from collections.abc import Iterator

IGNORE_FILE = ".iai-ignore"
NEVER = "never-capture"
NEVER_WORK = "never-capture-work"
EVERYWHERE = "*"

_LONGEST_LIST = 1024 * 1024  # of the user's own lists
_LONGEST_IGNORE = 16 * 1024  # a project's; the more patterns, the longer everybody waits for them
_LASTED = "lasted"  # how long the pause of the line before was: a line that an older version skips
_NOT_SET = 1.0  # seconds by which a clock is kept right without anybody noticing
_DOUBTFUL = 3600.0  # seconds before the end of a pause that began, by the clock, after it


class Turns:
    """Which turns of one session may be captured; each place is looked at once."""

    __slots__ = ("_allowed", "_pauses", "_work")

    def __init__(self, *allowed: str) -> None:
        """`allowed` are places that were asked about before."""
        self._allowed = dict.fromkeys(allowed, True)
        self._work: dict[str, bool] = {}
        self._pauses = pauses()

    def may_be_captured(self, cwd: str, ts: object) -> bool:
        """Whether what was said there and then is welcome."""
        if cwd not in self._allowed:
            self._allowed[cwd] = place_refusal(cwd) is None
        return self._allowed[cwd] and not muted(ts, self._pauses)

    def is_wanted(self, event: "dict[str, object]", cwd: str) -> bool:
        """Whether an event may be captured: what was said, or what was done."""
        if event.get("role") == "tool":
            if cwd not in self._work:
                self._work[cwd] = work_refusal(cwd) is None
            if not self._work[cwd]:
                return False
        return self.may_be_captured(cwd, event.get("ts"))


def refusal(cwd: str | None, project: str | None = None) -> str | None:
    """Why what is said in `cwd` (and `project`, a name or a path) may not be captured now, in a
    word or two; None if it may."""
    if paused():
        return "paused"
    return place_refusal(cwd, project)


def place_refusal(cwd: str | None, project: str | None = None) -> str | None:
    """The same without the pause: what the place itself says."""
    listed = _listed(NEVER, cwd, project)
    if listed is not None:
        return listed
    return "ignored by .iai-ignore" if any(map(_is_ignored, _places(cwd, project))) else None


def work_refusal(cwd: str | None, project: str | None = None) -> str | None:
    """Why what is done there may not be captured; None if it may."""
    return _listed(NEVER_WORK, cwd, project)


def _places(cwd: str | None, project: str | None) -> list[str]:
    return [_absolute(place) for place in (cwd, project) if place and "/" in place]


def _listed(file: str, cwd: str | None, project: str | None) -> str | None:
    places = _places(cwd, project)
    names = [project] if project and "/" not in project else []
    names += [os.path.basename(place) for place in places]
    try:
        return f"listed in {file}" if any(_is_listed(file, places, names)) else None
    except (OSError, ValueError):
        return f"{file} can not be read"


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


def silent_since() -> float | None:
    """From which moment on nothing is captured while a pause lasts; None if there is none.

    The clock may have been set meanwhile. If it shows a time before the pause, then nothing that
    has a time can be trusted to have been said before it.
    """
    since = paused_since()
    if since is None:
        return None
    now = time.time()
    return float("-inf") if now < since else min(since, now - _lasted())


def pause() -> None:
    """Capture nothing from now on."""
    if not paused():
        from iai_mcp import boot_clock

        # Never later than now: what is said in the same millisecond is in the pause already.
        start = f"{int(time.time() * 1000) / 1000:.3f}\n"
        # Clocks can be set: how long it lasts is measured by one that can not.
        _append(_marker(), f"{start}{boot_clock.boot_id() or '-'} {boot_clock.uptime():.3f}\n")


def resume() -> None:
    """Capture again; the time since `pause` is remembered as one that is not captured."""
    start = paused_since()
    if start is not None:
        end = (int(time.time() * 1000) + 1) / 1000
        _append(_history(), _record(start, end, _lasted()))
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
    now = time.time()
    for line in _lines(_history()):
        first, _, second = line.partition(" ")
        try:
            if first != _LASTED:
                found.append((float(first), float(second)))
            elif found and found[-1][1] > now + _NOT_SET:
                # It ended later than now: the clock was ahead, and was set back since.
                start, end = found.pop()
                found += _ends(start, end, float(second), float(second))
        except ValueError:
            continue  # a line of somebody else's making
    return found


def _record(start: float, end: float, lasted: float) -> str:
    """A pause that is over, as lines of the history."""
    if end >= start + lasted - _NOT_SET:
        # Perhaps the clock was set forward, or the machine stood still: all of it was in the pause.
        return f"{start:.3f} {end:.3f}\n{_LASTED} {lasted:.3f}\n"
    # The clock was set back; nobody knows how often. Shortly before the end, all is doubtful.
    before_end = lasted if end >= start else max(lasted, _DOUBTFUL)
    pieces = _ends(start, end, lasted, before_end)
    return "".join(f"{since:.3f} {until:.3f}\n" for since, until in pieces)


def _ends(
    start: float, end: float, after_start: float, before_end: float
) -> list[tuple[float, float]]:
    """When things can have been said in a pause during which the clock was set."""
    return [(start, start + after_start), (end - before_end, end)]


def _lasted() -> float:
    """How long the pause lasts already, whatever was done to the clock; 0 where nobody knows."""
    from iai_mcp import boot_clock

    try:
        identity, _, begun = _lines(_marker())[1].partition(" ")
        up = boot_clock.uptime()
        lasted = up - float(begun)
    except (IndexError, ValueError):
        return 0.0  # somebody else made the mark
    # Since the machine was started again, at least.
    return up if lasted < 0 or identity != (boot_clock.boot_id() or "-") else lasted


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
    """The lines of one of our own files; none where it is absent or can not be read."""
    try:
        return _spoken(_own(path))
    except (OSError, ValueError):
        return []


def _own(path: str) -> bytes:
    return regular_files.read(path, _LONGEST_LIST, links=regular_files.ANYWHERE)


def _spoken(text: bytes) -> list[str]:
    """The lines of a list, without blanks and comments."""
    stripped = (line.strip() for line in os.fsdecode(text).splitlines())
    return [line for line in stripped if line and not line.startswith("#")]


def _absolute(place: str) -> str:
    """`place` in full, as far as it can exist: longer ones are judged by where they begin."""
    path = os.path.abspath(os.path.expanduser(place))
    longest = regular_files.LONGEST_PATH
    return path if len(path) <= longest else path[:longest].rpartition("/")[0]


def _is_listed(file: str, places: list[str], names: list[str]) -> "Iterator[bool]":
    """
    Raises:
        OSError, ValueError: there is a list, and it can not be read.
    """
    try:
        listed = _own(paths.in_user_data(file))
    except (FileNotFoundError, NotADirectoryError):
        return
    from iai_mcp.domain.projects.path_patterns import (
        PathPattern,  # late: only who has a list pays for it
    )

    for entry in _spoken(listed):
        if entry == EVERYWHERE:
            yield True
        elif "/" not in entry and entry != "~":
            pattern = PathPattern([entry])
            yield any(pattern.covers([name]) for name in names)
        else:
            pattern = PathPattern(_parts(os.path.expanduser(entry)) or ["**"])
            yield any(pattern.covers(_parts(place)) for place in places)


def _is_ignored(place: str) -> bool:
    """Whether an `.iai-ignore` at or above the place keeps it out; the nearest that speaks wins."""
    here = place
    below: list[str] = []
    while True:
        file = os.path.join(here, IGNORE_FILE)
        if os.path.lexists(file):
            verdict = _verdict(file, here, below)
            if verdict is not None:
                return verdict
        parent, name = os.path.split(here)
        if parent == here:
            return False
        below.insert(0, name)
        here = parent


def _verdict(file: str, here: str, below: list[str]) -> bool | None:
    """What the ignore file of `here` says of a directory `below`: the last pattern that fits decides."""
    try:
        patterns = _spoken(regular_files.read(file, _LONGEST_IGNORE, links=here))
    except (OSError, ValueError):
        return True
    if not patterns:
        return True
    from iai_mcp.domain.projects.path_patterns import PathPattern  # late: only who has patterns

    for pattern in reversed(patterns):
        wanted = pattern.removeprefix("!").rstrip("/")
        anchor = [] if "/" in wanted else ["**"]
        if PathPattern(anchor + _parts(wanted)).covers(below):
            return not pattern.startswith("!")
    return None


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part]
