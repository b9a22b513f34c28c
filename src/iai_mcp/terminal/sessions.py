"""What can be done with sessions, found by their files: no daemon has to be up.

Imports are late: a list needs none of what sending needs, and has 150 ms.
"""

import os
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from iai_mcp.domain.errors import IaiError, InvalidInput, NotFound, TimedOut
from iai_mcp.terminal.records import SessionRecord, read_all

if TYPE_CHECKING:
    from iai_mcp.terminal.output import OutputPreview
    from iai_mcp.terminal.text_input import Delivery

_AT_ONCE = 16  # deliveries of one broadcast
_LONG = 10**9  # seconds: who waits without a limit
_LAST_WORDS = 10.0  # seconds for a holder to go after its program has ended


class Listed(NamedTuple):
    """One session with what its holder said just now, if it has one."""

    record: SessionRecord
    last_line: str
    attached: int


class Sent(NamedTuple):
    """How one message of a broadcast went."""

    record: SessionRecord
    outcome: "Delivery | IaiError"


def found(project: str | None = None, cwd: str | None = None) -> list[SessionRecord]:
    """All sessions, or those of the project that a path or a name stands for."""
    everything = read_all()
    if any(record.status == "lost" and record.source != "holder" for record in everything):
        from iai_mcp.terminal import session_loss

        session_loss.note()
    if project is None:
        return everything
    from iai_mcp.project import from_argument, project_of

    wanted = project_of(from_argument(project, cwd or os.getcwd())).key
    return [
        record
        for record in everything
        if record.label.project and project_of(record.label.project).key == wanted
    ]


class SessionAgent(NamedTuple):
    """An agent of a project that has sessions. `slug` is empty once the agent is deleted."""

    id: str
    slug: str
    name: str
    project: str | None


Agents = Callable[[Sequence[SessionRecord]], Sequence[SessionAgent]]


def resolve(name: str, among: Sequence[SessionRecord], agents: Agents) -> SessionRecord:
    """The session that `name` stands for: its id, a prefix of that, or its agent.

    A prefix has at least six hex digits. An agent is named as everywhere (`domain/agents/lookup.py`),
    and means its newest running session, else the latest one that ended. `agents` gives the agents
    of the projects that the sessions belong to.
    """
    from iai_mcp.domain.agents.lookup import is_id_prefix

    matches = [record for record in among if record.id == name]
    if not matches and is_id_prefix(name):
        matches = [record for record in among if record.id.startswith(name)]
    matches = matches or _of_agent(name, among, agents(among))
    if len(matches) > 1:
        ids = ", ".join(record.id for record in matches[:5])
        raise InvalidInput(f"'{name}' could be several sessions ({ids}): give an id")
    if not matches:
        raise NotFound(f"there is no session '{name}': see iai-mcp session list")
    return matches[0]


def _of_agent(
    name: str, among: Sequence[SessionRecord], agents: Sequence[SessionAgent]
) -> list[SessionRecord]:
    """The session of the agent that `name` stands for; one of each where clones have the same agent."""
    from iai_mcp.domain.agents.lookup import listed as as_text
    from iai_mcp.domain.agents.lookup import matching

    named = matching(name, agents)
    if len({agent.project for agent in named}) < len(named):
        raise InvalidInput(
            f"'{name}' names {len(named)} agents; say which by its id: {as_text(named)}"
        )
    owners = {(agent.project, agent.id) for agent in named}
    theirs = [r for r in among if (r.label.project, r.label.agent_id) in owners]
    theirs = [record for record in theirs if record.alive] or theirs
    newest = {record.label.project: record for record in theirs}
    return list(newest.values())


def listed(records: Sequence[SessionRecord]) -> list[Listed]:
    """The sessions with live status and last line, asked of all holders at once."""
    from iai_mcp.terminal import output

    answers = output.previews([record for record in records if record.alive])
    result = []
    for record in records:
        answer = answers.get(record.id)
        if answer is not None:
            current = record._replace(
                status=answer.status, source=answer.source, since_ms=answer.since_ms
            )
            result.append(Listed(current, _last_words(answer), answer.clients))
        else:
            kept = "" if record.alive else output.last_line(output.raw(record)[-4096:])
            result.append(Listed(record, kept, 0))
    return result


def _last_words(answer: "OutputPreview") -> str:
    """What the agent said last; of one whose hooks told nothing of that, its terminal's last line.

    An agent at rest shows its program's hints there: they say nothing.
    """
    if answer.said or (answer.source == "hook" and answer.status == "idle"):
        return answer.said
    return answer.last_line


def send(
    record: SessionRecord, text: str, *, enter: bool = True, timeout: float = 5.0
) -> "Delivery":
    """See `text_input.deliver`."""
    from iai_mcp.terminal import text_input

    return text_input.deliver(record, text, enter=enter, timeout=timeout)


def broadcast(records: Sequence[SessionRecord], text: str, timeout: float = 5.0) -> list[Sent]:
    """Send to every agent among `records` that runs and reads; one that refuses does not stop the others.

    `timeout` is how long each may take to be ready, and then to take the message.
    """
    targets = [record for record in records if record.alive and record.label.agent_id is not None]
    if not targets:
        raise NotFound("no agent of this project is running: see iai-mcp session list")
    from concurrent.futures import ThreadPoolExecutor

    from iai_mcp.terminal import text_input

    def one(record: SessionRecord) -> Sent:
        try:
            text_input.await_prompt(record, timeout)
            return Sent(record, text_input.deliver(record, text, timeout=timeout))
        except IaiError as refused:
            return Sent(record, refused)

    # Most of a delivery is waiting for the program to draw: nobody waits for another's.
    with ThreadPoolExecutor(max_workers=min(_AT_ONCE, len(targets))) as pool:
        return list(pool.map(one, targets))


def as_text(record: SessionRecord, data: bytes, *, plain: bool, lines: int | None = None) -> str:
    """What it printed: as plain text, or as it came."""
    if not plain:
        return data.decode("utf-8", "replace")
    from iai_mcp.terminal.screen_paint import plain_text

    text = plain_text(data, record.rows, record.cols)
    if lines is not None:
        text = "".join(text.splitlines(keepends=True)[-lines:] if lines > 0 else [])
    return text


def kill(record: SessionRecord) -> int | None:
    """See `PtyPort.kill`."""
    from iai_mcp.terminal.pty import HolderPty

    return HolderPty().kill(record.id)


def wait(record: SessionRecord, until: str, timeout: float | None) -> SessionRecord:
    """The session once its status is `until`.

    Raises:
        NotFound: it ended before that.
        TimedOut: neither happened in `timeout` seconds.
    """
    reached = _reached(record, until, timeout) if record.alive else record
    if not reached.alive and until != "exited":
        how = "nobody saw how" if reached.exit_code is None else f"exit code {reached.exit_code}"
        raise NotFound(f"session '{record.id}' ended ({how}) before that")
    return reached


def _reached(record: SessionRecord, until: str, timeout: float | None) -> SessionRecord:
    """The session once its status is `until`, or once it has ended."""
    from iai_mcp.terminal import frames as wire
    from iai_mcp.terminal.connection import HolderConnection, HolderState

    deadline = time.monotonic() + (timeout if timeout is not None else _LONG)
    try:
        with HolderConnection(record.socket) as connection:
            connection.send(wire.WATCH)
            while (frame := connection.receive(deadline)) is not None:
                if frame[0] == wire.STATUS:
                    state = HolderState.parse(frame[1])
                    if state.status == until:
                        return record._replace(
                            status=state.status, source=state.source, since_ms=state.since_ms
                        )
                elif frame[0] == wire.EXITED:
                    break
    except NotFound:
        pass  # it ended while we connected
    except TimeoutError:
        raise TimedOut(
            f"session '{record.id}' was not {until} within {timeout:g} seconds"
        ) from None
    from iai_mcp.terminal.pty import wait_for_end

    return wait_for_end(record.id, _LAST_WORDS)


def prune(project: str | None, cwd: str | None = None, *, days: float = 0.0) -> list[str]:
    """Remove what is left of sessions that ended `days` ago; the ids of those removed."""
    from iai_mcp.terminal import cleanup

    pruned = cleanup.prune(found(project, cwd), days * 86_400)
    if project is None:
        cleanup.sweep()
    return pruned
