"""Commands that go on after their call returned: held until a later call reports their end.

Only offsets of lines outlive a reading (`carry["running"]`): a command and its output may contain
secrets, and `carry` is written to a file. A later reading reads those lines again.
"""

from iai_mcp.hosts import work
from iai_mcp.hosts.turns import Record
from iai_mcp.hosts.work import Call

TYPE_CHECKING = False  # see compact_json
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from iai_mcp.hosts.reader import Reading

_MOST_RUNNING = 50
_MOST_PRINTED = 64 * 1024  # characters of one poll
_MOST_POLLS = 20  # whose output is kept


class Lines:
    """How a host's lines are read again: the calls in one, and the output in one."""

    __slots__ = ("calls_in", "output_in")

    def __init__(
        self,
        calls_in: "Callable[[Record], Iterable[Call]]",
        output_in: "Callable[[Record], str]",
    ) -> None:
        self.calls_in = calls_in
        self.output_in = output_in


def hold(
    reading: "Reading", session: str, call: Call, place: int, output: str, lines: Lines
) -> list[Call]:
    """Keep a command that still runs as `session`; returns the ones that lose their place by it."""
    running = _running(reading)
    full = len(running) >= _MOST_RUNNING
    lost = session if session in running else next(iter(running)) if full else None
    earlier = take(reading, lost, lines) if lost is not None else None
    call.printed = [output[-_MOST_PRINTED:]]
    reading.calls[_name(session)] = call
    held = {"id": call.id, "at": place, "polls": [reading.line]}
    reading.carry["running"] = {**_running(reading), session: held}
    return [] if earlier is None else [earlier]


def printed(reading: "Reading", session: str, output: str) -> None:
    """Keep what a running command printed since the last poll: the first polls and the latest."""
    held = _running(reading).get(session)
    if not isinstance(held, dict):
        return
    call = reading.calls.get(_name(session))
    if call is not None:
        call.printed = [*call.printed[: _MOST_POLLS - 1], output[-_MOST_PRINTED:]]
    polls = held.get("polls")
    held["polls"] = [*(polls if isinstance(polls, list) else [])[: _MOST_POLLS - 1], reading.line]


def take(reading: "Reading", session: str, lines: Lines) -> Call | None:
    """The command that ran as `session`, with what it printed; it is no longer held."""
    running = _running(reading)
    held = running.pop(session, None)
    if not running:
        reading.carry.pop("running", None)
    call = reading.calls.pop(_name(session), None)
    if call is not None or not isinstance(held, dict):
        return call
    place, mark, polls = held.get("at"), held.get("id"), held.get("polls")
    if not isinstance(place, int) or not isinstance(mark, str):
        return None
    call = work.read_again(reading.path, place, mark, lines.calls_in)
    for line in polls if call is not None and isinstance(polls, list) else ():
        record = work.record_at(reading.path, line) if isinstance(line, int) else None
        if call is not None and record is not None:
            call.printed.append(lines.output_in(record)[-_MOST_PRINTED:])
    return call


def session_of(reading: "Reading", call_id: object) -> str | None:
    """The session as which the command of this call still runs."""
    for session, held in _running(reading).items():
        if isinstance(held, dict) and held.get("id") == call_id:
            return session
    return None


def rest(reading: "Reading", lines: Lines) -> list[Call]:
    """Commands that no line of a whole file ends, such as servers that ran until the session's end.

    None where more lines may come: in the reading of a hook, and in one that goes on from another.
    """
    if reading.start or reading.deadline is not None:
        return []
    calls = [take(reading, session, lines) for session in list(_running(reading))]
    return [call for call in calls if call is not None]


def output_of(call: Call) -> str:
    """All that the command printed."""
    return "\n".join(text.rstrip("\n") for text in call.printed if text)


def _running(reading: "Reading") -> dict[str, object]:
    running = reading.carry.get("running")
    return running if isinstance(running, dict) else {}


def _name(session: str) -> str:
    return f"running {session}"  # no id of a call has a blank
