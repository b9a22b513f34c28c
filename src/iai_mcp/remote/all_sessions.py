"""Terminal sessions on this machine and on the machines of the person's remote projects.

A machine that does not answer within a second delays nobody: its sessions are listed as they were
known last, as `unreachable`. Without a remote project this costs reading one small file.
"""

import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from iai_mcp import paths
from iai_mcp.domain.errors import IaiError, NotFound, RemoteFailed
from iai_mcp.domain.projects.identity import is_elsewhere
from iai_mcp.terminal import sessions
from iai_mcp.terminal.records import SessionRecord
from iai_mcp.terminal.sessions import Listed, Sent, SessionAgent

if TYPE_CHECKING:
    from iai_mcp.domain.projects.project import RemoteRef
    from iai_mcp.ports.pty import PtyPort
    from iai_mcp.remote.machine import Machine
    from iai_mcp.remote.sessions import RemoteSessions
    from iai_mcp.terminal.connection import HolderConnection
    from iai_mcp.terminal.text_input import Delivery

_PATIENCE_SECONDS = 0.9  # a list is there within a second, whoever is away


class AllSessions:
    """All sessions, or those of one project. `problems` are the machines that did not answer."""

    def __init__(self, project: str | None = None, cwd: str | None = None) -> None:
        self.problems: dict[str, str] = {}
        self._project = project
        self._cwd = cwd

    def listed(self) -> list[Listed]:
        """With live status and last line: those here first."""
        if is_elsewhere(self._project):
            return self._far()
        here = sessions.listed(sessions.found(self._project, self._cwd))
        return here if self._project else here + self._far()

    def found(self) -> list[SessionRecord]:
        if not is_elsewhere(self._project):
            return sessions.found(self._project, self._cwd)
        return [each.record for each in self._far()]

    def named(self, name: str) -> SessionRecord:
        """See `sessions.resolve`; machines are asked only for what is not here.

        Raises:
            RemoteFailed, TimedOut: it is nowhere else, and a machine did not answer.
        """
        try:
            return sessions.resolve(name, self.found(), _agents)
        except NotFound:
            if self._project is not None:
                raise
            far = [each.record for each in self._far()]
            try:
                return sessions.resolve(name, far, _agents)
            except NotFound as nowhere:
                if not self.problems:
                    raise
                problem = next(iter(self.problems.values()))
                raise NotFound(f"{nowhere.message}. Not everything was seen: {problem}") from None

    def of_id(self, session_id: str) -> SessionRecord:
        """The session of exactly this id.

        Raises:
            NotFound: there is none, on any machine that answers.
            RemoteFailed: it may be on one that does not.
        """
        from iai_mcp.terminal.pty import find

        try:
            return find(session_id)
        except NotFound:
            for each in self._far():
                if each.record.id == session_id:
                    if each.record.status == "unreachable":
                        raise RemoteFailed(next(iter(self.problems.values()))) from None
                    return each.record
            raise

    def _far(self) -> list[Listed]:
        machines = self._machines()
        if not machines:
            return []
        if len(machines) == 1:
            found = self._on(machines[0])
        else:
            from concurrent.futures import ThreadPoolExecutor

            with ThreadPoolExecutor(len(machines)) as pool:
                found = [each for rows in pool.map(self._on, machines) for each in rows]
        path = _path_of(self._project)
        return [each for each in found if path in (None, each.record.label.project)]

    def _machines(self) -> "list[RemoteRef]":
        if is_elsewhere(self._project):
            from iai_mcp.domain.projects.project import RemoteRef

            return [RemoteRef.split(self._project or "")[0]]
        return machines()

    def _on(self, remote: "RemoteRef") -> list[Listed]:
        from iai_mcp.remote.machine import Machine
        from iai_mcp.remote.sessions import RemoteSessions

        # Who asks for one project waits for its machine; who asks for all waits for none.
        patience = None if self._project else _PATIENCE_SECONDS
        try:
            rows = RemoteSessions(Machine.of(remote)).listed(patience)
        except IaiError as away:
            self.problems[str(remote)] = away.message
            return _known(remote)
        remember(remote, rows)
        return rows


def machines() -> "list[RemoteRef]":
    """The machines that the person has projects on."""
    try:
        with open(paths.in_user_data("projects.json"), "rb") as source:
            text = source.read()
    except OSError:
        return []
    if b"ssh://" not in text:
        return []
    from iai_mcp.domain.projects.project import RemoteRef
    from iai_mcp.remote.json_fields import Fields

    try:
        known = Fields(json.loads(text)).objects("projects")
        far = [named for each in known if is_elsewhere(named := each.optional("remote")) and named]
        return [RemoteRef.parse(named) for named in dict.fromkeys(far)]
    except (ValueError, IaiError, AttributeError):
        return []  # damaged: whoever needs the list of projects says so


def send(record: SessionRecord, text: str, *, enter: bool, timeout: float = 5.0) -> "Delivery":
    if record.machine is None:
        return sessions.send(record, text, enter=enter, timeout=timeout)
    return _far_of(record).send(record, text, enter=enter, timeout=timeout)


def broadcast(records: list[SessionRecord], text: str, timeout: float = 5.0) -> list[Sent]:
    """To agents of one project: they are all on one machine."""
    if not records or records[0].machine is None:
        return sessions.broadcast(records, text, timeout)
    return _far_of(records[0]).broadcast(records, text, timeout)


def raw(record: SessionRecord) -> bytes:
    if record.machine is not None:
        return _far_of(record).raw(record)
    from iai_mcp.terminal import output

    return output.raw(record)


def logs(record: SessionRecord, *, plain: bool, lines: int | None = None) -> str:
    return sessions.as_text(record, raw(record), plain=plain, lines=lines)


def pty(record: SessionRecord) -> "PtyPort":
    """What types into it and resizes it."""
    if record.machine is None:
        from iai_mcp.terminal.pty import HolderPty

        return HolderPty()
    from iai_mcp.remote.pty import RemotePty

    return RemotePty(machine_of(record))


def record_of(session_id: str, machine: "Machine | None") -> SessionRecord:
    """The session of exactly this id, which was started on that machine just now."""
    if machine is None:
        from iai_mcp.terminal.pty import find

        return find(session_id)
    from iai_mcp.remote.sessions import RemoteSessions

    return RemoteSessions(machine).find(session_id)


def connected(record: SessionRecord) -> "HolderConnection":
    """With the holder of a session that runs, wherever that is.

    Raises:
        NotFound: it has ended.
    """
    if record.machine is None:
        from iai_mcp.terminal.connection import HolderConnection

        return HolderConnection(record.socket)
    from iai_mcp.remote.pty import RemoteConnection

    return RemoteConnection(machine_of(record), record.id)


def machine_of(record: SessionRecord) -> "Machine":
    from iai_mcp.domain.projects.project import RemoteRef
    from iai_mcp.remote.machine import Machine

    return Machine.of(RemoteRef.parse(record.machine or ""))


def kill(record: SessionRecord) -> int | None:
    return sessions.kill(record) if record.machine is None else _far_of(record).kill(record)


def wait(record: SessionRecord, until: str, timeout: float | None) -> SessionRecord:
    if record.machine is None:
        return sessions.wait(record, until, timeout)
    return _far_of(record).wait(record, until, timeout)


def prune(project: str | None, cwd: str | None = None, *, days: float = 0.0) -> list[str]:
    if not is_elsewhere(project):
        return sessions.prune(project, cwd, days=days)
    from iai_mcp.domain.projects.project import RemoteRef
    from iai_mcp.remote.machine import Machine
    from iai_mcp.remote.sessions import RemoteSessions

    remote, path = RemoteRef.split(project or "")
    return RemoteSessions(Machine.of(remote)).prune(path or None, days)


def _far_of(record: SessionRecord) -> "RemoteSessions":
    from iai_mcp.remote.sessions import RemoteSessions

    return RemoteSessions(machine_of(record))


def _path_of(project: str | None) -> str | None:
    """The directory over there, as its sessions name it."""
    if not is_elsewhere(project):
        return None
    from iai_mcp.domain.projects.project import RemoteRef
    from iai_mcp.remote.machine import Machine

    remote, path = RemoteRef.split(project or "")
    found = Machine.of(remote).call("project", path=path) if path else None
    return found if isinstance(found, str) else None


def _memo(remote: "RemoteRef") -> str:
    import hashlib

    return paths.in_user_data(
        "far", hashlib.sha256(str(remote).encode()).hexdigest()[:12] + ".rows"
    )


def is_expected_to_run(remote: "RemoteRef") -> bool:
    """Whether a session ran there when it was last seen."""
    return bool(_known(remote))


def remember(remote: "RemoteRef", rows: list[Listed]) -> None:
    """What a list can tell while the machine is away; never what was said."""
    from iai_mcp.remote.session_records import record_json

    path = _memo(remote)
    text = json.dumps([record_json(row.record) for row in rows if row.record.alive])
    descriptor = os.open(f"{path}.{os.getpid()}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as out:
        out.write(text)
    os.replace(f"{path}.{os.getpid()}", path)


def _known(remote: "RemoteRef") -> list[Listed]:
    from iai_mcp.remote.json_fields import Fields
    from iai_mcp.remote.session_records import record_of

    try:
        with open(_memo(remote), encoding="utf-8") as source:
            rows = Fields({"rows": json.load(source)}).objects("rows")
        return [
            Listed(record_of(each, str(remote))._replace(status="unreachable"), "", 0)
            for each in rows
        ]
    except (OSError, ValueError, IaiError):
        return []


def _agents(records: Sequence[SessionRecord]) -> list[SessionAgent]:
    """Every agent of these projects. One that is in no manifest has the name of its last session."""
    owned = [record for record in records if record.label.agent_id]
    manifests = {record.label.project: record for record in owned}
    known = [agent for record in manifests.values() for agent in _manifest(record)]
    ids = {(agent.project, agent.id) for agent in known}
    gone = {
        (record.label.project, record.label.agent_id): record
        for record in owned
        if (record.label.project, record.label.agent_id) not in ids
    }
    return known + [
        SessionAgent(agent_id or "", "", record.label.agent_name or "", project)
        for (project, agent_id), record in gone.items()
    ]


def _manifest(record: SessionRecord) -> list[SessionAgent]:
    """Nothing where the manifest can not be read: its sessions are still found by id and name."""
    place = record.label.project
    if not place or record.status == "unreachable":
        return []
    # Late: this module travels to other machines, and the reader of manifests does not.
    from functools import partial

    from iai_mcp.adapters.bounded_stat import look_at
    from iai_mcp.adapters.files.agent_contexts import FileAgentContextStore
    from iai_mcp.adapters.files.local import LocalFileSystem
    from iai_mcp.domain.projects.project import ProjectPath

    try:
        project = ProjectPath(place)
        if record.machine is None:
            store = FileAgentContextStore(LocalFileSystem)
            entries = look_at(place, lambda: store.load_manifest(project)).entries
        else:
            from iai_mcp.remote.ports import RemoteFiles

            far = FileAgentContextStore(partial(RemoteFiles, machine_of(record)))
            entries = far.load_manifest(project).entries
    except IaiError:
        return []
    return [SessionAgent(agent.id, agent.slug, agent.name, place) for agent in entries]
