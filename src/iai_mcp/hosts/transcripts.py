"""Opens any host's transcript and detects which host wrote it.

reading = open_transcript(path)      # or with host="codex", or from a known offset
for event in reading: ...            # then reading.skipped, reading.end, reading.session_id

events, skipped, end = read_turns(path)
"""

from iai_mcp import hosts, regular_files
from iai_mcp.hosts.reader import Reading
from iai_mcp.protocol.compact_json import loads

TYPE_CHECKING = False  # see compact_json
if TYPE_CHECKING:
    from collections.abc import Iterator

    from iai_mcp.hosts.host import Transcript
    from iai_mcp.hosts.turns import Event, Record

_SAMPLE = 256 * 1024
_LINES_TO_TRY = 50


def open_transcript(
    path: str,
    host: str | None = None,
    *,
    start: int = 0,
    carry: "Record | None" = None,
    session_id: str | None = None,
) -> Reading:
    """A reading of the transcript at `path`; nothing is opened before it is iterated.

    `start` and `carry` come from an earlier reading of an appending host; others start anew.
    `session_id` picks one session where a file holds many.
    """
    known = host if host in hosts.READABLE else detect(path)
    kept = _kept(known)
    if not kept.appends or path.endswith((".json", ".zst")):
        start, carry = 0, None
    return Reading(path, known, kept.walk, start=start, carry=carry, wanted=session_id)


def read_turns(
    path: str, host: str | None = None, start: int = 0
) -> "tuple[list[Event], int, int]":
    """(all turns from `start` on, how many lines were skipped, the offset after the last)."""
    reading = open_transcript(path, host, start=start)
    events = list(reading)
    return events, reading.skipped, reading.end


def related(path: str, host: str) -> list[str]:
    """Further files that belong to the same session: those of its sub-agents."""
    return _kept(host).related(path)


def appends(host: str) -> bool:
    """Whether the host's transcripts can be read on from where the last reading ended."""
    return _kept(host).appends


def _kept(host: str) -> "Transcript":
    known = hosts.find(host)
    if known is None or known.transcript is None:
        raise KeyError(host)  # callers know who is readable
    return known.transcript


def detect(path: str) -> str:
    """The host that wrote the file, judged by where it lies, then by what it says."""
    host = hosts.by_path(path)
    if host is not None:
        return host
    try:
        with regular_files.opened(path, links=regular_files.ANYWHERE) as file:
            head = file.read(_SAMPLE)
    except (OSError, ValueError):
        return hosts.DEFAULT
    return _by_content(head, path) or hosts.DEFAULT


def _all() -> "Iterator[tuple[str, Transcript]]":
    for host in hosts.readable():
        if host.transcript is not None:
            yield host.id, host.transcript


def _by_content(head: bytes, path: str) -> str | None:
    # One host after the other, and no more of them imported than it takes.
    opening = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    for host, kept in _all() if not opening.startswith(b"{") else ():
        if kept.magic is not None and opening.startswith(kept.magic):
            return host
    text = head.decode("utf-8-sig", "replace")
    if path.endswith(".json"):
        return _by_document(text)
    for line in text.split("\n", _LINES_TO_TRY)[:_LINES_TO_TRY]:
        record = _object(line)
        if record is None:
            continue
        for host, kept in _all():
            if kept.is_line(record):
                return host
    return None


def _object(line: str) -> "Record | None":
    try:
        value = loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _by_document(text: str) -> str | None:
    """A whole JSON document is known by its keys; the sample may hold only its beginning.

    Exports come first: whatever is a key elsewhere can stand somewhere in them, too.
    """
    for host in sorted(hosts.readable(), key=lambda host: not host.is_service):
        keys = host.transcript.document_keys if host.transcript is not None else ()
        if any(f'"{key}"' in text for key in keys):
            return host.id
    return None
