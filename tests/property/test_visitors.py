"""No method tells a visitor anything of a private project, whatever it asks and however it names it."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.git import repository

from iai_mcp.api.table import memory_methods
from iai_mcp.core import dispatch
from iai_mcp.domain.errors import IaiError
from iai_mcp.store import MemoryStore

# Each kind of thing that a private project holds has a word that stands nowhere else.
WORDS = {
    "text": "nightjarword",
    "request": "nightjarprompt",
    "command": "nightjarrun",
    "output": "nightjarprint",
    "path": "nightjarfile",
    "note": "nightjarnote",
    "speaker": "nightjarvoice",
    "session": "nightjarsession",
    "agent": "nightjaragent",
    "branch": "nightjarbranch",
}
# Left out: what leaves this machine, waits for a night, or is for the owner's own files.
NOT_ASKED = frozenset(
    name
    for name in memory_methods()
    if name.startswith("share_") or name in ("call_spooled", "import_records", "capture_consent")
)
METHODS = sorted(set(memory_methods()) - NOT_ASKED)


class Scene(NamedTuple):
    store: MemoryStore
    inside: Path
    other: Path
    private_ids: list[str]
    open_ids: list[str]


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    room = tmp_path_factory.mktemp("visitors").resolve()
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("HOME", str(room))
        environment.setenv("IAI_MCP_STORE", str(room / "store"))
        environment.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
        store = MemoryStore()
        yield made(store, room)
        store.close()


def made(store: MemoryStore, room: Path) -> Scene:
    """Two sessions through both projects, one in the private one alone, and the same words in both."""
    inside, other = repository(room / "vault/deep"), repository(room / "other")
    for session in ("both", "again", WORDS["session"]):
        events = []
        for number, (role, where, text) in enumerate(story(inside, other)):
            if where == other and session == WORDS["session"]:
                continue
            event = {"ts": f"2026-01-01T10:{number:02}:00Z", "id": f"{session}-{number}"}
            event |= {"cwd": str(where), "role": role, **text}  # type: ignore[dict-item]
            events.append(event)
        told = {"session_id": session, "events": events, "host": "h"}
        dispatch(store, "capture_events", told)
    dispatch(store, "project_privacy", {"project": str(room / "vault"), "private": True})
    dispatch(store, "session_start_payload", {"cwd": str(inside), "session_id": WORDS["session"]})
    dispatch(store, "session_exit", {"session_id": WORDS["session"]})
    records = [
        record
        for method in ("export_page", "export_work_page")
        for record in dispatch(store, method, {})["records"]  # type: ignore[attr-defined]
    ]
    ids = {
        place: [str(one["id"]) for one in records if one["project"] == str(place)]
        for place in (inside, other)
    }
    dispatch(store, "memory_pin", {"id": ids[inside][0]})
    dispatch(store, "memory_consolidate", {"wait": True})
    return Scene(store, inside, other, ids[inside], ids[other])


def story(inside: Path, other: Path) -> Iterator[tuple[str, Path, dict[str, object]]]:
    named = {"speaker": WORDS["speaker"], "branch": WORDS["branch"], "agent_name": WORDS["agent"]}
    yield "user", other, {"text": "we decided that the heron nests in the boathouse"}
    yield "user", inside, {"text": f"always use {WORDS['text']} for the heron", **named}
    yield "assistant", inside, {"text": f"we decided on {WORDS['text']}, see the heron"}
    yield "user", inside, {"text": f"now build the heron: {WORDS['request']}"}
    yield work("command", other, command="make heron", exit=2, output="Error: heron is lost")
    yield work(
        "command", inside, command=f"make {WORDS['command']}", exit=0, output=WORDS["output"]
    )
    yield work("edit", inside, path=f"{inside}/{WORDS['path']}.py", added=3)
    yield work("edit", other, path=f"{other}/heron.py", added=1)
    yield work("command", other, command="make heron", exit=0, output="done")
    for place in (inside, other):
        yield "assistant", place, {"text": "the heron is built, and Error: heron is lost is gone"}


def work(kind: str, where: Path, **done: object) -> tuple[str, Path, dict[str, object]]:
    text = str(done.get("command") or done.get("path"))
    note = WORDS["note"] if where.name == "deep" else "to build it"
    return "tool", where, {"kind": kind, "text": f"{note}\n{text}", "work": done}


def params(scene: Scene) -> st.SearchStrategy[dict[str, object]]:
    vault = scene.inside.parent
    ids = [*scene.private_ids, *scene.open_ids]
    named = st.sampled_from(
        ["", "*", "deep", "vault", "Vault", "other", str(scene.inside), str(vault), f"{vault}/",
         f"{scene.other}/../vault/deep", str(scene.other)]
    )  # fmt: skip
    words = st.sampled_from(["heron", "make heron", "Error: heron is lost", *WORDS.values()])
    identity = st.sampled_from([*ids, *(one[:8] for one in ids), ids[0].upper()])
    return st.fixed_dictionaries(
        {"visitor": st.just(True), "dry_run": st.just(True), "text": st.just("planted")},
        optional={
            "cwd": st.sampled_from([str(scene.other), str(vault.parent), "/", ""]),
            "project": named,
            "session_id": st.sampled_from(["", "both", WORDS["session"]]),
            "id": identity,
            "ids": st.lists(identity, min_size=1, max_size=3),
            "path": st.sampled_from(["heron.py", WORDS["path"], str(scene.inside), "/", "x"]),
            "kind": st.sampled_from(["any", "said", "did"]),
            "by": st.sampled_from(["project", "agent", "host"]),
            "around": st.integers(0, 20),
            "context": st.integers(0, 20),
            "limit": st.integers(1, 100),
            "after": st.just(0),
            "k": st.integers(1, 50),
            "fold": st.booleans(),
            "explain": st.booleans(),
            "full": st.booleans(),
            "group_by": st.just("session"),
            "fact": st.just("no"),
            "new_fact": st.just("no"),
            **dict.fromkeys(("cue", "query", "prompt", "error", "command", "output"), words),
        },
    )


@pytest.mark.parametrize("method", METHODS)
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_a_visitor_learns_nothing_of_a_private_project(
    scene: Scene, method: str, data: st.DataObject
) -> None:
    asked = data.draw(params(scene))
    if method in ("memory_recall", "prompt_injection", "after_failure", "fix", "blame"):
        needed = {"cue": "heron", "prompt": "heron", "command": "make heron", "path": "heron.py"}
        asked = {**needed, **asked}
    if method in ("memory_capture", "capture_events"):
        asked.pop("session_id", None)  # the visitor would hear its own words again
    try:
        answer = repr(dispatch(scene.store, method, asked))
    except IaiError as refused:
        answer = str(refused)
    for canary in (*WORDS.values(), str(scene.inside), *scene.private_ids):
        if canary.lower() not in repr(asked).lower():
            assert canary not in answer, canary


def test_the_same_questions_bring_it_up_from_inside(scene: Scene) -> None:
    """Without this nothing is proved by silence."""
    inside = {"visitor": True, "cwd": str(scene.inside)}
    told = "".join(
        repr(dispatch(scene.store, method, {**more, **inside}))
        for method, more in (
            ("memory_recall", {"cue": "heron"}),
            ("memory_timeline", {}),
            ("how", {"query": "make"}),
            ("changed", {}),
            ("export_page", {}),
            ("export_work_page", {}),
        )
    )
    for kind, word in WORDS.items():
        assert word in told, kind
    assert all(one in told for one in scene.private_ids)


@pytest.mark.parametrize("more", [{}, {"project": "*"}, {"session_id": "both"}])
def test_counts_are_of_what_a_visitor_may_see(scene: Scene, more: dict[str, object]) -> None:
    caller = {"visitor": True, "cwd": str(scene.other), **more}
    seen = dispatch(scene.store, "memory_timeline", caller)["records"]
    assert isinstance(seen, list)
    days = dispatch(scene.store, "memory_calendar", caller)["days"]
    assert isinstance(days, list)
    assert sum(day["count"] for day in days) == len(seen)
    if not more:
        assert dispatch(scene.store, "topology", caller)["records"] == len(seen)
