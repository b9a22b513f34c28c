"""Methods that move memories: export, import, and calls that no line can carry."""

import json
import os
import re
import stat
import uuid
from dataclasses import replace

from iai_mcp import paths
from iai_mcp.api.callers import CALLER, PERSON_AND_AGENTS, kind_of
from iai_mcp.api.memory_views import memory_view
from iai_mcp.api.reading import caller_of
from iai_mcp.api.table import Json, Method
from iai_mcp.api.work_views import work_view
from iai_mcp.client.large_call import ENDING, PREFIX
from iai_mcp.client.large_call import METHOD as BULKY
from iai_mcp.domain.errors import InvalidInput
from iai_mcp.domain.memories import NewTurn
from iai_mcp.memory.scoping import PERSON
from iai_mcp.memory.transfer import FORMAT, Arrival, Exported
from iai_mcp.memory.work_care import WorkArrival
from iai_mcp.protocol.messages import parse
from iai_mcp.protocol.params import Params, meta_json
from iai_mcp.protocol.turn_events import is_work, read_work
from iai_mcp.store import MemoryStore

_LONGEST_SALT = 64  # of the keyed hash that makes identities
_PIECE = 2_000_000  # characters; in the worst of letters half a line
_NAME = re.compile(re.escape(PREFIX) + r"[0-9a-f]{1,64}" + re.escape(ENDING))
_LARGEST = 1 << 30  # SQLite keeps no longer text


def _export(store: MemoryStore, params: Params) -> Json:
    found = store.transfer.page(
        params.integer("after", 0, 0, 1 << 62),
        params.integer("limit", 500, 1, 5000),
        store.access.owners_view(caller_of(params)),
    )
    told: Json = {"format": FORMAT, "salt": found.salt.hex()}
    if found.large is not None:
        told["large"] = found.large
    return {**told, "records": [_exported_view(one) for one in found.records], "next": found.next}


def _export_work(store: MemoryStore, params: Params) -> Json:
    limit = params.integer("limit", 500, 1, 5000)
    found = store.transfer_work.page(params.integer("after", 0, 0, 1 << 62), limit)
    view = store.access.owners_view(caller_of(params))
    several = store.transfer_work.sessions(found)
    return {
        "records": [
            {**work_view(one), **({"sessions": several[one.key]} if one.key in several else {})}
            for one in store.work_answers.opened(found, view)
            if view.opens(one.provenance.project)
        ],
        "next": found[-1].key if len(found) == limit else None,
    }


def _export_piece(store: MemoryStore, params: Params) -> Json:
    """A part of one memory's line in an export, from that character on, and where the next begins."""
    offset = params.integer("offset", 0, 0, 1 << 40)
    view = store.access.owners_view(caller_of(params))
    found = store.transfer.one(params.text("id"), view)
    line = json.dumps(_exported_view(found), ensure_ascii=False)
    end = offset + _PIECE
    return {"piece": line[offset:end], "next": end if end < len(line) else None}


def _exported_view(one: Exported) -> Json:
    memory = one.memory
    told = {**memory_view(memory), "cue": memory.cue, "supersedes": list(one.supersedes)}
    return {**told, "aliases": list(one.aliases)} if one.aliases else told


def _import(store: MemoryStore, params: Params) -> Json:
    records = params.objects("records")
    arrivals = [_arrival(record) for record in records if not is_work(record)]
    works = [_work_arrival(record) for record in records if is_work(record)]
    said = store.transfer.take_in(arrivals, _salt(params.text("salt", "")))
    done = store.transfer_work.take_in(works)
    store.backlog.wake()
    return {
        "inserted": said.inserted + done.inserted,
        "duplicates": said.duplicates + done.duplicates,
        "skipped": said.skipped + done.skipped,
    }


def _work_arrival(record: object) -> WorkArrival:
    """Its `turn` is the id that the request has in the export, not the host's."""
    new = read_work(record, NewTurn(text=""))
    if new is None or not isinstance(record, dict):
        raise InvalidInput("a record must say what was done")
    given = Params(record)
    told = replace(new.told, agent_name=given.text("agent", ""))
    turn = _identity(given.text("turn")) if given.raw("turn") else None
    sessions = tuple(given.texts("sessions"))
    return WorkArrival(_identity(given.text("id")), replace(new, told=told), turn, sessions)


def _arrival(record: object) -> Arrival:
    if not isinstance(record, dict):
        raise InvalidInput("a record must be an object")
    given = Params(record)
    ended = given.instant("valid_to")
    return Arrival(
        identity=_identity(given.text("id")),
        turn=NewTurn(
            text=given.text("text"),
            role=given.text("role", "user"),
            at=given.instant("ts"),
            session_id=given.text("session_id", ""),
            project=given.text("project", ""),
            host=given.text("host", ""),
            agent_id=given.text("agent_id", ""),
            agent_name=given.text("agent", ""),
            branch=given.text("branch", ""),
            captured_by=given.text("captured_by", ""),
            speaker=given.text("speaker", ""),
            tier=given.text("tier", "episodic"),
            cue=given.text("cue", ""),
            meta=meta_json(given.raw("meta") or None),
        ),
        pinned=given.flag("pinned"),
        valid_to=None if ended is None else ended.micros,
        supersedes=tuple(given.texts("supersedes")) if given.raw("supersedes") else (),
        aliases=tuple(map(_identity, given.texts("aliases"))),
        sessions=tuple(given.texts("sessions")),
    )


def _identity(public: str) -> bytes:
    try:
        return uuid.UUID(public).bytes
    except ValueError as bad:
        raise InvalidInput(f"{public[:40]!r} is not the id of a memory") from bad


def _salt(written: str) -> bytes:
    try:
        salt = bytes.fromhex(written)
    except ValueError as bad:
        raise InvalidInput("salt must be written in hexadecimal digits") from bad
    if len(salt) > _LONGEST_SALT:
        raise InvalidInput(f"salt may have {_LONGEST_SALT} bytes at most")
    return salt


def _call_spooled(store: MemoryStore, params: Params) -> Json:
    from iai_mcp.api.table import dispatch

    method = params.text("method")
    if method == BULKY:
        raise InvalidInput("a spooled call can not be one of a spooled call")
    given = _read(params.text("file"))
    if not isinstance(given, dict):
        raise InvalidInput("the spooled call must hold an object")
    outer = kind_of(params.all())
    if outer != PERSON:  # by this way, too
        given = {**given, CALLER: outer, "cwd": caller_of(params).cwd}
    return dispatch(store, method, given)


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
    Method("export_page", _export, command="iai-mcp export"),
    Method("export_work_page", _export_work, command="iai-mcp export"),
    Method("export_piece", _export_piece, command="iai-mcp export"),
    Method("import_records", _import, names_as_given=True, command="iai-mcp import"),
    Method(BULKY, _call_spooled, callers=PERSON_AND_AGENTS),
)
