"""Terminal sessions as the JSON that leaves us: the same from commands and over the socket.

Apart from the other views: `session list` has 150 ms, and loads no dataclass.
"""

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from iai_mcp.domain.errors import IaiError
from iai_mcp.terminal.records import SessionRecord
from iai_mcp.terminal.sessions import Listed, Sent

if TYPE_CHECKING:
    from iai_mcp.terminal.text_input import Delivery

Json = dict[str, object]


def listing_view(entries: Sequence[Listed], problems: Mapping[str, str]) -> Json:
    """`problems`: why machines did not answer."""
    away = [{"machine": machine, "problem": why} for machine, why in problems.items()]
    return {
        "sessions": [_entry(entry) for entry in entries],
        **({"unreachable": away} if away else {}),
    }


def _entry(entry: Listed) -> Json:
    record = entry.record
    return {
        "id": record.id,
        "kind": record.kind,
        "agent_id": record.label.agent_id,
        "agent_name": record.label.agent_name,
        "profile": record.label.profile_id,
        "host": record.label.host,
        "project": record.label.project,
        "machine": record.machine,
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


def delivery_view(record: SessionRecord, done: "Delivery") -> Json:
    return {
        "session": record.id,
        "delivered": True,
        "bytes": done.typed,
        "bracketed_paste": done.pasted,
        "read": done.read,
    }


def broadcast_view(sent: Sequence[Sent]) -> Json:
    return {"sent": [_sent(one) for one in sent]}


def _sent(one: Sent) -> Json:
    if not isinstance(one.outcome, IaiError):
        return delivery_view(one.record, one.outcome)
    error = {"code": one.outcome.code, "message": one.outcome.message}
    return {"session": one.record.id, "delivered": False, "error": error}


def logs_view(record: SessionRecord, text: str) -> Json:
    return {"session": record.id, "text": text}


def killed_view(record: SessionRecord, exit_code: int | None) -> Json:
    return {"session": record.id, "status": "exited", "exit_code": exit_code}


def reached_view(record: SessionRecord) -> Json:
    return {
        "session": record.id,
        "status": record.status,
        "status_source": record.source,
        "exit_code": record.exit_code,
    }


def pruned_view(pruned: Sequence[str]) -> Json:
    return {"pruned": list(pruned)}


def _iso(milliseconds: int) -> str:
    seconds, rest = divmod(milliseconds, 1000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{rest:03d}Z"
