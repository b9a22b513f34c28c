"""What every log of memories promises, on the fake and on the encrypted file alike."""

from dataclasses import replace

import pytest
from tests.fakes.memories import FakeMemories, said
from tests.support.packed import PackedMemories

from iai_mcp.adapters.sqlite.memories import SqliteMemories
from iai_mcp.domain.errors import NotFound
from iai_mcp.domain.traits import WISH
from iai_mcp.ports.memories import Carried, Memories, Scope


@pytest.fixture(params=["fake", "sqlite", "packed"])
def memories(request: pytest.FixtureRequest) -> Memories:
    if request.param == "fake":
        return FakeMemories()
    kind = PackedMemories if request.param == "packed" else SqliteMemories
    return kind(request.getfixturevalue("database"))


def _add(memories: Memories, *texts: str, session: str = "s", project: str = "") -> list[int]:
    """Said one microsecond after the other; the keys."""
    at = memories.count()
    turns = [
        said(text, at=at + n, session=session, project=project) for n, text in enumerate(texts, 1)
    ]
    return [one.key or 0 for one in memories.add(turns)]


def _texts(memories: Memories, scope: Scope) -> list[str]:
    return [memory.text for memory in memories.timeline(scope, 100)]


def test_a_turn_is_stored_once_and_comes_back_as_it_was(memories: Memories) -> None:
    turn = said("the heron is grey", at=5, project="pond")
    first, second = memories.add([turn, turn])
    assert (first.status, second.status) == ("inserted", "duplicate")
    assert first.key == second.key and first.key is not None
    (memory,) = memories.get([first.key])
    assert (memory.text, memory.at.micros, memory.id) == (turn.text, 5, first.id)
    assert memory.provenance == turn.provenance
    assert memory.valid_from == 5 and memory.valid_to is None and not memory.derived
    assert memories.find([first.id.upper()]) == [memory]
    assert memories.count() == 1


def test_what_is_asked_for_comes_in_the_order_asked_and_cut_if_wanted(memories: Memories) -> None:
    one, two = _add(memories, "first words", "second words")
    assert [m.text for m in memories.get([two, 99, one], 6)] == ["second", "first "]
    ids = memories.ids_of([two, 99, one])
    assert memories.keys_of([*ids, "no id at all"]) == [two, one]


def test_what_was_forgotten_is_gone_and_stays_away(memories: Memories) -> None:
    keys = _add(memories, "one", "two")
    ids = memories.ids_of(keys)
    assert memories.forget(keys[:1], 7) == ids[:1]
    assert memories.forget(keys[:1], 7) == []
    assert memories.get(keys) == memories.find(ids[1:])
    assert memories.add([said("one", at=1)])[0].status == "forgotten"
    assert (memories.count(), memories.pending_count()) == (1, 1)
    (gone,) = memories.unreached()
    assert gone.at == 7 and memories.unreached_count() == 1
    memories.scrub()
    memories.reached([gone])
    assert memories.unreached() == []


def test_a_scope_holds_what_meets_all_its_conditions(memories: Memories) -> None:
    _add(memories, "a", project="pond")
    _add(memories, "b", project="lake", session="t")
    _add(memories, "c")
    assert _texts(memories, Scope()) == ["a", "b", "c"]
    assert _texts(memories, Scope(projects=("pond", ""))) == ["a", "c"]
    assert _texts(memories, Scope(not_projects=("pond",))) == ["b", "c"]
    assert _texts(memories, Scope(session_id="t")) == ["b"]
    assert _texts(memories, Scope(since=2, until=3)) == ["b"]
    assert _texts(memories, Scope(known_at=2)) == ["a", "b"]
    assert memories.keys(Scope()) is None
    assert memories.keys(Scope(session_id="t")) == memories.containing("B", Scope(session_id="t"))
    assert memories.projects() == ["lake", "pond"]


def _repeated(memories: Memories, *sessions: str) -> int:
    """A turn that each of these sessions has under the same uid; its key."""
    for session in sessions:
        turn = replace(
            said("which port?", session=session, identity=b"u" * 16),
            by_uid=True,
            aliases=(session.encode().ljust(16, b"\0"),),
        )
        (stored,) = memories.add([turn])
    return stored.key or 0


def test_a_turn_of_several_sessions_is_one_memory_of_each(memories: Memories) -> None:
    key = _repeated(memories, "first", "fork")
    assert memories.count() == 1
    (memory,) = memories.get([key])
    assert (memory.provenance.session_id, memory.also_in) == ("first", ("fork",))
    for session in ("first", "fork"):
        assert memories.keys(Scope(session_id=session)) == [key]
    assert len(memories.aliases([key])[key]) == 2
    assert memories.keys_of(memories.aliases([key])[key]) == [key]
    assert memories.lineage("fork") == {"first", "fork"}
    assert memories.lineage("first") == {"first"}
    assert memories.lineage("") == frozenset()
    assert memories.mend(10)[0] == 0


def test_a_memory_can_leave_one_of_its_sessions_and_does_not_come_back(memories: Memories) -> None:
    key = _repeated(memories, "first", "fork")
    (alone,) = _add(memories, "alone", session="first")
    assert memories.in_other_sessions([key, alone], "first") == [key]
    assert memories.leave([key, alone], "first") == [key]
    _repeated(memories, "first")
    assert memories.keys(Scope(session_id="first")) == [alone]
    assert memories.keys(Scope(session_id="fork")) == [key]
    assert memories.in_other_sessions([key], "fork") == []


def test_what_was_forgotten_is_known_by_each_of_its_names(memories: Memories) -> None:
    key = _repeated(memories, "first", "fork")
    memories.forget([key], 7)
    assert memories.unreached_count() == 3
    own = said("which port?", session="fork", identity=b"fork".ljust(16, b"\0"))
    assert memories.add([own])[0].status == "forgotten"
    later = replace(own, identity=b"u" * 16, aliases=(b"later".ljust(16, b"\0"),))
    assert memories.add([later])[0].status == "forgotten"
    assert memories.add([replace(own, identity=later.aliases[0])])[0].status == "forgotten"


def test_words_are_found_whole(memories: Memories) -> None:
    cat, *_ = _add(memories, "The CAT sleeps", "category", "concatenate")
    assert memories.containing("cat", Scope()) == [cat]
    assert memories.containing("cat sleeps", Scope()) == [cat]


def test_pages_go_through_time_and_through_arrival(memories: Memories) -> None:
    keys = _add(memories, "a", "b", "c")
    newest = memories.newest(Scope(), 2)
    assert [one.key for one in newest] == [keys[2], keys[1]]
    before = memories.newest(Scope(), 9, (newest[-1].at, newest[-1].key))
    assert [one.key for one in before] == keys[:1]
    assert [one.key for one in memories.arrived(keys[0], 1)] == keys[1:2]
    assert [memory.key for memory in memories.after(keys[0], 9)] == keys[1:]
    assert memories.arrived(0, 1)[0].bytes == 1


def test_neighbours_are_those_of_the_session_in_reading_order(memories: Memories) -> None:
    keys = _add(memories, "a", "b", "c", "d")
    _add(memories, "elsewhere", session="t")
    third = memories.get([keys[2]])[0]
    before, after = memories.neighbours(third, 2)
    assert [m.text for m in before] == ["a", "b"]
    assert [m.text for m in after] == ["d"]
    alone = said("alone", at=9, session="")
    key = memories.add([alone])[0].key or 0
    assert memories.neighbours(memories.get([key])[0], 2) == ([], [])


def test_what_supersedes_and_what_is_superseded_know_of_each_other(memories: Memories) -> None:
    (key,) = _add(memories, "the port is 5432")
    old = memories.get([key])[0]
    new = memories.supersede(old, said("the port is 5433", at=8), 8)
    assert new.key is not None
    changed = memories.get([key])[0]
    assert (changed.valid_to, changed.successor) == (8, new.key)
    assert memories.supersedes([new.key]) == {new.key: [old.id]}
    assert [link.weight for link in memories.links([key], "contradicts")] == [1.0]
    memories.forget([new.key], 9)
    assert memories.get([key])[0].successor is None
    memories.forget([key], 9)
    with pytest.raises(NotFound):
        memories.supersede(old, said("the port is 5434"), 9)


def test_links_grow_to_one_at_most_and_only_between_what_is_there(memories: Memories) -> None:
    one, two = _add(memories, "one", "two")
    assert memories.link([(two, one), (one, 99)], "together", 0.6, 1) == 1
    memories.link([(one, two)], "together", 0.6, 2)
    (link,) = memories.links([two], "together")
    assert (link.a, link.b, link.weight, link.at) == (one, two, 1.0, 2)


def test_an_import_brings_its_pins_and_its_history(memories: Memories) -> None:
    old, new = _add(memories, "it was red", "it is blue")
    ids = memories.ids_of([old])
    memories.carry_over([Carried(new, True, None, tuple(ids))])
    before, after = memories.get([old, new])
    assert after.pinned and (before.successor, before.valid_to) == (new, after.at.micros)
    memories.pin(new, False)
    assert not memories.get([new])[0].pinned


def test_only_an_empty_log_takes_over_a_salt(memories: Memories) -> None:
    memories.adopt_salt(b"of another store")
    assert memories.salt == b"of another store"
    _add(memories, "something")
    memories.adopt_salt(b"of a third")
    assert memories.salt == b"of another store"


def test_a_project_can_be_closed_and_opened(memories: Memories) -> None:
    memories.set_private("pond", True)
    assert memories.private_projects() == ["pond"]
    memories.set_private("pond", False)
    assert memories.private_projects() == []


def test_rows_come_in_order_behind_a_key_and_nothing_earlier_appears_later(
    memories: Memories,
) -> None:
    assert (memories.latest(), list(memories.entries(0, 9))) == (0, [])
    keys = _add(memories, "is it grey?", "it is, always", project="pond")
    assert memories.latest() == keys[-1]
    first, second = memories.entries(0, 9)
    assert [first.key, second.key] == keys == sorted(keys)
    assert (first.session, first.project, first.role, first.length) == ("s", "pond", "user", 3)
    assert [entry.key for entry in memories.entries(keys[0], 9)] == keys[1:]
    assert [entry.key for entry in memories.entries(0, 1)] == keys[:1]
    memories.forget(keys[1:], 1)
    assert memories.latest() == keys[0]
    (third,) = _add(memories, "a third")
    assert third > keys[1]


def test_the_backlog_gives_each_text_with_what_embedding_asks_of_it(memories: Memories) -> None:
    keys = _add(memories, "hello", "always answer in French from now on", "bye")
    found = list(memories.unembedded([keys[1], keys[0], 99]))
    assert [(one.key, one.text, one.wishes) for one in found] == [
        (keys[1], "always answer in French from now on", True),
        (keys[0], "hello", False),
    ]
    assert [bool(entry.facts & WISH) for entry in memories.entries(0, 9)] == [False, True, False]
    assert memories.said_before(keys[0]) is None
    assert memories.said_before(keys[1]) == found[1]
    assert memories.renew(10) == []


def test_the_backlog_begins_with_the_latest_of_the_projects_at_work(memories: Memories) -> None:
    day = 86_400_000_000
    turns = [
        said("long ago, elsewhere", at=day, project="past"),
        said("long ago, here", at=2 * day, project="now"),
        said("later, elsewhere", at=80 * day, project="past"),
        said("today", at=100 * day, project="now"),
        said("today, nowhere", at=101 * day),
    ]
    keys = [one.key for one in memories.add(turns)]
    wanted = [keys[3], keys[1], keys[4], keys[2], keys[0]]
    assert memories.pending() == wanted
    assert memories.pending(after=keys[2] or 0) == [keys[3], keys[4]]
    memories.forget([key for key in keys[3:4] if key], 1)
    assert memories.pending() == [keys[4], keys[2], keys[1], keys[0]]


def test_words_find_what_holds_any_of_them_within_the_scope(memories: Memories) -> None:
    keys = _add(memories, "heron pond", "heron", project="pond")
    _add(memories, "heron pond elsewhere")
    found = memories.by_words(["heron", "pond"], Scope(projects=("pond",)), 5)
    assert [hit.key for hit in found] == keys
    assert memories.by_words([], Scope(), 5) == []
