"""Sessions as they are listed, as JSON and back. Apart from other values: a list has to be quick."""

from iai_mcp.remote.json_fields import Fields
from iai_mcp.remote.wire import Json
from iai_mcp.terminal.records import Owner, SessionRecord

_OWNER = ("agent_id", "agent_name", "profile_id", "host", "project")


def record_json(record: SessionRecord) -> Json:
    return {**record._asdict(), "label": record.label._asdict()}


def record_of(fields: Fields, machine: str) -> SessionRecord:
    owner = fields.below("label")
    return SessionRecord(
        id=fields.text("id"),
        label=Owner(*(owner.optional(name) for name in _OWNER)),
        command=fields.text("command"),
        cwd=fields.text("cwd"),
        rows=fields.number("rows"),
        cols=fields.number("cols"),
        started_ms=fields.moment("started_ms"),
        socket="",
        status=fields.text("status"),
        source=fields.text("source"),
        since_ms=fields.moment("since_ms"),
        exit_code=fields.optional_number("exit_code"),
        signal=fields.optional_number("signal"),
        ended_ms=fields.optional_moment("ended_ms"),
        rebooted=fields.flag("rebooted"),
        head=fields.optional_number("head"),
        machine=machine,
    )
