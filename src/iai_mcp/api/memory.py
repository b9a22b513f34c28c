"""Methods of the memory: recall, remember, correct, forget."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np

from iai_mcp.api.acts import note
from iai_mcp.api.callers import EVERYBODY, PERSON_AND_REMOTE_HOOKS
from iai_mcp.api.memory_views import answer_view, around_bytes, memory_view, shown_view
from iai_mcp.api.reading import caller_of, filter_of, wants_text, wordings_of
from iai_mcp.api.table import Json, Method
from iai_mcp.api.text_answers import exchanges_text, timeline_text
from iai_mcp.api.work_views import folded_view, with_work, work_view, work_whole_view
from iai_mcp.domain.errors import InvalidInput, NotAllowed
from iai_mcp.domain.instants import Instant, iso
from iai_mcp.domain.memories import Memory, NewTurn, Provenance
from iai_mcp.domain.work import NewWork, Record
from iai_mcp.memory.capture import NotKept, check_names
from iai_mcp.memory.changing import Contradicted, Forgotten, Selection
from iai_mcp.memory.forget_preview import SHOWN_OF_EACH, Preview
from iai_mcp.memory.question import (
    DEFAULT_BUDGET,
    LONGEST_CUE,
    MOST_HITS,
    Answer,
    Question,
    usual_hits,
)
from iai_mcp.memory.scoping import Caller
from iai_mcp.memory.timeline import DEFAULT_TURNS
from iai_mcp.memory.undo import HELD_DAYS
from iai_mcp.memory.work_recall import KINDS, Kind, shared_room
from iai_mcp.ports.embedder import Matrix
from iai_mcp.ports.held import HeldMemory
from iai_mcp.ports.memories import DISPUTES
from iai_mcp.protocol.params import Params
from iai_mcp.protocol.turn_events import is_work, lenient_instant, read_turn, read_work
from iai_mcp.recall.render import NOTHING, work_line
from iai_mcp.store import MemoryStore

_MOST_CONTEXT = 20
_LONGEST_LANGUAGE = 16
_MOST_SHOWN = 100
_SHOWN_TO_VISITORS = 10
_MOST_SHOWN_IDS = 5
_MOST_BUDGET = 1_000_000
_MOST_HELD = 10_000
_BOTH_HOLD = "both statements hold: an agent does not replace what a person or a session said"
_FORGOTTEN = (
    "it was forgotten before. A person can store it again with 'iai-mcp capture --again', or bring it "
    "back with 'iai-mcp restore --forgotten' where an agent or retention forgot it in the last 7 days"
)


def _question(store: MemoryStore, params: Params) -> Question:
    cue = params.text("cue").strip()[:LONGEST_CUE]
    group_by = params.text("group_by", "")
    if group_by not in ("", "session"):
        raise InvalidInput("group_by can only be 'session'")
    budget = params.integer("budget_tokens", DEFAULT_BUDGET, 1, _MOST_BUDGET)
    return Question(
        cue=cue,
        wordings=wordings_of(params),
        about=filter_of(store, params),
        caller=caller_of(params),
        limit=params.integer("k", usual_hits(budget), 1, MOST_HITS),
        budget=budget,
        context=params.integer("context", 0, 0, _MOST_CONTEXT),
        by_session=group_by == "session",
        fold=params.flag("fold", True),
        explain=params.flag("explain"),
        full=params.flag("full"),
        language=params.text("language", "")[:_LONGEST_LANGUAGE].partition("-")[0].lower() or None,
        now=_clock(params.instant("now")),
        vector=_vector(params.raw("cue_embedding")),
    )


def _clock(given: Instant | None) -> datetime | None:
    """The caller's clock, with its own offset."""
    if given is None:
        return None
    moment = datetime.fromisoformat(given.text)
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _vector(raw: object) -> Matrix | None:
    if raw is None:
        return None
    if not isinstance(raw, list) or not raw or not all(map(_is_number, raw)):
        raise InvalidInput("cue_embedding must be a list of numbers")
    try:
        vector = np.array(raw, dtype=np.float32)
    except OverflowError as beyond:
        raise InvalidInput("cue_embedding must be a list of finite numbers") from beyond
    if not np.isfinite(vector).all():
        raise InvalidInput("cue_embedding must be a list of finite numbers")
    return vector / max(float(np.linalg.norm(vector)), 1e-12)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _recall(store: MemoryStore, params: Params) -> Json:
    asked = _question(store, params)  # what is missing is said before anybody waits for a model
    kind = _kind(params)
    if wants_text(params):
        return _recalled_text(store, asked, kind)
    share = store.work_recall.share(asked, store.access.scope(asked.about, asked.caller), kind)
    if kind == "did":
        return with_work(answer_view(Answer(hits=())), share, asked.limit)
    store.embedder.wait(store.settings.model_wait_ms / 1000)
    found = store.recall(shared_room(replace(asked, around=around_bytes), share))
    return with_work(_with_disputes(store, found, answer_view(found)), share, asked.limit)


def _recalled_text(store: MemoryStore, asked: Question, kind: Kind) -> Json:
    if kind == "did":
        scope = store.access.scope(asked.about, asked.caller)
        hits = store.work_recall.share(asked, scope, kind).hits
        return {"text": "\n".join(work_line(h.record, h.request) for h in hits) or NOTHING}
    store.embedder.wait(store.settings.model_wait_ms / 1000)
    found = store.recall(replace(asked, as_text=True, work=kind == "any" and not asked.about.role))
    return {"text": found.text, **({"stages": dict(found.stages)} if found.stages else {})}


def _with_disputes(store: MemoryStore, found: Answer, told: Json) -> Json:
    """Hits that an agent contradicted, and the agent's own statements, name each other."""
    links = store.memories.links([hit.memory.key for hit in found.hits], DISPUTES)
    hits = told["hits"]
    if not links or not isinstance(hits, list):
        return told
    keys = sorted({key for link in links for key in (link.a, link.b)})
    ids = {memory.key: memory.id for memory in store.memories.get(keys, 1)}
    for hit, shown in zip(found.hits, hits, strict=True):
        key = hit.memory.key
        for name, others in (
            ("disputed_by", [link.b for link in links if link.a == key]),
            ("disputes", [link.a for link in links if link.b == key]),
        ):
            if others:
                shown[name] = [ids[other] for other in others if other in ids]
    return told


def _kind(params: Params) -> Kind:
    given = params.text("kind", "any") or "any"
    for kind in KINDS:
        if given == kind:
            return kind
    raise InvalidInput(f"kind must be one of {', '.join(KINDS)}, not {given[:40]!r}")


def _capture(store: MemoryStore, params: Params) -> Json:
    if not params.text("text").strip():
        return _not_kept("the text is blank")
    caller, again = caller_of(params), params.flag("again")
    if again and caller.visitor:
        raise NotAllowed("only a person brings back what was forgotten: iai-mcp capture --again")
    outcome = store.capture.one(_by_hand(params), caller, again=again)
    if isinstance(outcome, NotKept):
        return _not_kept(outcome.reason)
    if outcome.status == "forgotten":
        return _not_kept(_FORGOTTEN, outcome.id)
    reason = "it was captured before" if outcome.status == "duplicate" else "new"
    return {"status": outcome.status, "record_id": outcome.id, "reason": reason}


def _by_hand(params: Params) -> NewTurn:
    return NewTurn(
        text=params.text("text"),
        role=params.text("role", "user") or "user",
        at=params.instant("ts"),
        session_id=params.text("session_id", ""),
        project=params.text("project", ""),
        cwd=params.text("cwd", ""),
        host=params.text("host", ""),
        agent_id=params.text("agent_id", ""),
        agent_name=params.text("agent_name", ""),
        branch=params.text("branch", ""),
        speaker=params.text("speaker", ""),
        tier=params.text("tier", "episodic"),
        cue=params.text("cue", ""),
        meta=params.meta(),
    )


def _not_kept(reason: str, public_id: str | None = None) -> Json:
    return {"status": "skipped", "record_id": public_id, "reason": reason}


def _capture_events(store: MemoryStore, params: Params) -> Json:
    shared = NewTurn(
        text="",
        session_id=params.text("session_id"),
        project=params.text("project", ""),
        cwd=params.text("cwd", ""),
        host=params.text("host", ""),
    )
    check_names(shared)
    turns: list[NewTurn] = []
    works: list[NewWork] = []
    blank = unreadable = 0
    for event in params.objects("events"):
        try:
            new = read_work(event, shared) if is_work(event) else read_turn(event, shared)
        except InvalidInput:
            unreadable += 1
            continue
        if new is None:
            blank += 1
        elif isinstance(new, NewWork):
            works.append(new)
        else:
            turns.append(new)
    spooled = lenient_instant(params.raw("deferred_at"))
    said, done = store.capture(turns, spooled), store.capture_work(works, spooled)
    return {
        "inserted": said.inserted + done.inserted,
        "duplicates": said.duplicates + done.duplicates,
        "skipped": said.skipped + done.skipped + blank,
        "errors": said.errors + done.errors + unreadable,
        **({"work": done.inserted} if works else {}),
    }


def _contradict(store: MemoryStore, params: Params) -> Json:
    agent = Provenance(
        session_id=params.text("session_id", ""),
        agent_id=params.text("agent_id", ""),
        agent_name=params.text("agent_name", ""),
    )
    caller = caller_of(params)
    at = None if caller.visitor else params.instant("ts")
    done = store.contradict(params.text("id"), params.text("new_fact"), caller, at, agent)
    if not done.superseded:
        note(store, "memory_disputed", id=done.old_id, by=done.new_id)
        told = _contradicted_view(done)
        return {**told, "superseded": False, "note": _BOTH_HOLD}
    note(store, "memory_superseded", id=done.old_id, by=done.new_id)
    return _contradicted_view(done)


def _contradicted_view(done: Contradicted) -> Json:
    return {
        "original_id": done.old_id,
        "new_record_id": done.new_id,
        "edge_type": "contradicts",
        "ts": iso(done.at),
    }


def _reinstate(store: MemoryStore, params: Params) -> Json:
    done = store.reinstate(params.text("id"), caller_of(params))
    note(store, "memory_reinstated", id=done)
    return {"id": done, "reinstated": True}


def _restore_forgotten(store: MemoryStore, params: Params) -> Json:
    """Without `restore` it lists what could come back."""
    ids = params.optional_texts("ids") or ()
    if not params.flag("restore"):
        found = store.restore_forgotten.entries(ids)
        return {"records": [_held_view(one) for one in found[:_MOST_HELD]], "count": len(found)}
    done = store.restore_forgotten(ids)
    if done.ids:
        note(store, "memory_restored", memories=done.memories, work=len(done.ids) - done.memories)
    return {"restored": len(done.ids), "ids": list(done.ids[:_MOST_HELD])}


def _held_view(one: HeldMemory) -> Json:
    return {
        "id": one.id,
        "text": one.text[:SHOWN_OF_EACH],
        "role": one.role,
        "project": one.project or None,
        "session_id": one.session_id or None,
        "ts": iso(one.said_at),
        "forgotten_by": one.by,
        "forgotten_at": iso(one.at),
        "until": iso(one.at + HELD_DAYS * 86_400_000_000),
    }


def _reinforce(store: MemoryStore, params: Params) -> Json:
    params.need("ids")
    done = store.reinforce(params.texts("ids"), caller_of(params))
    return {
        "edges_boosted": done.links,
        "reinforced": list(done.known),
        "unknown": list(done.unknown),
    }


def _pin(store: MemoryStore, params: Params) -> Json:
    pinned = params.flag("pinned", True)
    told: Json = {"id": store.pin(params.text("id"), pinned, caller_of(params)), "pinned": pinned}
    note(store, "memory_pinned" if pinned else "memory_unpinned", id=told["id"])
    return told


def _forget(store: MemoryStore, params: Params) -> Json:
    selection = Selection(
        ids=params.optional_texts("ids"),
        words=params.optional_text("query"),
        about=filter_of(store, params, since="after", until="before"),
        caller=caller_of(params),
    )
    works, left = store.forget_work.rehearsed(selection)
    works = store.work_answers.opened(works, store.access.owners_view(selection.caller))
    kinds, stay = (Counter(str(one.kind) for one in some) for some in (works, left))
    if params.flag("dry_run"):
        few = _SHOWN_TO_VISITORS if selection.caller.visitor else 0
        shown = params.integer("show", few, 0, _MOST_SHOWN)
        would, seen = store.forget.rehearsed(selection, shown)
        told = _forgotten_view(would, [one.id for one in works], kinds, stay, gone=False)
        if selection.caller.visitor:  # a model needs a count and some examples, not every id
            told["ids"] = [*would.ids, *(one.id for one in works)][:_SHOWN_TO_VISITORS]
        if not selection.caller.visitor and (held := store.forget.held_matches(selection)):
            told["held"] = held
        if seen is None:
            return told
        return {**told, **_preview_view(seen.with_work(works, selection.words or "", shown))}
    done = store.forget(selection, kinds)
    gone = store.forget_work(selection)
    told = _forgotten_view(done, gone, kinds, stay)
    if done.dropped:
        told["held_dropped"] = done.dropped
    if not done.count and not gone and not done.dropped:
        return told
    note(store, "memory_forgotten", memories=done.count, work=len(gone))
    if selection.caller.visitor:  # backups keep it until it is held no longer
        return {**told, "held_days": HELD_DAYS}
    return {**told, "copies": store.reach_copies()}


def _forgotten_view(
    done: Forgotten,
    works: Sequence[str],
    kinds: Mapping[str, int],
    stay: Mapping[str, int],
    *,
    gone: bool = True,
) -> Json:
    """Turns and work together; `work` says how many of them are that, `kinds` of which kinds.

    `stay` counts the work that only leaves the session which was named.
    """
    told: Json = {
        "forgotten": done.count + (len(works) if gone else 0),
        "ids": [*done.ids, *works],
        "matches": done.matches + len(works),
        **({"work": len(works), "kinds": dict(kinds)} if works else {}),
    }
    if done.stay or stay:
        told["stay_with_others"] = done.stay + sum(stay.values())
    if stay:
        told["stay_kinds"] = dict(stay)
    return {**told, "more": True} if len(done.ids) < done.matches else told


def _preview_view(seen: Preview) -> Json:
    said = [{**memory_view(memory), "sample": sample} for memory, sample in seen.first]
    done = [{**_brief_work(record), "sample": sample} for record, sample in seen.done]
    return {"records": [*said, *done], "projects": dict(seen.projects)}


def _brief_work(record: Record) -> Json:
    """As short as memories are in a preview: without what it printed."""
    told = work_view(record)
    del told["work"]
    return {**told, "text": str(told["text"])[:SHOWN_OF_EACH]}


def _timeline(store: MemoryStore, params: Params) -> Json:
    about, caller = filter_of(store, params), caller_of(params)
    if wants_text(params) and not about.project and not about.session_id:
        about = replace(about, project=caller.cwd)
    scope = store.access.scope(about, caller)
    found = store.timeline(
        scope,
        params.integer("limit", DEFAULT_TURNS, 1, 100_000),
        _place(params.text("cursor", "")),
    )
    places = [(one.memory.provenance.session_id, one.memory.at.micros) for one in found.turns]
    done = store.work_recall.folded(places, scope)
    records = [
        {**shown_view(turn), **folded_view(work)}
        for turn, work in zip(found.turns, done, strict=True)
    ]
    if wants_text(params):
        turns = [one.memory for one in found.turns]
        budget = params.integer("budget_tokens", DEFAULT_BUDGET, 1, _MOST_BUDGET)
        return {"text": timeline_text(records, turns, budget, found.more)}
    told: Json = {"records": records}
    return told if found.more is None else {**told, "more": "{}.{}".format(*found.more)}


def _place(cursor: str) -> tuple[int, int] | None:
    if not cursor:
        return None
    try:
        at, key = map(int, cursor.split("."))
    except ValueError as bad:
        raise InvalidInput("cursor must be what an answer gave as 'more'") from bad
    return at, key


def _show(store: MemoryStore, params: Params) -> Json:
    project, caller = params.text("project", ""), caller_of(params)
    around = params.integer("around", 0, 0, _MOST_CONTEXT)
    offset = params.integer("offset", 0, 0, 1 << 40)
    ids = _shown_ids(params)
    if wants_text(params):
        if offset and len(ids) > 1:
            raise InvalidInput("offset continues one record: give one id with it")
        shown = [
            one for named in ids for one in store.show.exchange(named, project, caller, around)
        ]
        return {"text": exchanges_text(shown, offset)}
    if params.has("ids"):
        return {"records": [_exchange_view(store, one, project, caller, around) for one in ids]}
    work = store.work_recall.one(ids[0], project, caller)
    if work is not None:
        view = work_whole_view(work)
        return {"record": view, "records": [view], "before": [], "after": []}
    found = store.show(ids[0], project, caller, offset=offset, around=around)
    told = {**memory_view(found.memory), "characters": found.characters}
    return {
        "record": told if found.next is None else {**told, "next": found.next},
        "before": [shown_view(turn) for turn in found.before],
        "after": [shown_view(turn) for turn in found.after],
    }


def _shown_ids(params: Params) -> list[str]:
    if not params.has("ids"):
        return [params.text("id")]
    ids = params.texts("ids")
    if not 1 <= len(ids) <= _MOST_SHOWN_IDS:
        raise InvalidInput(f"ids must be a list of 1 to {_MOST_SHOWN_IDS} ids, not {len(ids)}")
    return ids


def _exchange_view(
    store: MemoryStore, public_id: str, project: str, caller: Caller, around: int
) -> Json:
    """A record with its exchange: all turns and work, in order."""
    parts = [
        part
        for one in store.show.exchange(public_id, project, caller, around)
        for part in one.parts
    ]
    views = [memory_view(part) if isinstance(part, Memory) else work_view(part) for part in parts]
    own = next((one for one in views if one["id"] == public_id), views[0])
    return {**own, "exchange": views}


METHODS: tuple[Method[MemoryStore], ...] = (
    Method("memory_recall", _recall, tool="memory_recall", page=True, callers=EVERYBODY),
    Method(
        "memory_capture", _capture, tool="memory_capture", names_as_given=True, callers=EVERYBODY
    ),
    Method("capture_events", _capture_events, names_as_given=True, callers=PERSON_AND_REMOTE_HOOKS),
    Method(
        "memory_contradict",
        _contradict,
        tool="memory_contradict",
        takes_ids=True,
        page=True,
        callers=EVERYBODY,
    ),
    Method(
        "memory_reinstate",
        _reinstate,
        page=True,
        takes_ids=True,
        command="iai-mcp restore --superseded ID",
    ),
    Method(
        "forgotten_restore",
        _restore_forgotten,
        page=True,
        command="iai-mcp restore --forgotten",
    ),
    Method(
        "memory_reinforce",
        _reinforce,
        tool="memory_reinforce",
        takes_ids=True,
        callers=EVERYBODY,
    ),
    Method("memory_pin", _pin, page=True, takes_ids=True, command="iai-mcp pin ID"),
    Method(
        "memory_forget",
        _forget,
        tool="memory_forget",
        takes_ids=True,
        page=True,
        callers=EVERYBODY,
    ),
    Method("memory_timeline", _timeline, tool="memory_timeline", page=True, callers=EVERYBODY),
    Method("memory_show", _show, tool="memory_show", page=True, takes_ids=True, callers=EVERYBODY),
)
