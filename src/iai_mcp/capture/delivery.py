"""From a transcript to the daemon or the spool, within the second that a host gives a hook.

    deliver_transcript(path, session_id, host, cwd)  ->  what `capture-transcript` prints

Time is shared out: reading stops at one moment, waiting for the daemon's answer at a later one,
and the rest is for the spool. What could not be read in time is named in the spool file, with the
place to go on from: the daemon reads it.
"""

import os
import time

from iai_mcp import paths, regular_files
from iai_mcp.capture import consent, hook_log, spool, transcript_progress
from iai_mcp.capture.daemon_delivery import Packed, hand_over
from iai_mcp.capture.turn_preparation import Preparation, launched_agent
from iai_mcp.hosts.reader import Reading
from iai_mcp.hosts.transcripts import appends, open_transcript, related
from iai_mcp.hosts.turns import Event, Record
from iai_mcp.protocol.compact_json import dumps, loads

# Seconds after the start. Hosts end a hook after about one; the contract allows 0.8 in all.
READ_UNTIL = 0.30
ANSWER_UNTIL = 0.50
# For a message that the host has announced. It comes within 50 ms (seen with four hosts), and half
# a second later on a machine that is busy; some hosts have no later hook that would make up for it.
WAIT_FOR_LINE = 1.0

# More than this is not copied into the spool within the time: the daemon reads the transcript.
SPOOL_LIMIT = 32 * 1024 * 1024

_POLL = 0.01
_TAIL_BYTES = 256 * 1024
_TAIL_CHARACTERS = 80


class Gathered:
    """The turns of a transcript and of the files that belong to it, and how far they were read."""

    __slots__ = (
        "cwd",
        "events",
        "host",
        "main",
        "problem",
        "readings",
        "session_id",
        "skipped",
        "stamps",
        "starts",
    )

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.readings: list[Reading] = []
        self.starts: list[str] = []  # each reading's carry before it read, as JSON
        self.stamps: dict[str, list[int]] = {}
        self.skipped = 0
        self.problem: str | None = None
        self.session_id = ""
        self.cwd = ""
        self.host = ""
        self.main = ""

    def unread(self, *, all_of_it: bool = False) -> list[Record]:
        """Where the daemon has to go on reading: what there was no time for, or everything."""
        rest: list[Record] = []
        for reading, before in zip(self.readings, self.starts, strict=True):
            if not (all_of_it or reading.unfinished):
                continue
            start: int = reading.end
            carry: object = reading.carry
            if all_of_it:
                start, carry = reading.start, loads(before)
            rest.append(
                {"path": reading.path, "host": reading.host, "start": start, "carry": carry}
            )
        return rest


def deliver_transcript(
    path: str,
    session_id: str | None = None,
    host: str | None = None,
    cwd: str | None = None,
    wait_for: str | None = None,
) -> dict[str, object]:
    """Capture what is new in a transcript, now. Never raises for what a machine can do to it.

    `wait_for` is the assistant's last message where the host tells it: the transcript lags behind,
    so it is given a moment to get there. Returns `status` captured, deferred, skipped or failed,
    with `inserted`, `duplicates`, `skipped`, `errors`, and for deferred turns `events` and `path`.
    """
    project = os.environ.get("IAI_MCP_PROJECT")
    cwd = cwd or _working_directory()
    denied = consent.refusal(cwd, project)
    if denied:
        return {"status": "skipped", "reason": denied, "inserted": 0, "skipped": 0, "errors": 0}
    if wait_for:
        _await_message(path, wait_for)
    began = time.monotonic()
    gathered = gather(path, session_id, host, cwd, deadline=began + READ_UNTIL)
    header = header_of(gathered, project)
    turns = pack(gathered, consent.Turns(cwd))
    outcome = hand_over(header, turns, began + ANSWER_UNTIL)
    result: dict[str, object] = {"status": "captured", **outcome.counts}
    result["skipped"] = outcome.counts["skipped"] + gathered.skipped
    if gathered.problem:
        hook_log.note(gathered.problem)
        result["errors"] = outcome.counts["errors"] + 1
        result["error"] = gathered.problem
    return _settle(result, gathered, header, outcome.left, reached=outcome.problem is None)


def spool_transcript(path: str, session_id: str, cwd: str | None = None) -> str:
    """The whole transcript into one spool file, whether a daemon is there or not."""
    gathered = gather(path, session_id, None, cwd, whole=True)
    return spool.write(
        header_of(gathered, None), (line for _, line in pack(gathered, consent.Turns()))
    )


def gather(
    path: str,
    session_id: str | None,
    host: str | None,
    cwd: str | None,
    *,
    deadline: float | None = None,
    whole: bool = False,
) -> Gathered:
    """Read what is new (or the whole) of a transcript and of its sub-agents' files."""
    found = Gathered()
    found.main = path = os.path.abspath(path) if "\0" not in path else path
    start, carry = (0, {}) if whole or _is_short(path) else transcript_progress.load(path)
    main = open_transcript(path, host, start=start, carry=carry, session_id=session_id)
    _read(main, found, deadline)
    found.problem = main.problem
    found.host = host or main.host
    found.session_id = session_id or main.session_id or _first_session(found) or "unknown"
    found.cwd = cwd or _working_directory()
    files = related(path, main.host)
    for file in files if whole else transcript_progress.changed(_family(path), files):
        stamp = transcript_progress.stamp_of(file)
        reading = open_transcript(file, main.host)
        _read(reading, found, deadline)
        if stamp and not reading.unfinished:
            found.stamps[stamp[0]] = stamp[1]
    return found


def header_of(gathered: Gathered, project: str | None) -> Record:
    """What holds for all turns of one capture."""
    header: Record = {
        "session_id": gathered.session_id,
        "cwd": paths.seen_from_home(gathered.cwd),
        "host": gathered.host,
    }
    if project:
        header["project"] = paths.seen_from_home(project)
    return header


def pack(gathered: Gathered, consented: consent.Turns) -> list[Packed]:
    """The turns that may be captured, as JSON: what may not is never written anywhere."""
    prepare = Preparation(gathered.main, gathered.host, launched_agent())
    packed: list[Packed] = []
    for raw in gathered.events:
        if not consented.is_wanted(raw, str(raw.get("cwd") or gathered.cwd)):
            continue
        event = prepare(raw)
        session = event.get("session_id")
        other = session if isinstance(session, str) and session != gathered.session_id else None
        if other is None:
            event.pop("session_id", None)
        packed.append((other, dumps(event).encode("utf-8", "replace")))
    return packed


def _settle(
    result: dict[str, object],
    gathered: Gathered,
    header: Record,
    left: list[Packed],
    *,
    reached: bool,
) -> dict[str, object]:
    """Put what is left into the spool, then remember how far the transcript was delivered."""
    unread = gathered.unread()
    if sum(len(line) for _, line in left) > SPOOL_LIMIT:
        left, unread = [], gathered.unread(all_of_it=True)
    try:
        if unread or not reached:
            more = header
            if unread:
                more = header | {"unread": unread, "agent": launched_agent()}
            result["path"] = spool.write(more, (line for _, line in left))
            result["status"] = "deferred"
            result["events"] = len(left)
    except OSError as refused:
        problem = f"the spool can not be written: {refused.strerror or type(refused).__name__}"
        hook_log.note(problem)
        return result | {"status": "failed", "errors": max(1, len(left)), "error": problem}
    _remember(gathered)
    return result


def _remember(gathered: Gathered) -> None:
    main = gathered.readings[0]
    try:
        if appends(main.host) and main.problem is None:
            transcript_progress.save(main.path, main.end, main.carry)
        if gathered.stamps:
            transcript_progress.remember(_family(gathered.main), gathered.stamps)
    except OSError as refused:
        hook_log.note(f"no progress kept: {refused.strerror or type(refused).__name__}")


def _read(reading: Reading, found: Gathered, deadline: float | None) -> None:
    found.readings.append(reading)
    found.starts.append(dumps(reading.carry))
    reading.deadline = deadline
    found.events.extend(reading)
    found.skipped += reading.skipped


def _await_message(path: str, message: str) -> None:
    """Give the host a moment to write its last message: only its end is looked for."""
    wanted = dumps(message.rstrip()[-_TAIL_CHARACTERS:])[1:-1].encode("utf-8", "replace")
    deadline = time.monotonic() + WAIT_FOR_LINE
    while time.monotonic() < deadline:
        try:
            if _is_answered(regular_files.tail(path, _TAIL_BYTES), wanted):
                return
        except FileNotFoundError:
            pass  # the file of a new session can come behind its first answer
        except (OSError, ValueError):
            return
        time.sleep(_POLL)


def _is_answered(tail: bytes, wanted: bytes) -> bool:
    """Whether the message stands in a line of its own behind all that the user's side wrote.

    "Done." was said before, and perhaps by the person; Qwen writes what it measured of an answer first.
    """
    asked = tail.rfind(b'"type":"user"')
    behind = tail if asked < 0 else tail[asked:].partition(b"\n")[2]
    return any(wanted in line and b'"type":"system"' not in line for line in behind.split(b"\n"))


def _first_session(found: Gathered) -> str | None:
    session = found.events[0].get("session_id") if found.events else None
    return session if isinstance(session, str) else None


def _family(path: str) -> str:
    """What stands for all of a session's sub-agents in the progress states."""
    return path + ".related"


def _is_short(path: str) -> bool:
    return _size(path) <= transcript_progress.ALWAYS_WHOLE


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except (OSError, ValueError):
        return 0


def _working_directory() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""  # it was removed under us
