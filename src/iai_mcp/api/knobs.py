"""Methods that read and set what people decide: the knobs, and which projects are private, and
whether anything is captured.

The word profile on the wire is the knobs'.
"""

from dataclasses import asdict

from iai_mcp import paths
from iai_mcp.api.acts import note
from iai_mcp.api.reading import caller_of
from iai_mcp.api.table import Json, Method
from iai_mcp.capture import consent
from iai_mcp.domain.errors import IoFailed
from iai_mcp.domain.instants import iso
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
    note(store, "knob_turned", knob=done.knob, before=done.before, value=done.value)
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
    private, caller = params.optional_flag("private"), caller_of(params)
    if private is None:
        return {"private": store.privacy.private(caller)}
    project = params.text("project", "")
    below = store.privacy.mark(project, caller.cwd, private)
    note(store, "project_privacy", project=store.redactor(project).text, private=private)
    told: Json = {"private": store.privacy.private(caller)}
    return {**told, "covers": below} if private else told


def _consent(store: MemoryStore, params: Params) -> Json:
    """Whether anything is captured now; `paused` says whether it may be from now on."""
    wanted, before = params.optional_flag("paused"), consent.paused()
    try:
        if wanted is not None and wanted != before:
            (consent.pause if wanted else consent.resume)()
            note(store, "capture_paused" if wanted else "capture_resumed")
    except OSError as refused:
        raise IoFailed(f"{paths.user_data()} can not be written: {refused.strerror}") from refused
    since = consent.paused_since()
    at = None if since is None else iso(int(since * 1_000_000))
    return {"paused": since is not None, "paused_since": at}


METHODS: tuple[Method[MemoryStore], ...] = (
    Method("profile_get", _get, tool="profile_get_set", page=True),
    Method("profile_set", _set, tool="profile_get_set", page=True),
    Method("project_privacy", _privacy, page=True),
    Method("capture_consent", _consent, page=True),
)
