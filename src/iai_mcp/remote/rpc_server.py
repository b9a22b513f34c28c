"""Runs on the other machine: answers calls on stdin and stdout, one function per method of a port.

Imports are late: every command starts this anew, and needs little of it.
"""

import errno
import json
import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from threading import BoundedSemaphore, Lock, Thread
from typing import TYPE_CHECKING

from iai_mcp import paths
from iai_mcp.domain.errors import IaiError, InvalidInput, NotFound
from iai_mcp.remote import environment, wire
from iai_mcp.remote.json_fields import Fields, data_text, error_json
from iai_mcp.remote.wire import Json

if TYPE_CHECKING:
    from iai_mcp.adapters.files.local import LocalFileSystem
    from iai_mcp.adapters.spool_drain import SpoolPass
    from iai_mcp.terminal.pty import HolderPty
    from iai_mcp.terminal.session_loss import LossWatch

Answer = Callable[["Service", Fields], object]


class Service:
    """What one connection holds over there: it goes with the connection."""

    def __init__(self) -> None:
        self._pty: HolderPty | None = None
        self._locks: dict[int, AbstractContextManager[None]] = {}
        self._spool: SpoolPass | None = None
        self._losses: LossWatch | None = None
        self._lock = Lock()

    def answer(self, message: Json) -> Json:
        """The answer to one call; what is refused is an answer too."""
        asked = Fields(message)
        try:
            method = METHODS.get(asked.text("call"), _unknown)
            answer: Json = {"result": method(self, asked.below("params"))}
        except IaiError as refused:
            answer = {"error": error_json(refused)}
        except OSError as failed:
            said = {"code": "IO", "message": f"the other machine refused: {failed.strerror}"}
            answer = {"error": said}
        except Exception as broken:  # noqa: BLE001 - dispatch: whoever waits gets an answer
            said = {"code": "REMOTE", "message": f"the other side failed ({type(broken).__name__})"}
            answer = {"error": said}
        return {"id": message.get("id"), **answer}

    @property
    def pty(self) -> "HolderPty":
        """One for all calls: it holds the programs that are to end with this connection."""
        with self._lock:
            if self._pty is None:
                from iai_mcp.terminal.pty import HolderPty

                self._pty = HolderPty()
            return self._pty

    @property
    def losses(self) -> "LossWatch":
        """One for all calls: it remembers what it has seen end."""
        with self._lock:
            if self._losses is None:
                from iai_mcp.terminal.session_loss import LossWatch

                self._losses = LossWatch()
            return self._losses

    def spool(self) -> "SpoolPass":
        """The way home for what is in the spool: over the forwarded socket, as hooks would go."""
        with self._lock:
            if self._spool is None:
                from iai_mcp.adapters.spool_drain import SpoolPass

                self._spool = SpoolPass(_deliver)
            return self._spool

    def lock(self, files: "LocalFileSystem", path: str) -> int:
        held = files.locked(path)
        held.__enter__()
        with self._lock:
            token = max(self._locks, default=0) + 1
            self._locks[token] = held
        return token

    def unlock(self, token: int) -> None:
        with self._lock:
            held = self._locks.pop(token, None)
        if held is not None:
            held.__exit__(None, None, None)


def _deliver(header: Json, events: list[Json]) -> Json:
    from iai_mcp.client import connection
    from iai_mcp.protocol.codes import INVALID_PARAMS

    try:
        return connection.call("capture_events", {**header, "events": events}, timeout=30.0)
    except connection.CallFailed as refused:
        if refused.rpc_code == INVALID_PARAMS:
            raise InvalidInput(refused.message) from refused
        raise


def hello() -> Json:
    """What the side that called has to know of this one."""
    return {
        "python": sys.executable,
        "home": os.path.expanduser("~"),
        "user_data": paths.user_data(),
        "socket": paths.socket_path(),
        "machine": os.uname().nodename,
        "memory": environment.memory_answers(),
    }


def _unknown(_service: Service, asked: Fields) -> object:
    raise NotFound("the other side is of another version, and does not know how to do this")


def _files(asked: Fields) -> "LocalFileSystem":
    from iai_mcp.adapters.files.local import LocalFileSystem

    return LocalFileSystem(asked.text("root"), own=asked.flag("own"))


def _read(_service: Service, asked: Fields) -> object:
    return data_text(_files(asked).read(asked.text("path")))


def _write(_service: Service, asked: Fields) -> object:
    _files(asked).write(asked.text("path"), asked.data("data"), private=asked.flag("private"))
    return None


def _exists(_service: Service, asked: Fields) -> object:
    return _files(asked).exists(asked.text("path"))


def _create_dir_all(_service: Service, asked: Fields) -> object:
    _files(asked).create_dir_all(asked.text("path"), private=asked.flag("private"))
    return None


def _list(_service: Service, asked: Fields) -> object:
    return list(_files(asked).list(asked.text("path")))


def _require_plain(_service: Service, asked: Fields) -> object:
    _files(asked).require_plain(asked.text("path"))
    return None


def _remove(_service: Service, asked: Fields) -> object:
    _files(asked).remove(asked.text("path"))
    return None


def _lock(service: Service, asked: Fields) -> object:
    return service.lock(_files(asked), asked.text("path"))


def _unlock(service: Service, asked: Fields) -> object:
    service.unlock(asked.number("lock"))
    return None


def _spawn(service: Service, asked: Fields) -> object:
    from iai_mcp.remote import serialization

    environment.adopt()
    session = service.pty.spawn(
        serialization.spec_of(asked.below("spec")),
        serialization.size_of(asked.below("size")),
        session_id=asked.optional("session_id"),
        detached=asked.flag("detached"),
        label=serialization.label_of(asked.below("label")),
    )
    environment.note_use(session)
    return session


def _type(service: Service, asked: Fields) -> object:
    service.pty.write(asked.text("session"), asked.data("data"))
    return None


def _resize(service: Service, asked: Fields) -> object:
    from iai_mcp.remote import serialization

    service.pty.resize(asked.text("session"), serialization.size_of(asked.below("size")))
    return None


def _kill(service: Service, asked: Fields) -> object:
    return service.pty.kill(asked.text("session"))


def _all(service: Service, _asked: Fields) -> object:
    from iai_mcp.remote import serialization

    return [serialization.session_json(session) for session in service.pty.all()]


def _socket(_service: Service, asked: Fields) -> object:
    """Where the holder of a session that runs listens."""
    from iai_mcp.terminal.pty import find

    record = find(asked.text("session"))
    if not record.alive:
        raise NotFound(f"session '{record.id}' has ended")
    return record.socket


def _rest(_service: Service, asked: Fields) -> object:
    """How a session ended, and what it printed from a byte on; None while it runs."""
    from iai_mcp.terminal import output
    from iai_mcp.terminal.pty import find

    record = find(asked.text("session"))
    if record.alive:
        return None
    data = output.rest(record, asked.number("position"))
    return {"exit_code": record.exit_code, "data": data_text(data)}


def _find(_service: Service, asked: Fields) -> object:
    from iai_mcp.remote import serialization

    return environment.runtime().find(serialization.profile_of(asked.below("profile")))


def _detect(_service: Service, asked: Fields) -> object:
    from dataclasses import asdict

    from iai_mcp.remote import serialization

    profiles = [serialization.profile_of(each) for each in asked.objects("profiles")]
    return [asdict(found) for found in environment.runtime().detect(profiles)]


def _record_trust(_service: Service, asked: Fields) -> object:
    from iai_mcp.remote import serialization

    profile = serialization.profile_of(asked.below("profile"))
    environment.runtime().record_trust(profile, asked.text("project"))
    return None


def _wiring(_service: Service, _asked: Fields) -> object:
    from dataclasses import asdict

    from iai_mcp.hosts import commands

    return asdict(commands.current())


def _project(_service: Service, asked: Fields) -> object:
    """The directory that is meant by a path, without links on the way."""
    path = os.path.realpath(os.path.expanduser(asked.text("path")))
    if not os.path.isdir(path):
        raise NotFound(f"there is no directory {path} on that machine: make it there first")
    return path


def _worktree(name: str) -> Answer:
    """A method of `Worktrees`; its answer is a text, a yes or no, nothing, or a value."""

    def answer(_service: Service, asked: Fields) -> object:
        from dataclasses import asdict

        from iai_mcp.adapters.git_worktrees import GitWorktrees
        from iai_mcp.domain.projects.project import ProjectPath

        arguments = {
            key: value for key, value in asked.all().items() if key in ("path", "branch", "into")
        }
        method = getattr(GitWorktrees(), name)
        result: object = method(ProjectPath(asked.text("project")), **arguments)
        return asdict(result) if hasattr(result, "__dataclass_fields__") else result  # type: ignore[call-overload]  # a value of `domain/agents/worktrees`

    return answer


def _listed(_service: Service, _asked: Fields) -> object:
    from iai_mcp.remote.session_records import record_json
    from iai_mcp.terminal import sessions

    return [
        {**record_json(each.record), "last_line": each.last_line, "attached": each.attached}
        for each in sessions.listed(sessions.found())
    ]


def _send(_service: Service, asked: Fields) -> object:
    from dataclasses import asdict

    from iai_mcp.terminal import sessions
    from iai_mcp.terminal.pty import find

    enter, timeout = asked.flag("enter"), asked.seconds("timeout") or 5.0
    record = find(asked.text("session"))
    return asdict(sessions.send(record, asked.text("text"), enter=enter, timeout=timeout))


def _broadcast(_service: Service, asked: Fields) -> object:
    from dataclasses import asdict

    from iai_mcp.terminal import sessions
    from iai_mcp.terminal.pty import find

    records = [find(each) for each in asked.texts("sessions")]
    sent = sessions.broadcast(records, asked.text("text"), asked.seconds("timeout") or 5.0)
    return [
        {"session": one.record.id, "error": error_json(one.outcome)}
        if isinstance(one.outcome, IaiError)
        else {"session": one.record.id, "delivery": asdict(one.outcome)}
        for one in sent
    ]


def _raw(_service: Service, asked: Fields) -> object:
    from iai_mcp.terminal import output
    from iai_mcp.terminal.pty import find

    return data_text(output.raw(find(asked.text("session"))))


def _wait(_service: Service, asked: Fields) -> object:
    from iai_mcp.remote.session_records import record_json
    from iai_mcp.terminal import sessions
    from iai_mcp.terminal.pty import find

    record, timeout = find(asked.text("session")), asked.seconds("timeout")
    return record_json(sessions.wait(record, asked.text("until"), timeout))


def _prune(_service: Service, asked: Fields) -> object:
    from iai_mcp.terminal import sessions

    return sessions.prune(asked.optional("project"), days=asked.seconds("days") or 0.0)


def _drain(service: Service, _asked: Fields) -> object:
    """Take home what hooks left in the spool while nobody could be reached; how that went."""
    from dataclasses import asdict

    return asdict(service.spool().drain_once())


def _news(service: Service, asked: Fields) -> object:
    """What happened to sessions since `place`, and the place behind it. Losses are noted here first:
    no daemon over there would.
    """
    from pathlib import Path

    from iai_mcp.adapters.journal_reader import NAME, read_on

    service.losses.look()
    text, place = read_on(Path(paths.in_user_data(NAME)), asked.text("place"))
    return {"data": data_text(text), "place": place}


def _examine(service: Service, _asked: Fields) -> object:
    """What `doctor` asks of a machine."""
    from iai_mcp.client import connection

    disk = os.statvfs(paths.user_data())
    return {
        "digest": environment.digest(),
        "memory": connection.is_up(),
        "spooled": service.spool().counts()["waiting"],
        "free": disk.f_bavail * disk.f_frsize,
    }


METHODS: dict[str, Answer] = {
    "files.read": _read,
    "files.write": _write,
    "files.exists": _exists,
    "files.create_dir_all": _create_dir_all,
    "files.list": _list,
    "files.require_plain": _require_plain,
    "files.remove": _remove,
    "files.lock": _lock,
    "files.unlock": _unlock,
    "pty.spawn": _spawn,
    "pty.write": _type,
    "pty.resize": _resize,
    "pty.kill": _kill,
    "pty.all": _all,
    "pty.socket": _socket,
    "pty.rest": _rest,
    "runtime.find": _find,
    "runtime.detect": _detect,
    "runtime.record_trust": _record_trust,
    "sessions.listed": _listed,
    "sessions.send": _send,
    "sessions.broadcast": _broadcast,
    "sessions.raw": _raw,
    "sessions.wait": _wait,
    "sessions.prune": _prune,
    "memory.drain": _drain,
    "sessions.news": _news,
    "examine": _examine,
    "wiring": _wiring,
    "project": _project,
    **{
        f"worktrees.{name}": _worktree(name)
        for name in ("workplace", "prepare", "standing", "difference", "merge", "remove")
    },
}


_AT_ONCE = 16


def serve(mark: str, home_id: str, machine: str) -> None:
    os.umask(0o077)
    # What a program or a module prints must not come between the messages.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    answers.write(f"\n{mark}{json.dumps(_greeting(home_id, machine))}\n".encode())
    answers.flush()
    service, turnstile = Service(), Lock()

    room = BoundedSemaphore(_AT_ONCE)

    def answer(message: wire.Json) -> None:
        answered = wire.pack(service.answer(message))
        with turnstile:
            answers.write(answered)
            answers.flush()
        room.release()

    Thread(target=environment.sweep, daemon=True).start()
    try:
        while (message := wire.receive(sys.stdin.buffer)) is not None:
            room.acquire()
            Thread(target=answer, args=(message,), daemon=True).start()
    finally:
        # Nobody hears the answers any more, and a wait may last for hours.
        os._exit(0)


def _greeting(home_id: str, machine: str) -> wire.Json:
    """What we say of ourselves, or why nothing can be done here."""
    try:
        environment.choose(home_id, machine)
        return hello()
    except OSError as refused:
        full = refused.errno in (errno.ENOSPC, errno.EDQUOT)
        return {"refused": refused.strerror or type(refused).__name__, "full": full}
