"""Checks on the open store: integrity, recovery, schema, backlog, forgetting, model, circles …"""

import os

from iai_mcp.adapters.embedding import location
from iai_mcp.adapters.sqlite import write_ahead
from iai_mcp.adapters.sqlite.database import verdict
from iai_mcp.adapters.sqlite.schema import STEPS
from iai_mcp.checks.language import FIX, PROBLEM, is_mismatch
from iai_mcp.checks.result import Check, failed, passed, warned
from iai_mcp.domain.errors import IaiError
from iai_mcp.domain.history_language import LETTERS, SAMPLE
from iai_mcp.domain.shown_text import memories
from iai_mcp.memory.reaching import EVENT
from iai_mcp.ports.memories import Scope
from iai_mcp.store import MemoryStore

_LONG_BACKLOG = 1000


def integrity(store: MemoryStore) -> Check:
    if not store.database.in_place:
        return failed(
            "integrity",
            f"{store.database.path} was moved or deleted while the daemon had it open",
            "put it back; or: iai-mcp restore FILE",
        )
    with store.database.reading() as db:
        found = verdict(db)
    if found != "ok":
        return failed(
            "integrity", "the store is damaged", "keep a copy, then: iai-mcp restore FILE"
        )
    return passed("integrity", f"{memories(store.memories.count())}, every page checked")


def recovery(store: MemoryStore) -> Check:
    kept = write_ahead.copies(store.database.path)
    if kept:
        return warned(
            "recovery",
            "after a daemon was killed, not all of its last writes could be read back: what could not "
            f"is in {kept[-1]}",
            "iai-mcp import takes agents' conversations in again, each turn once; then delete that file",
        )
    return passed("recovery", "nothing was lost when a daemon ended")


def schema(store: MemoryStore) -> Check:
    with store.database.reading() as db:
        version = int(str(db.pragma("user_version")))
    return passed("schema", f"format {version} of {len(STEPS)}")


def model(store: MemoryStore) -> Check:
    store.embedder.wait(3)
    embedder = store.embedder.get()
    if isinstance(embedder, str):
        return warned("model", embedder.removeprefix("meaning: "), "iai-mcp model install")
    try:
        location.check_digests(location.find())  # a start looks at sizes only
    except IaiError as problem:
        return warned("model", problem.message, "iai-mcp model install")
    return passed("model", embedder.model_id)


def backlog(store: MemoryStore) -> Check:
    pending = store.memories.pending_count()
    if pending > _LONG_BACKLOG:
        return warned(
            "backlog", f"{pending} memories wait for their vectors", "they follow by themselves"
        )
    return passed("backlog", f"{pending} vectors to come")


def forgetting(store: MemoryStore) -> Check:
    """Whether anything that was forgotten still stands in a copy of the store."""
    pending = store.memories.unreached_count()
    if pending:
        detail = f"{pending} forgotten memories still stand in copies of the store"
        return warned("forgetting", detail, "iai-mcp sleep --now (it needs room for a copy)")
    left = [one for one in _not_reached(store) if os.path.exists(one.partition(": ")[0])]
    if left:
        detail = f"what was forgotten may still stand in {left[0]}"
        fix = f"delete it once you do not want to restore it: rm {left[0].partition(': ')[0]}"
        return warned("forgetting", detail, fix)
    return passed("forgetting", "no copy of the store holds what was forgotten")


def _not_reached(store: MemoryStore) -> list[str]:
    """The copies that the last rewriting could not open, each with the reason."""
    for event in store.journal.events(EVENT, None, 1):
        data = event["data"]
        found = data.get("not_reached") if isinstance(data, dict) else None
        return [str(one) for one in found] if isinstance(found, list) else []
    return []


def redaction(store: MemoryStore) -> Check:
    problems = store.redactor.problems
    if problems:
        return warned("redaction", problems[0], "correct redaction.toml")
    return passed("redaction", "all patterns can be used")


def language(store: MemoryStore) -> Check:
    asked = Scope(role="user", said=True)
    keys = [placed.key for placed in store.memories.newest(asked, SAMPLE)]
    if is_mismatch(memory.text for memory in store.memories.get(keys, LETTERS)):
        return warned("language", PROBLEM, FIX)
    return passed("language", "the model speaks the language of the history")


def circles(store: MemoryStore) -> Check:
    """What is shared, and what is wrong with it; no place is asked."""
    if not store.shares:
        return passed("circles", "nothing is shared")
    found = store.sharing.status()
    for one in found:
        name = one.known.name
        if one.known.trouble:
            return warned("circles", f"{name}: {one.known.trouble}", f"iai-mcp share now '{name}'")
        if one.set_aside:
            count = len(one.set_aside)
            told = f"{name}: {count} records of others can not be read and are set aside"
            return warned("circles", told, f"iai-mcp share status '{name}' says why")
        worse = [found.kind for found in one.differences if found.kind != "cut"]
        if worse or one.removed or one.held:
            told = f"{name}: " + (
                "this machine was removed from it"
                if one.removed
                else one.held or "machines were shown different records of one stream"
            )
            return warned("circles", told, f"iai-mcp share status '{name}' says more")
        if one.differences:
            told = f"{name}: others heard more than the place shows here"
            return warned("circles", told, f"iai-mcp share status '{name}' lists it")
        if one.doubted:
            told = f"{name}: two machines came with the same code"
            return warned("circles", told, f"iai-mcp share members '{name}', then: remove one")
        if one.strangers or one.oddities:
            told = f"{name}: {len(one.strangers)} devices that do not belong and {len(one.oddities)} foreign files are in the place"
            return warned("circles", told, f"iai-mcp share status '{name}' lists them")
    waiting = sum(one.pending for one in found)
    return passed("circles", f"{len(found)} shared with; {waiting} things to send")


CHECKS = (
    integrity,
    recovery,
    schema,
    model,
    language,
    backlog,
    forgetting,
    redaction,
    circles,
)
