"""Methods that keep what is stored safe and movable: backup, export, import, pins."""

from collections.abc import Mapping
from pathlib import Path

from iai_mcp.adapters.keys import backup
from iai_mcp.adapters.looks import look_at
from iai_mcp.domain.errors import InvalidInput
from iai_mcp.memory.changing import named
from iai_mcp.memory.params import Params
from iai_mcp.memory.transfer import imported, page, piece
from iai_mcp.methods.memory import Method
from iai_mcp.store import MemoryStore


def _backup(store: MemoryStore, params: Params) -> dict[str, object]:
    path = Path(params.text("path"))
    if not path.is_absolute():
        raise InvalidInput("path must be absolute: the daemon's directory is not yours")
    if not look_at(str(path.parent), path.parent.is_dir):
        raise InvalidInput(f"{path.parent} is not a directory")
    made = backup.create(store.database, store.directory, path)
    store.journal.record_event("backup", {"records": made["records"]}, store.clock.now())
    return made


def _export(store: MemoryStore, params: Params) -> dict[str, object]:
    return page(
        store.memories,
        params.integer("after", 0, 0, 1 << 62),
        params.integer("limit", 500, 1, 5000),
    )


def _export_piece(store: MemoryStore, params: Params) -> dict[str, object]:
    return piece(store.memories, params.text("id"), params.integer("offset", 0, 0, 1 << 40))


def _import(store: MemoryStore, params: Params) -> dict[str, object]:
    result = imported(
        store.memories,
        store.projects,
        store.redactor,
        params.objects("records"),
        params.text("salt", ""),
    )
    store.backlog.wake()
    return result


def _pin(store: MemoryStore, params: Params) -> dict[str, object]:
    memory = named(params, store.memories, store.projects)
    pinned = params.flag("pinned", True)
    store.memories.pin(memory.key, pinned)
    return {"id": memory.id, "pinned": pinned}


METHODS: Mapping[str, Method] = {
    "backup": _backup,
    "export_page": _export,
    "export_piece": _export_piece,
    "import_records": _import,
    "memory_pin": _pin,
}
