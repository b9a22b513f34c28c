"""Methods that read and set what people decide: the knobs, and which projects are private.

The word profile on the wire is the knobs'.
"""

from dataclasses import asdict

from iai_mcp.api.reading import caller_of
from iai_mcp.api.table import Json, Method
from iai_mcp.domain.knobs import KNOBS, Knobs, knob_named
from iai_mcp.protocol.params import Params
from iai_mcp.store import MemoryStore


def _get(store: MemoryStore, params: Params) -> Json:
    """One knob with what it takes, or the values of all."""
    values = asdict(store.knobs.current())
    name = params.text("knob", "")
    if not name:
        return {"values": values, "knobs": {n: _described(n) for n in KNOBS}}
    knob_named(name)
    value = values[name]
    return {"knob": name, "value": value, "values": {name: value}} | _described(name)


def _set(store: MemoryStore, params: Params) -> Json:
    name, given = params.text("knob"), params.need("value")
    done = store.knobs.turn(name, given)
    return {
        "knob": done.knob,
        "value": done.value,
        "before": done.before,
        "values": {done.knob: done.value},
    }


def _described(name: str) -> Json:
    knob = KNOBS[name]
    return {"says": knob.says, "takes": knob.takes, "default": asdict(Knobs())[name]}


def _privacy(store: MemoryStore, params: Params) -> Json:
    """Without `private` it only tells which are."""
    private = params.optional_flag("private")
    if private is not None:
        store.privacy.mark(params.text("project", ""), caller_of(params).cwd, private)
    return {"private": store.privacy.private()}


METHODS: tuple[Method[MemoryStore], ...] = (
    Method("profile_get", _get, tool="profile_get_set", page=True),
    Method("profile_set", _set, tool="profile_get_set", page=True),
    Method("project_privacy", _privacy, page=True),
)
