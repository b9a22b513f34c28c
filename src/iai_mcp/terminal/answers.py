"""What can be done with sessions, and what is answered: the same to commands and to programs.

Each function does one thing and returns the object that leaves us as JSON. Imports are late:
a list needs none of what sending needs.
"""

import os
import time
from collections.abc import Sequence

from iai_mcp.domain.errors import IaiError, NotFound
from iai_mcp.terminal import registry
from iai_mcp.terminal.records import SessionRecord, read_all

Json = dict[str, object]
_AT_ONCE = 16  # deliveries of one broadcast


def found(project: str | None = None, cwd: str | None = None) -> list[SessionRecord]:
    """All sessions, or those of the project that a path or a name stands for."""
    everything = read_all()
    if project is None:
        return everything
    from iai_mcp.project import from_argument, project_of

    wanted = project_of(from_argument(project, cwd or os.getcwd())).key
    return [
        record
        for record in everything
        if record.label.project and project_of(record.label.project).key == wanted
    ]


def listing(records: Sequence[SessionRecord]) -> tuple[Json, list[registry.Listed]]:
    """The answer of `list`, and the entries it was made of."""
    entries = registry.listed(records)
    return {"sessions": [_entry(entry) for entry in entries]}, entries


def send(record: SessionRecord, text: str, *, enter: bool = True, timeout: float = 5.0) -> Json:
    from iai_mcp.terminal import sending

    done = sending.deliver(record, text, enter=enter, timeout=timeout)
    return {
        "session": record.id,
        "delivered": True,
        "bytes": done.typed,
        "bracketed_paste": done.pasted,
        "read": done.read,
    }


def broadcast(records: Sequence[SessionRecord], text: str, timeout: float = 5.0) -> list[Json]:
    """Send to every agent among `records` that runs; one that refuses does not stop the others."""
    targets = [record for record in records if record.alive and record.label.agent_id is not None]
    if not targets:
        raise NotFound("no agent of this project is running: see iai-mcp session list")
    from concurrent.futures import ThreadPoolExecutor

    def one(record: SessionRecord) -> Json:
        try:
            return send(record, text, timeout=timeout)
        except IaiError as refused:
            error = {"code": refused.code, "message": refused.message}
            return {"session": record.id, "delivered": False, "error": error}

    # Most of a delivery is waiting for the program to draw: nobody waits for another's.
    with ThreadPoolExecutor(max_workers=min(_AT_ONCE, len(targets))) as pool:
        return list(pool.map(one, targets))


def logs(record: SessionRecord, *, raw: bool = False, lines: int | None = None) -> Json:
    from iai_mcp.terminal import output

    data = output.raw(record)
    if raw:
        return {"session": record.id, "text": data.decode("utf-8", "replace")}
    from iai_mcp.terminal.screen_text import plain_text

    text = plain_text(data, record.rows, record.cols)
    if lines is not None:
        text = "".join(text.splitlines(keepends=True)[-lines:] if lines > 0 else [])
    return {"session": record.id, "text": text}


def kill(record: SessionRecord) -> Json:
    from iai_mcp.terminal.adapter import HolderPty

    code = HolderPty().kill(record.id)
    return {"session": record.id, "status": "exited", "exit_code": code}


def wait(record: SessionRecord, until: str, timeout: float | None) -> Json:
    """Raises `NotFound` when it ended before it was what was waited for."""
    reached = registry.wait(record, (until,), timeout)
    if not reached.alive and until != "exited":
        how = "nobody saw how" if reached.exit_code is None else f"exit code {reached.exit_code}"
        raise NotFound(f"session '{record.id}' ended ({how}) before that")
    return {
        "session": record.id,
        "status": reached.status,
        "status_source": reached.source,
        "exit_code": reached.exit_code,
    }


def prune(project: str | None, cwd: str | None = None, *, days: float = 0.0) -> Json:
    from iai_mcp.terminal import tidying

    pruned = tidying.prune(found(project, cwd), days * 86_400)
    if project is None:
        tidying.sweep()
    return {"pruned": pruned}


def _entry(entry: registry.Listed) -> Json:
    record = entry.record
    return {
        "id": record.id,
        "kind": record.kind,
        "agent_id": record.label.agent_id,
        "agent_name": record.label.agent_name,
        "profile": record.label.profile_id,
        "host": record.label.host,
        "project": record.label.project,
        "command": record.command,
        "status": record.status,
        "status_source": record.source,
        "since": _iso(record.since_ms),
        "exit_code": record.exit_code,
        "signal": record.signal,
        "started": _iso(record.started_ms),
        "ended": _iso(record.ended_ms) if record.ended_ms else None,
        "attached": entry.attached,
        "lost_to_reboot": record.rebooted,
        "last_line": entry.last_line,
    }


def _iso(milliseconds: int) -> str:
    seconds, rest = divmod(milliseconds, 1000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{rest:03d}Z"
