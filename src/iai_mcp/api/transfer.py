"""Methods that keep what is stored safe and movable: backup, export, import, pins."""

import os
import re
import stat
from pathlib import Path

from iai_mcp import paths
from iai_mcp.adapters.keys import backup
from iai_mcp.adapters.looks import look_at
from iai_mcp.api.method import Json, Method
from iai_mcp.client.bulky import ENDING, PREFIX
from iai_mcp.client.bulky import METHOD as BULKY
from iai_mcp.domain.errors import InvalidInput
from iai_mcp.memory.changing import named
from iai_mcp.memory.transfer import imported, page, piece
from iai_mcp.protocol.messages import parse
from iai_mcp.protocol.params import Params
from iai_mcp.store import MemoryStore


def _backup(store: MemoryStore, params: Params) -> Json:
    path = Path(params.text("path"))
    if not path.is_absolute():
        raise InvalidInput("path must be absolute: the daemon's directory is not yours")
    if not look_at(str(path.parent), path.parent.is_dir):
        raise InvalidInput(f"{path.parent} is not a directory")
    made = backup.create(store.database, store.directory, path)
    store.journal.record_event("backup", {"records": made["records"]}, store.clock.now())
    return made


def _export(store: MemoryStore, params: Params) -> Json:
    return page(
        store.memories,
        params.integer("after", 0, 0, 1 << 62),
        params.integer("limit", 500, 1, 5000),
    )


def _export_piece(store: MemoryStore, params: Params) -> Json:
    return piece(store.memories, params.text("id"), params.integer("offset", 0, 0, 1 << 40))


def _import(store: MemoryStore, params: Params) -> Json:
    result = imported(
        store.memories,
        store.projects,
        store.redactor,
        params.objects("records"),
        params.text("salt", ""),
    )
    store.backlog.wake()
    return result


def _pin(store: MemoryStore, params: Params) -> Json:
    memory = named(params, store.memories, store.projects)
    pinned = params.flag("pinned", True)
    store.memories.pin(memory.key, pinned)
    return {"id": memory.id, "pinned": pinned}


_NAME = re.compile(re.escape(PREFIX) + r"[0-9a-f]{1,64}" + re.escape(ENDING))
_LARGEST = 1 << 30  # SQLite keeps no longer text


def _call_spooled(store: MemoryStore, params: Params) -> Json:
    from iai_mcp.api.table import dispatch

    method = params.text("method")
    if method == BULKY:
        raise InvalidInput("a spooled call can not be one of a spooled call")
    return dispatch(store, method, _read(params.text("file")))


def _read(name: str) -> object:
    """The params that a caller left in the spool: a plain file of its own, and no other."""
    if not _NAME.fullmatch(name):
        raise InvalidInput("file must be the name of a spooled call")
    try:
        path = os.path.join(paths.spool_dir(), name)
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode) or found.st_size > _LARGEST:
                raise InvalidInput("the spooled call is not a file, or larger than 1 GiB")
            return parse(file.read())
    except (OSError, ValueError) as unreadable:
        raise InvalidInput("the spooled call can not be read") from unreadable


METHODS: tuple[Method[MemoryStore], ...] = (
    Method("backup", _backup),
    Method("export_page", _export),
    Method("export_piece", _export_piece),
    Method("import_records", _import, names_as_given=True),
    Method("memory_pin", _pin),
    Method(BULKY, _call_spooled),
)
