"""Sharing as one store does it: which places there are, what may leave. Part of the composition root."""

import getpass
import os
import socket
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from iai_mcp.adapters.file_log import FileLog, LocalFiles
from iai_mcp.adapters.repositories import read_identities
from iai_mcp.adapters.sqlite.circles import SqliteCircles
from iai_mcp.adapters.sqlite.incoming import Merged
from iai_mcp.adapters.sqlite.saying import Own
from iai_mcp.domain.errors import InvalidInput, IoFailed, NotFound
from iai_mcp.domain.projects.identity import from_key
from iai_mcp.domain.redaction import redact_json
from iai_mcp.domain.shared_events import ProjectNamed, Said
from iai_mcp.memory.scoping import Caller
from iai_mcp.ports.shared_log import SharedLog
from iai_mcp.sharing.records import LARGEST
from iai_mcp.sharing.sharing import Sharing

if TYPE_CHECKING:
    from iai_mcp.store import MemoryStore

_DATABASES = ("postgresql://", "postgres://")


def compose(store: "MemoryStore") -> Sharing:
    """The sharing of one store."""
    outside = Outside(store)
    circles = SqliteCircles(
        store.database,
        tell=outside.told,
        project_here=outside.project_here,
        changed=lambda merged: _take_in(store, merged),
    )
    sharing = Sharing(
        circles=circles,
        open_log=open_log,
        clock=store.clock,
        journal=store.journal,
        redact=store.redactor,
        user=_user(),
        machine=socket.gethostname() or "unknown",
        changed=partial(_changed, store),
    )
    store.memories.told = sharing.wake
    return sharing


def open_log(place: str, circle: str, make: bool) -> SharedLog:
    """The place of a circle. `make`: it may be prepared for one, where that is not much.

    Raises:
        InvalidInput: no such kind of place.
    """
    if place.startswith(_DATABASES):
        from iai_mcp.adapters.postgres_log import PostgresLog

        log = PostgresLog(place, circle)
        if make:
            log.prepare()
        return log
    if place.startswith("ssh://"):
        from iai_mcp.adapters.sftp_files import FarPlace, SftpFiles

        return FileLog(SftpFiles(FarPlace.read(place), largest=LARGEST), circle)
    if not place.startswith("/") or "\0" in place:
        raise InvalidInput("a place is a directory, ssh://host/path or postgresql://host/database")
    if make and not os.path.isdir(place):
        try:
            os.mkdir(place, 0o700)
        except FileNotFoundError as absent:
            # Not made: what carries it (a disk, a synced directory) may be away.
            above = os.path.dirname(place.rstrip("/"))
            raise NotFound(
                f"there is no directory {above}: make it, or name another place"
            ) from absent
        except OSError as refused:
            raise IoFailed(f"{place} can not be made: {refused.strerror}") from refused
    return FileLog(LocalFiles(place, largest=LARGEST), circle)


class Outside:
    """What others may hear of this store, and what their projects are here."""

    def __init__(self, store: "MemoryStore") -> None:
        self._store = store
        self._name = lru_cache(1024)(lambda text: store.redactor(text).text)
        # What one says is what the next was said after.
        self._clean = lru_cache(32)(store.redactor)

    def told(self, own: Own) -> Said | None:
        """A memory by today's rules; None where it is private by now, or nothing of it is left."""
        said = own.said
        if own.project and self._store.access.closed(Caller(), [own.project]):
            return None
        redacted = self._clean(said.text)
        if redacted.nothing_left:
            return None
        name: Callable[[str], str] = self._name
        told = replace(
            said,
            text=redacted.text,
            cue=name(said.cue),
            session_id=name(said.session_id),
            speaker=name(said.speaker),
            role=name(said.role),
            host=name(said.host),
            agent_id=name(said.agent_id),
            agent_name=name(said.agent_name),
            branch=name(said.branch),
            meta=redact_json(said.meta, name) if said.meta else "",
        )
        # Vectors tell about the words that they were made of.
        made_of = (said.text, own.before)
        if all(text is not None and self._clean(text).text == text for text in made_of):
            return told
        return replace(told, model="", vector=b"", parts=b"", topics=0, context=False, whole=False)

    def project_here(self, told: ProjectNamed) -> str:
        """The project here with the same repository, unless it is private; "" for none."""
        wanted = {told.remote, told.root_commit} - {""}
        closed = self._store.access.closed_to(Caller())
        for key in self._store.memories.projects() if wanted else ():
            if key not in closed and wanted & set(repository_of(key)):
                return key
        return ""


def repository_of(project: str) -> tuple[str, str]:
    """What tells other checkouts of a project: its remote and its first commit, as far as known."""
    root = from_key(project).root
    found = read_identities(root) if root and os.path.isdir(root) else []
    remote = next((one for one in found if one.startswith("remote:")), "")
    return remote, next((one for one in found if one.startswith("root:")), "")


def _changed(store: "MemoryStore") -> None:
    store.circles_changed()


def _take_in(store: "MemoryStore", merged: Merged) -> None:
    """What is held in memory follows what came and went."""
    store.memories.counted(len(merged.came) - len(merged.gone))
    if merged.gone:
        store.forgotten(merged.gone)
    if merged.came:
        store.model.arrived(min(merged.came) - 1)
        store.backlog.wake()
    if merged.forgot:
        store.reaching.wake()


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "me"
