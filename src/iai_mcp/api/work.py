"""Methods that tell what was done: how, fix, blame, changed, and what to tell who has just failed."""

from iai_mcp.api.callers import EVERYBODY
from iai_mcp.api.memory_views import briefing_view
from iai_mcp.api.reading import caller_of, micros_of
from iai_mcp.api.table import Json, Method
from iai_mcp.domain.errors import InvalidInput
from iai_mcp.memory.after_failure import FailedCommand
from iai_mcp.memory.scoping import Filter
from iai_mcp.ports.memories import Scope
from iai_mcp.protocol.params import Params
from iai_mcp.store import MemoryStore

_LONGEST_ERROR = 20_000  # characters of a pasted output that are looked at, from its end


def _how(store: MemoryStore, params: Params) -> Json:
    question = params.text("query", "") or params.text("cue", "")
    scope, here = _scope(store, params), _here(store, params)
    return {"commands": store.work_answers.how(question, scope, here, _limit(params, 5))}


def _fix(store: MemoryStore, params: Params) -> Json:
    error = params.text("error", "") or params.text("query", "") or params.text("cue", "")
    if not error.strip():
        raise InvalidInput("give the error message: what the command printed")
    scope, here = _scope(store, params), _here(store, params)
    found = store.work_answers.fix(error[-_LONGEST_ERROR:], scope, here, _limit(params, 3))
    return {"mendings": found}


def _blame(store: MemoryStore, params: Params) -> Json:
    path = params.text("path")
    if not path.strip():
        raise InvalidInput("name a file or a directory")
    limit = _limit(params, 20, 1000)
    return {"edits": store.work_answers.blame(path, _scope(store, params), limit)}


def _changed(store: MemoryStore, params: Params) -> Json:
    limit = _limit(params, 200, 10_000)
    return {"edits": store.work_answers.changed(_scope(store, params), limit)}


def _after_failure(store: MemoryStore, params: Params) -> Json:
    failed = FailedCommand(
        command=params.text("command"),
        output=params.text("output", ""),
        session_id=params.text("session_id", ""),
        project=params.text("project", ""),
        caller=caller_of(params),
    )
    return briefing_view(store.after_failure(failed))


def _scope(store: MemoryStore, params: Params) -> Scope:
    """What the filters say."""
    about = Filter(
        project=params.text("project", ""),
        session_id=params.text("session_id", ""),
        host=params.text("host", ""),
        agent=params.text("agent", ""),
        since=micros_of(store, params, "since"),
        until=micros_of(store, params, "until"),
        as_of=micros_of(store, params, "as_of"),
    )
    return store.access.scope(about, caller_of(params))


def _here(store: MemoryStore, params: Params) -> str:
    return store.work_answers.here(params.text("project", ""), caller_of(params))


def _limit(params: Params, default: int, most: int = 100) -> int:
    return params.integer("limit", default, 1, most)


METHODS: tuple[Method[MemoryStore], ...] = (
    Method("how", _how, page=True, callers=EVERYBODY),
    Method("fix", _fix, page=True, callers=EVERYBODY),
    Method("blame", _blame, page=True, callers=EVERYBODY),
    Method("changed", _changed, page=True, callers=EVERYBODY),
    Method("after_failure", _after_failure, callers=EVERYBODY),
)
