"""Methods that bring memories into sessions, and the one that says what was brought."""

from iai_mcp.api.callers import EVERYBODY
from iai_mcp.api.memory_views import injected_view, memory_view
from iai_mcp.api.reading import caller_of
from iai_mcp.api.table import Json, Method
from iai_mcp.memory.injections import Injection, Used
from iai_mcp.memory.prompt_injection import MOST_TOKENS, NewPrompt
from iai_mcp.memory.session_start import NewSession
from iai_mcp.protocol.params import Params
from iai_mcp.store import MemoryStore

_SHOWN_OF_A_MEMORY = (
    *("text", "role", "speaker", "ts", "session_id", "project", "host", "agent", "pinned"),
)


def _session_start(store: MemoryStore, params: Params) -> Json:
    budget = params.integer("budget_tokens", 0, 0, 100_000) if params.has("budget_tokens") else None
    new = NewSession(
        session_id=params.text("session_id", ""),
        fork=params.text("fork", ""),
        source=params.text("source", ""),
        project=params.text("project", ""),
        caller=caller_of(params),
        budget=budget,
    )
    return injected_view(store.session_start(new))


def _prompt_injection(store: MemoryStore, params: Params) -> Json:
    new = NewPrompt(
        text=params.text("prompt"),
        session_id=params.text("session_id", ""),
        project=params.text("project", ""),
        caller=caller_of(params),
        budget=params.integer("budget_tokens", MOST_TOKENS, 1, MOST_TOKENS),
        within=params.integer("within_ms", 0, 0, 60_000) * 1000
        if params.has("within_ms")
        else None,
    )
    return injected_view(store.prompt_injection(new))


def _injections(store: MemoryStore, params: Params) -> Json:
    caller = caller_of(params)
    found, more = store.injections.latest(
        params.integer("limit", 20, 1, 1000),
        params.text("session_id", ""),
        params.text("project", ""),
        lambda project: not store.access.closed(caller, [project]) if caller.visitor else True,
    )
    told: Json = {"injections": [_injection_view(one) for one in found]}
    return {**told, "more": True} if more else told


def _injection_view(one: Injection) -> Json:
    return {
        "moment": one.moment,
        "session_id": one.session_id,
        "project": one.project,
        "tokens": one.tokens,
        "sources": [_used_view(used) for used in one.used],
        "ts": one.at,
    }


def _used_view(used: Used) -> Json:
    told: Json = {"id": used.source.id, "why": used.source.why}
    if used.memory is None:
        return {**told, "text": None, "forgotten": True}
    memory = memory_view(used.memory)
    return {**told, **{name: memory[name] for name in _SHOWN_OF_A_MEMORY}}


METHODS: tuple[Method[MemoryStore], ...] = (
    Method("session_start_payload", _session_start, callers=EVERYBODY),
    Method("prompt_injection", _prompt_injection, callers=EVERYBODY),
    Method("injections", _injections, page=True, command="iai-mcp why"),
)
