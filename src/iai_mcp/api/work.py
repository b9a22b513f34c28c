"""Methods that tell what was done: how, fix, blame, changed, and what to tell who has just failed."""

from iai_mcp.api.callers import EVERYBODY
from iai_mcp.api.memory_views import injected_view
from iai_mcp.api.reading import caller_of, micros_of, wants_text, wordings_of
from iai_mcp.api.table import Json, Method
from iai_mcp.api.text_answers import work_text
from iai_mcp.domain.errors import InvalidInput
from iai_mcp.memory.after_failure import FailedCommand
from iai_mcp.memory.question import DEFAULT_BUDGET
from iai_mcp.memory.scoping import Filter
from iai_mcp.ports.memories import Scope
from iai_mcp.protocol.params import Params
from iai_mcp.store import MemoryStore

_LONGEST_ERROR = 20_000  # characters of a pasted output that are looked at, from its end


def _how(store: MemoryStore, params: Params) -> Json:
    question = params.text("query", "") or params.text("cue", "")
    commands = store.work_answers.how(
        question, _scope(store, params), _limit(params, 5), wordings_of(params)
    )
    return {"commands": commands}


def _fix(store: MemoryStore, params: Params) -> Json:
    error = params.text("error", "") or params.text("query", "") or params.text("cue", "")
    if not error.strip():
        raise InvalidInput("give the error message: what the command printed")
    limit = _limit(params, 3)
    return {
        "mendings": store.work_answers.fix(error[-_LONGEST_ERROR:], _scope(store, params), limit)
    }


def _blame(store: MemoryStore, params: Params) -> Json:
    path = params.text("path", "") or params.text("query", "")
    if not path.strip():
        raise InvalidInput("name a file or a directory")
    limit = _limit(params, 20, 1000)
    return {"edits": store.work_answers.blame(path, _scope(store, params), limit)}


def _changed(store: MemoryStore, params: Params) -> Json:
    limit = _limit(params, 200, 10_000)
    return {"edits": store.work_answers.changed(_scope(store, params), limit)}


_QUESTIONS = {"how": _how, "fix": _fix, "blame": _blame, "changed": _changed}


def _work(store: MemoryStore, params: Params) -> Json:
    """One entry for the four questions about work."""
    asked = params.text("ask")
    answer = _QUESTIONS.get(asked)
    if answer is None:
        raise InvalidInput(f"ask must be one of {', '.join(_QUESTIONS)}, not {asked[:40]!r}")
    found = answer(store, params)
    if not wants_text(params):
        return found
    budget = params.integer("budget_tokens", DEFAULT_BUDGET, 1, 1_000_000)
    return {"text": work_text(asked, found, budget)}


def _after_failure(store: MemoryStore, params: Params) -> Json:
    failed = FailedCommand(
        command=params.text("command"),
        output=params.text("output", ""),
        session_id=params.text("session_id", ""),
        project=params.text("project", ""),
        caller=caller_of(params),
    )
    return injected_view(store.after_failure(failed))


def _scope(store: MemoryStore, params: Params) -> Scope:
    """The filters of a call. Without a project it is the caller's own; `*` means every project."""
    caller = caller_of(params)
    about = Filter(
        project=params.text("project", "") or caller.cwd,
        session_id=params.text("session_id", ""),
        host=params.text("host", ""),
        agent=params.text("agent", ""),
        since=micros_of(store, params, "since"),
        until=micros_of(store, params, "until"),
        as_of=micros_of(store, params, "as_of"),
    )
    return store.access.scope(about, caller)


def _limit(params: Params, default: int, most: int = 100) -> int:
    return params.integer("limit", default, 1, most)


METHODS: tuple[Method[MemoryStore], ...] = (
    Method("how", _how, page=True, callers=EVERYBODY),
    Method("fix", _fix, page=True, callers=EVERYBODY),
    Method("blame", _blame, page=True, callers=EVERYBODY),
    Method("changed", _changed, page=True, callers=EVERYBODY),
    Method("memory_work", _work, tool="memory_work", page=True, callers=EVERYBODY),
    Method("after_failure", _after_failure, callers=EVERYBODY),
)
