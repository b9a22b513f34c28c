"""Terminal sessions of another machine: what `terminal/sessions.py` does here, done there."""

import time
from typing import TYPE_CHECKING

from iai_mcp.domain.errors import NotFound, RemoteFailed, TimedOut
from iai_mcp.remote.json_fields import Fields, error_of
from iai_mcp.remote.machine import Machine
from iai_mcp.remote.session_records import record_of
from iai_mcp.terminal.records import SessionRecord
from iai_mcp.terminal.sessions import Listed, Sent

if TYPE_CHECKING:
    from iai_mcp.terminal.text_input import Delivery

_LONG = 10**9  # seconds: who waits without a limit
_ANSWER = 15.0  # seconds for the answer itself


class RemoteSessions:
    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._name = str(machine.remote)

    def listed(self, patience: float | None = None) -> list[Listed]:
        """Every session over there, with live status and last line."""
        found = Fields({"all": self._machine.call("sessions.listed", patience)}).objects("all")
        return [
            Listed(
                record_of(each, self._name),
                each.text("last_line"),
                each.number("attached"),
            )
            for each in found
        ]

    def news(self, place: str, patience: float | None = None) -> tuple[bytes, str]:
        """The lines of the journal over there from a place on, and the place behind them."""
        said = self._machine.call("sessions.news", patience, place=place)
        found = Fields({"said": said}).below("said")
        return found.data("data"), found.text("place")

    def find(self, session_id: str) -> SessionRecord:
        """The session of exactly this id, which is known to be there.

        Raises:
            NotFound: the machine says otherwise.
        """
        for each in self.listed():
            if each.record.id == session_id:
                return each.record
        raise NotFound(f"session '{session_id}' has ended, and nothing of it is left there")

    def send(
        self, record: SessionRecord, text: str, *, enter: bool = True, timeout: float = 5.0
    ) -> "Delivery":
        done = self._machine.call(
            "sessions.send",
            timeout + _ANSWER,
            session=record.id,
            text=text,
            enter=enter,
            timeout=timeout,
        )
        return _delivery(Fields({"done": done}).below("done"))

    def broadcast(
        self, records: list[SessionRecord], text: str, timeout: float = 5.0
    ) -> list[Sent]:
        ids = [record.id for record in records]
        known = {record.id: record for record in records}
        patience = (2 * timeout + _ANSWER) * (1 + len(ids) // 16)
        sent = self._machine.call(
            "sessions.broadcast", patience, sessions=ids, text=text, timeout=timeout
        )
        return [
            Sent(
                known[each.text("session")],
                error_of(each.below("error"))
                if "error" in each.all()
                else _delivery(each.below("delivery")),
            )
            for each in Fields({"sent": sent}).objects("sent")
            if each.text("session") in known
        ]

    def raw(self, record: SessionRecord) -> bytes:
        data = self._machine.call("sessions.raw", session=record.id)
        return Fields({"data": data}).data("data")

    def kill(self, record: SessionRecord) -> int | None:
        from iai_mcp.remote.pty import RemotePty

        return RemotePty(self._machine).kill(record.id)

    def wait(self, record: SessionRecord, until: str, timeout: float | None) -> SessionRecord:
        """See `sessions.wait`; a connection that breaks meanwhile is made anew."""
        from iai_mcp.remote.pty import waits

        deadline = time.monotonic() + (_LONG if timeout is None else timeout)
        for pause in waits():
            left = max(0.0, deadline - time.monotonic())
            try:
                found = self._machine.call(
                    "sessions.wait",
                    left + _ANSWER,
                    session=record.id,
                    until=until,
                    timeout=None if timeout is None else left,
                )
                return record_of(Fields({"found": found}).below("found"), self._name)
            except RemoteFailed:
                if time.monotonic() + pause > deadline:
                    raise
                time.sleep(pause)
        raise TimedOut(f"session '{record.id}' was not {until} in time")

    def prune(self, project: str | None, days: float = 0.0) -> list[str]:
        pruned = self._machine.call("sessions.prune", project=project, days=days)
        return list(Fields({"pruned": pruned}).texts("pruned"))


def _delivery(fields: Fields) -> "Delivery":
    from iai_mcp.terminal.text_input import Delivery

    read = fields.all().get("read")
    typed, pasted = fields.number("typed"), fields.flag("pasted")
    return Delivery(typed, pasted, read if isinstance(read, bool) else None)
