"""Finding, listing, watching and pruning sessions by their files; no daemon has to be up."""

import time
from collections.abc import Sequence
from typing import NamedTuple

from iai_mcp.domain.errors import InvalidInput, NotFound, TimedOut
from iai_mcp.terminal import frames as wire
from iai_mcp.terminal import records
from iai_mcp.terminal.records import SessionRecord


class Listed(NamedTuple):
    """One session with what its holder said just now, if it has one."""

    record: SessionRecord
    last_line: str
    attached: int


def listed(found: Sequence[SessionRecord]) -> list[Listed]:
    """The sessions with live status and last line, asked of all holders at once."""
    from iai_mcp.terminal import previews

    answers = previews.ask([record for record in found if record.alive])
    result = []
    for record in found:
        answer = answers.get(record.id)
        if answer is None:
            result.append(Listed(record, _kept_line(record), 0))
        else:
            current = record._replace(
                status=answer.status, source=answer.source, since_ms=answer.since_ms
            )
            result.append(Listed(current, answer.last_line, answer.clients))
    return result


def _kept_line(record: SessionRecord) -> str:
    if record.alive:
        return ""
    from iai_mcp.terminal.last_line import last_line
    from iai_mcp.terminal.output import raw

    return last_line(raw(record)[-4096:])


def resolve(name: str, found: Sequence[SessionRecord] | None = None) -> SessionRecord:
    """The session that `name` stands for: an id, the beginning of one, or its agent.

    An agent's name or id means its running session, or the latest one that ended.
    """
    everything = list(records.read_all() if found is None else found)
    for record in everything:
        if record.id == name:
            return record
    matches = [record for record in everything if name and record.id.startswith(name)]
    if not matches:
        matches = [record for record in everything if name in _agent_names(record)]
        running = [record for record in matches if record.alive]
        same_agent = len({record.label.agent_id for record in matches}) == 1
        matches = running or (matches[-1:] if same_agent else matches)
    if len(matches) > 1:
        ids = ", ".join(record.id for record in matches[:5])
        raise InvalidInput(f"'{name}' could be several sessions ({ids}): give an id")
    if not matches:
        raise NotFound(f"there is no session '{name}': see iai-mcp session list")
    return matches[0]


def _agent_names(record: SessionRecord) -> set[str]:
    agent_name = record.label.agent_name or ""
    slug = "-".join(agent_name.lower().split())
    return {record.label.agent_id or "", agent_name, slug} - {""}


def wait(record: SessionRecord, until: Sequence[str], timeout: float | None) -> SessionRecord:
    """The session once its status is one of `until`, or once it has ended.

    Raises:
        TimedOut: neither happened in `timeout` seconds.
    """
    from iai_mcp.terminal.connection import Connection, HolderState

    if not record.alive:
        return record
    deadline = time.monotonic() + (timeout if timeout is not None else 10**9)
    try:
        with Connection(record.socket) as connection:
            connection.send(wire.WATCH)
            while (frame := connection.receive(deadline)) is not None:
                if frame[0] == wire.STATUS:
                    state = HolderState.parse(frame[1])
                    if state.status in until:
                        return record._replace(
                            status=state.status,
                            source=state.source,
                            since_ms=state.since_ms,
                        )
                elif frame[0] == wire.EXITED:
                    break
    except NotFound:
        pass  # it ended while we connected
    except TimeoutError:
        wanted = " or ".join(until)
        raise TimedOut(
            f"session '{record.id}' was not {wanted} within {timeout:g} seconds"
        ) from None
    return _ended(record)


def _ended(record: SessionRecord) -> SessionRecord:
    from iai_mcp.terminal.adapter import wait_for_end

    return wait_for_end(record.id, 10.0)
