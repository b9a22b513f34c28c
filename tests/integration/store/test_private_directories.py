"""A private directory covers what lies below it, and work that was done there leaks by no way."""

from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import UUID

import pytest
from tests.support.answers import Json, ask
from tests.support.git import git, repository

from iai_mcp import project_aliases
from iai_mcp.adapters.sqlite import work_words
from iai_mcp.core import dispatch
from iai_mcp.domain.errors import InvalidInput, NotAllowed, NotFound
from iai_mcp.domain.memories import turn_identity
from iai_mcp.store import MemoryStore

SECRET = "the vault opens with the word nightjar"


@pytest.fixture
def store(opened: Callable[[], MemoryStore]) -> MemoryStore:
    return opened()


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    place = tmp_path / "notes"
    (place / "clients/acme").mkdir(parents=True)
    repository(place / "repo1")
    repository(tmp_path / "other")
    return place


def tell(store: MemoryStore, text: str, where: Path | str, session: str = "s") -> str:
    place = {"cwd": str(where)} if "/" in str(where) else {"project": str(where)}
    said = dispatch(store, "memory_capture", {"text": text, "session_id": session, **place})
    return str(said["record_id"])


def close(store: MemoryStore, project: Path | str, private: bool = True) -> Json:
    return ask(store, "project_privacy", project=str(project), private=private)


def knows(store: MemoryStore, **caller: object) -> bool:
    """Whether any of the ways to ask brings up the secret."""
    asked: Iterator[Json] = (
        ask(store, method, **needed, **caller)
        for method, needed in (
            ("memory_recall", {"cue": "vault word nightjar"}),
            ("memory_timeline", {}),
            ("memory_timeline", {"session_id": "s"}),
            ("memory_conversations", {}),
            ("memory_topics", {}),
            ("session_start_payload", {}),
            ("prompt_injection", {"prompt": SECRET}),
        )
    )
    return any("nightjar" in repr(answer) for answer in asked)


@pytest.mark.parametrize(
    "below", ["clients/acme", "clients", "repo1", "repo1/src", "made/later", "Clients/Acme"]
)
@pytest.mark.parametrize("first", [True, False], ids=["captured first", "private first"])
def test_a_private_directory_covers_what_lies_below_it(
    store: MemoryStore, notes: Path, below: str, first: bool
) -> None:
    if not first:
        close(store, notes)
    tell(store, SECRET, notes / below)
    if first:
        assert knows(store, cwd=str(notes.parent / "other"), visitor=True)
        close(store, notes)

    assert not knows(store, cwd=str(notes.parent / "other"), visitor=True)
    assert not knows(store, cwd=str(notes.parent / "other"))
    assert not knows(store, cwd=str(notes.parent), visitor=True)
    assert not knows(store, visitor=True)
    assert not knows(store)
    assert knows(store, cwd=str(notes / below), visitor=True)
    assert knows(store, cwd=str(notes), visitor=True)


@pytest.mark.parametrize("spelling", ["{}/", "{}/../notes", "{}/./", "{}/clients/..", "{}//"])
def test_a_private_directory_may_be_spelt_in_any_way(
    store: MemoryStore, notes: Path, spelling: str
) -> None:
    tell(store, SECRET, notes / "clients/acme")
    close(store, spelling.format(notes))
    assert not knows(store, cwd=str(notes.parent / "other"), visitor=True)


def test_a_directory_whose_name_only_begins_alike_stays_open(
    store: MemoryStore, notes: Path
) -> None:
    tell(store, SECRET, notes.parent / "notes-public")
    close(store, notes)
    assert knows(store, cwd=str(notes.parent / "other"), visitor=True)


def test_links_lead_into_a_private_directory_and_not_around_it(
    store: MemoryStore, notes: Path
) -> None:
    link = notes.parent / "shortcut"
    link.symlink_to(notes)
    close(store, link)
    tell(store, SECRET, link / "clients/acme")
    assert not knows(store, cwd=str(notes.parent / "other"), visitor=True)
    assert knows(store, cwd=str(link / "clients"), visitor=True)


def test_a_private_directory_that_was_moved_and_linked_covers_both_places(
    store: MemoryStore, notes: Path
) -> None:
    tell(store, SECRET, notes / "clients/acme")
    close(store, notes)
    notes.rename(notes.parent / "disk")
    notes.symlink_to(notes.parent / "disk")
    tell(store, f"{SECRET} too", notes / "clients/later", "t")
    assert not knows(store, cwd=str(notes.parent / "other"), visitor=True)
    assert len(ask(store, "memory_timeline", cwd=str(notes), visitor=True)["records"]) == 2


def test_what_was_captured_before_a_directory_was_moved_and_linked_is_covered(
    store: MemoryStore, notes: Path
) -> None:
    tell(store, SECRET, notes / "clients/acme")
    disk = notes.parent / "disk"
    notes.rename(disk)
    notes.symlink_to(disk)
    close(store, disk)
    assert not knows(store, cwd=str(notes.parent / "other"), visitor=True)
    assert close(store, disk, private=False)["private"] == []
    assert knows(store, cwd=str(notes.parent / "other"), visitor=True)


def test_a_private_directory_that_was_mapped_covers_both_places(
    store: MemoryStore, notes: Path
) -> None:
    tell(store, SECRET, notes / "clients/acme")
    close(store, notes)
    moved = notes.parent / "moved"
    notes.rename(moved)
    project_aliases.add(str(notes), str(moved))
    tell(store, SECRET, moved / "repo1", "t")
    assert not knows(store, cwd=str(notes.parent / "other"), visitor=True)
    assert knows(store, cwd=str(moved), visitor=True)


def test_a_worktree_of_a_covered_repository_belongs_to_it(store: MemoryStore, notes: Path) -> None:
    git("worktree", "add", "-q", str(notes.parent / "feature"), cwd=notes / "repo1")
    close(store, notes)
    tell(store, SECRET, notes.parent / "feature")
    assert not knows(store, cwd=str(notes.parent / "other"), visitor=True)
    assert knows(store, cwd=str(notes.parent / "feature"), visitor=True)


def test_a_clone_of_a_private_repository_is_told_nothing_of_it(
    store: MemoryStore, notes: Path
) -> None:
    clone = notes.parent / "clone"
    git("clone", "-q", str(notes / "repo1"), str(clone), cwd=notes)
    tell(store, SECRET, notes / "repo1")
    close(store, notes)
    assert not knows(store, cwd=str(clone), visitor=True)
    assert not knows(store, cwd=str(clone), project=str(notes / "repo1"), visitor=True)


def test_a_name_covers_what_lies_below_the_projects_of_that_name(
    store: MemoryStore, notes: Path
) -> None:
    tell(store, SECRET, notes / "clients/acme")
    tell(store, "said in it", notes)
    close(store, "notes")
    assert not knows(store, cwd=str(notes.parent / "other"), visitor=True)
    assert knows(store, cwd=str(notes), visitor=True)
    namesake = notes.parent / "elsewhere/notes"
    namesake.mkdir(parents=True)
    assert not knows(store, cwd=str(namesake), visitor=True)


def test_memories_under_the_mere_name_of_a_private_project_are_private(
    store: MemoryStore, notes: Path
) -> None:
    tell(store, SECRET, "notes")
    tell(store, SECRET, "Notes", "t")
    close(store, notes)
    assert not knows(store, cwd=str(notes.parent / "other"), visitor=True)
    assert not knows(store, project="notes", visitor=True)
    assert knows(store, cwd=str(notes), visitor=True)


def test_one_private_project_in_another_is_open_from_inside_both_only(
    store: MemoryStore, notes: Path
) -> None:
    tell(store, SECRET, notes / "clients/acme")
    close(store, notes)
    close(store, notes / "clients/acme")
    assert not knows(store, cwd=str(notes / "repo1"), visitor=True)
    assert knows(store, cwd=str(notes / "clients/acme"), visitor=True)
    close(store, notes, private=False)
    assert not knows(store, cwd=str(notes / "repo1"), visitor=True)


def test_privacy_names_the_projects_below_that_it_covers(store: MemoryStore, notes: Path) -> None:
    tell(store, "one", notes)
    tell(store, "two", notes / "clients/acme")
    tell(store, "three", notes / "repo1")
    tell(store, "four", notes.parent / "other")

    done = close(store, notes)

    assert done["private"] == [str(notes)]
    assert done["covers"] == [str(notes / "clients/acme"), str(notes / "repo1")]
    with pytest.raises(InvalidInput, match=f"privacy off {notes}"):
        close(store, notes / "repo1", private=False)
    assert close(store, notes, private=False)["private"] == []
    assert ask(store, "project_privacy")["private"] == []


def test_a_visitor_is_not_told_which_projects_are_private(store: MemoryStore, notes: Path) -> None:
    close(store, notes)
    for place in (notes, notes.parent):
        with pytest.raises(NotAllowed):
            ask(store, "project_privacy", visitor=True, cwd=str(place))


# Work


def did(store: MemoryStore, session: str, *steps: tuple[str, Path, dict[str, object]]) -> None:
    """Turns and work, one minute after another."""
    events = []
    for number, (kind, cwd, more) in enumerate(steps):
        at = {"ts": f"2026-01-01T10:{number:02}:00Z", "id": f"{session}-{number}"}
        said = {"role": kind}
        if kind in ("command", "edit"):
            said = {"kind": kind, "role": "tool"}
        events.append({"text": "x", "cwd": str(cwd), **at, **said, **more})
    dispatch(store, "capture_events", {"session_id": session, "host": "h", "events": events})


def command(line: str, output: str = "", code: int = 0) -> dict[str, object]:
    return {"text": line, "work": {"command": line, "output": output, "exit": code}}


@pytest.fixture
def both(store: MemoryStore, notes: Path) -> tuple[Path, Path]:
    """One session that went through a private project and another one."""
    other, inside = notes.parent / "other", notes / "repo1"
    did(
        store,
        "both",
        ("user", other, {"text": "build the heron"}),
        ("command", inside, command("make nightjar")),
        ("user", inside, {"text": f"now ship it: {SECRET}"}),
        ("command", other, command("make heron")),
        ("edit", other, {"text": "e", "work": {"path": str(other / "heron.py"), "added": 3}}),
        ("command", other, command("make pond", "Error: pond is dry", 2)),
        ("command", inside, command("fill --with nightjar")),
        ("command", other, command("make pond")),
    )
    close(store, notes)
    return inside, other


@pytest.mark.parametrize("visitor", [True, False])
def test_work_of_a_private_project_is_told_by_no_way(
    store: MemoryStore, both: tuple[Path, Path], visitor: bool
) -> None:
    inside, other = both

    def told(method: str, **params: object) -> str:
        place = {"cwd": str(other), "visitor": visitor}
        return repr(dispatch(store, method, {**params, **place}))

    (heron, *_) = ask(store, "how", query="heron", cwd=str(other), visitor=visitor)["commands"]
    assert heron["command"] == "make heron"
    for method, params in (
        ("memory_timeline", {}),
        ("memory_timeline", {"session_id": "both"}),
        ("memory_recall", {"cue": "make heron", "kind": "did"}),
        ("memory_recall", {"cue": "vault nightjar", "kind": "did"}),
        ("how", {"query": "heron"}),
        ("how", {"query": "ship vault word nightjar"}),
        ("blame", {"path": "heron.py"}),
        ("changed", {}),
        ("fix", {"error": "Error: pond is dry"}),
        ("memory_show", {"id": heron["id"]}),
        ("after_failure", {"command": "make pond", "output": "Error: pond is dry"}),
        ("session_start_payload", {}),
    ):
        assert "nightjar" not in told(method, **params), (method, params)
        assert str(inside) not in told(method, **params), (method, params)
    # An open command is not found by the words of a private prompt either.
    assert "make heron" not in told("memory_recall", cue="vault word", kind="did")
    records = ask(store, "memory_timeline", cwd=str(other), visitor=visitor)["records"]
    assert sum(record.get("work", {}).get("commands", 0) for record in records) == 3


def test_work_that_an_earlier_version_indexed_is_not_found_by_a_private_prompt(
    store: MemoryStore, both: tuple[Path, Path]
) -> None:
    """It put the words of the request to the work, whatever project they were said in."""
    caller = {"cwd": str(both[1]), "visitor": True}
    (heron, *_) = store.works.find(
        [ask(store, "how", query="heron", **caller)["commands"][0]["id"]]
    )
    with store.database.writing() as db:
        work_words.drop(db, heron.key)
        work_words.index(db, heron.key, heron.done, heron.note, f"now ship it: {SECRET}")

    def found(**place: object) -> list[str]:
        commands = ask(store, "how", query="vault word nightjar", **place)["commands"]
        return [one["command"] for one in commands]

    assert "make heron" in found(project="*", cwd=str(both[0]))
    assert found(**caller) == []


def test_a_planted_turn_brings_up_no_work_of_its_session(store: MemoryStore, notes: Path) -> None:
    inside, other = notes / "repo1", notes.parent / "other"
    did(store, "hidden", ("user", inside, {"text": "go"}), ("command", inside, command("nightjar")))
    close(store, notes)
    caller = {"cwd": str(other), "visitor": True}
    planted = {"text": "planted", "session_id": "hidden", "ts": "2020-01-01T00:00:00Z"}
    ask(store, "memory_capture", **planted, **caller)
    assert "nightjar" not in repr(ask(store, "memory_timeline", session_id="hidden", **caller))


# Identity


def test_a_text_that_another_project_holds_is_new_in_this_one(
    store: MemoryStore, notes: Path
) -> None:
    other = notes.parent / "other"
    first = ask(store, "memory_capture", text=SECRET, session_id="s", cwd=str(notes))
    close(store, notes)
    second = ask(store, "memory_capture", text=SECRET, session_id="s", cwd=str(other))
    assert second["status"] == "inserted"
    assert second["record_id"] != first["record_id"]
    for place, known in ((notes, first), (other, second)):
        again = ask(store, "memory_capture", text=SECRET, session_id="s", cwd=str(place))
        assert (again["status"], again["record_id"]) == ("duplicate", known["record_id"])


def test_a_text_that_another_project_forgot_is_new_in_this_one(
    store: MemoryStore, notes: Path
) -> None:
    gone = tell(store, SECRET, notes)
    ask(store, "memory_forget", ids=[gone])
    here = {"text": SECRET, "session_id": "s", "cwd": str(notes.parent / "other")}
    assert ask(store, "memory_capture", **here)["status"] == "inserted"
    assert ask(store, "memory_capture", **{**here, "cwd": str(notes)})["status"] == "skipped"


def test_what_an_earlier_version_captured_keeps_its_identity(
    store: MemoryStore, notes: Path
) -> None:
    """Its identity was made of the session, the role and the words."""
    before = turn_identity(store.memories.salt, "s", role="user", text=SECRET)
    old = {"id": str(UUID(bytes=before)), "text": SECRET, "session_id": "s", "project": str(notes)}
    ask(store, "import_records", records=[old])

    here = {"text": SECRET, "session_id": "s", "cwd": str(notes)}
    assert ask(store, "memory_capture", **here)["record_id"] == old["id"]
    elsewhere = {**here, "cwd": str(notes.parent / "other")}
    assert ask(store, "memory_capture", **elsewhere)["status"] == "inserted"
    assert ask(store, "memory_capture", **elsewhere)["status"] == "duplicate"
    exported = ask(store, "export_page")["records"]
    assert ask(store, "import_records", records=exported)["duplicates"] == 2


# Ids, counts and events


def test_an_id_of_a_private_memory_is_as_unknown_as_any(store: MemoryStore, notes: Path) -> None:
    memory, absent = tell(store, SECRET, notes), "0f8fad5b-d9cb-469f-a165-70867728950e"
    close(store, notes)
    caller = {"cwd": str(notes.parent / "other"), "visitor": True}
    for method, more in (
        ("memory_show", {}),
        ("memory_contradict", {"new_fact": "no"}),
    ):
        said = []
        for name in (memory.upper(), absent.upper()):
            with pytest.raises(NotFound) as refused:
                ask(store, method, id=name, **more, **caller)
            said.append(str(refused.value).replace(name, "ID"))
        assert said[0] == said[1], method
    for method in ("memory_reinforce", "memory_forget"):
        unknown, private = (ask(store, method, ids=[one], **caller) for one in (absent, memory))
        assert repr(private) == repr(unknown).replace(absent, memory)


def test_counts_leave_out_what_is_closed(store: MemoryStore, notes: Path) -> None:
    tell(store, "open", notes.parent / "other")
    close(store, notes)
    caller = {"cwd": str(notes.parent / "other"), "visitor": True}
    before = {name: ask(store, name, **caller) for name in ("topology", "memory_topics")}
    for number in range(7):
        tell(store, f"{SECRET} {number}", notes / "clients/acme")
    assert ask(store, "topology")["records"] == 8
    for name, answer in before.items():
        now = ask(store, name, **caller)
        assert now == answer, name


def test_events_about_a_private_project_are_not_told_to_a_visitor(
    opened: Callable[[], MemoryStore], notes: Path
) -> None:
    first = opened()
    memory = tell(first, SECRET, notes / "repo1", "hidden")
    close(first, notes)
    ask(first, "memory_pin", id=memory)
    ask(first, "session_exit", session_id="hidden")
    ask(first, "session_start_payload", cwd=str(notes / "clients"), session_id="new")
    ask(first, "memory_forget", ids=[memory])
    first.close()
    store = opened()
    visiting = repr(ask(store, "events_query", visitor=True, cwd=str(notes.parent / "other")))
    for canary in (memory, "hidden", str(notes), "memory_forgotten"):
        assert canary in repr(ask(store, "events_query"))
        assert canary not in visiting, canary


def test_a_visitor_exports_nothing_and_reads_no_log_of_injections(
    store: MemoryStore, both: tuple[Path, Path]
) -> None:
    caller = {"cwd": str(both[1]), "visitor": True}
    for method in ("export_page", "export_work_page", "injections"):
        with pytest.raises(NotAllowed):
            ask(store, method, **caller)
