"""What every `Works` promises, on the fake and on the encrypted file alike."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fakes.works import FakeWorks

from iai_mcp.domain.commands import errors_in
from iai_mcp.domain.instants import from_micros
from iai_mcp.domain.memories import Provenance
from iai_mcp.domain.mendings import Mending
from iai_mcp.domain.work import CleanWork, Command, Done, Edit, Kind, Looked
from iai_mcp.ports.memories import Scope
from iai_mcp.ports.works import Works
from iai_mcp.store import MemoryStore

ERROR = "cart.py:12: undefined: total_of"
TEST = Command("pytest tests/test_cart.py", 1, "/shop", 1.5, ERROR, failed=True)
EDIT = Edit("src/cart.py", "changed", 3, 1, ("total",))
PASSED = Command("pytest tests/test_cart.py", 0, "/shop", 1.0, "3 passed")


@pytest.fixture(params=["fake", "sqlite"])
def works(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Works]:
    if request.param == "fake":
        yield FakeWorks()
        return
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("IAI_MCP_STORE", str(tmp_path / "data"))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    store = MemoryStore()
    yield store.works
    store.close()


def done(number: int, what: Done, note: str = "", **whence: str) -> CleanWork:
    told = {"session_id": "s1", "project": "/shop", "host": "codex"} | whence
    return CleanWork(
        identity=number.to_bytes(16, "big"),
        at=from_micros(number * 1_000_000),
        done=what,
        note=note,
        turn=b"t" * 16,
        provenance=Provenance(**told),
    )


def add(works: Works, *some: CleanWork, asked: str = "") -> list[int]:
    stored = works.add(some, [asked] * len(some))
    return [one.key for one in stored if one.key is not None]


def test_work_comes_back_as_it_was_stored_each_once(works: Works) -> None:
    looked = Looked(("src/cart.py",), ("def total",))
    given = [done(1, TEST, "run the tests"), done(2, EDIT), done(3, looked)]

    first, again = works.add(given, ["", "", ""]), works.add(given, ["", "", ""])

    assert [one.status for one in first] == ["inserted"] * 3
    assert [(one.status, one.key) for one in again] == [("duplicate", one.key) for one in first]
    found = works.find([one.id for one in first])
    assert [one.done for one in found] == [TEST, EDIT, looked]
    assert (found[0].note, found[0].turn, found[0].kind) == ("run the tests", b"t" * 16, "command")
    assert found[0].provenance == given[0].provenance
    assert works.get([one.key for one in found]) == found
    assert works.count() == 3


def test_it_is_found_by_what_was_done_what_it_printed_and_what_was_asked(works: Works) -> None:
    test, edit = add(works, done(1, TEST, "try it"), done(2, EDIT), asked="mend the basket")

    def by(term: str, *kinds: Kind) -> list[int]:
        wanted: tuple[Kind, ...] = kinds or ("command", "edit", "looked")
        return [one.key for one in works.by_words([term], Scope(), wanted, 9)]

    assert by("pytest") == by("undefined") == by("try") == [test]
    assert by("changed") == [edit]
    assert sorted(by("basket")) == [test, edit]
    assert by("basket", "edit") == [edit]
    assert works.by_words([], Scope(), ("command",), 9) == []


def test_a_scope_bounds_what_is_found(works: Works) -> None:
    here = done(1, PASSED)
    there = done(2, PASSED, project="/other", session_id="s2", host="gemini", agent_name="ann")
    first, second = add(works, here, there)

    def keys(scope: Scope) -> list[int]:
        assert [one.key for one in works.newest(scope, ("command",), 9)][::-1] == works.keys(scope)
        return works.keys(scope)

    assert keys(Scope()) == [first, second]
    assert keys(Scope(role="user", said=True)) == [first, second]
    assert keys(Scope(projects=("/shop",))) == keys(Scope(not_projects=("/other",))) == [first]
    assert keys(Scope(session_id="s2")) == keys(Scope(host="gemini")) == [second]
    assert keys(Scope(agent="ann")) == keys(Scope(since=2_000_000)) == [second]
    assert keys(Scope(until=2_000_000)) == keys(Scope(known_at=1_000_000)) == [first]
    assert [one.key for one in works.in_session("s1", 9)] == [first]
    assert keys(Scope(members=("",), not_members=("team/bob",))) == [first, second]
    assert keys(Scope(members=("team/bob",))) == []


def test_runs_of_a_command_are_known_whatever_surrounds_it(works: Works) -> None:
    piped = Command("cd /shop && pytest tests/test_cart.py 2>&1 | tail -5", 0)
    one, two, _ = add(works, done(1, PASSED), done(2, piped), done(3, Command("ls", 0)))

    assert works.runs_of(["pytest tests/test_cart.py"], Scope()) == {
        "pytest tests/test_cart.py": [one, two]
    }


def test_edits_are_found_by_path_by_its_end_and_by_directory(works: Works) -> None:
    cart, other, deep, apart = add(
        works,
        done(1, EDIT),
        done(2, Edit("src/[x]*.py")),
        done(3, Edit("old/src/cart.py")),
        done(4, Edit("src/cart.py", root="/tmp/copy")),
    )

    def edits(path: str) -> list[int]:
        return [one.key for one in works.edits_of(path, Scope(), 9)]

    assert edits("src/cart.py") == edits("./src/cart.py") == [apart, cart]
    assert edits("cart.py") == [apart, deep, cart]
    assert edits("/shop/src/cart.py") == [cart]
    assert edits("/tmp/copy/src/cart.py") == edits("/tmp/copy") == [apart]
    assert edits("/elsewhere/src/cart.py") == []
    assert edits("src/") == [apart, other, cart]
    assert edits("/shop/src") == [other, cart]
    assert edits("[x]*.py") == [other]
    assert edits("art.py") == edits("*.py") == edits("") == edits("/") == []


def test_a_whole_path_in_the_project_finds_what_the_path_within_it_finds(works: Works) -> None:
    keys = add(
        works,
        done(1, EDIT),
        done(2, Edit("/gone/clone/src/cart.py")),
        done(3, Edit("src/cart.py", root="/tmp/copy")),
        done(4, Edit("src/other.py")),
        done(5, EDIT, project="/till"),
    )
    scope = Scope(projects=("/shop",))

    def edits(path: str) -> list[int]:
        return [one.key for one in works.edits_of(path, scope, 9)]

    assert edits("src/cart.py") == edits("/shop/src/cart.py") == [keys[2], keys[1], keys[0]]


def test_a_failure_is_known_by_its_error_and_by_what_mended_it(works: Works) -> None:
    failed, edit, passed = add(works, done(1, TEST), done(2, EDIT), done(3, PASSED))
    assert works.failing_with(errors_in(ERROR), Scope(), 9) == [failed]
    assert works.failing_with(["something else"], Scope(), 9) == []
    assert works.failing_with([], Scope(), 9) == []
    assert works.unsettled(0, 9) == [(failed, "s1")]

    works.put_mendings([Mending(failed, (edit,), passed), Mending(999, (edit,), passed)])

    assert works.mendings_of([failed, 999]) == [Mending(failed, (edit,), passed)]
    assert works.unsettled(0, 9) == []


def test_what_is_forgotten_is_gone_and_stays_away(works: Works) -> None:
    failed, edit, passed = add(works, done(1, TEST), done(2, EDIT), done(3, PASSED))
    works.put_mendings([Mending(failed, (edit,), passed)])
    assert works.containing("TOTAL_of", Scope()) == [failed]

    ids = works.forget([failed, 12345], at=1)

    assert len(ids) == 1
    assert works.find(ids) == works.get([failed]) == []
    assert works.mendings_of([failed]) == []
    assert works.by_words(["undefined"], Scope(), ("command",), 9) == []
    assert works.failing_with(errors_in(ERROR), Scope(), 9) == []
    assert works.add([done(1, TEST)], [""])[0].status == "forgotten"
    assert works.keys(Scope()) == [edit, passed]
    assert [one.key for one in works.after(edit, 9)] == [passed]


def test_work_is_left_behind_where_nothing_is_left_that_was_said(works: Works) -> None:
    one, two = add(works, done(1, PASSED), done(2, PASSED, session_id="s2"))

    assert works.left_behind(9) == [one, two]
    assert works.left_behind(1) == [one]


def test_a_request_that_is_no_longer_known_leads_to_nothing(works: Works) -> None:
    one, two = (
        work.key for work in works.add([done(1, PASSED), done(2, EDIT)], ["wombat", "wombat"])
    )

    assert [works.forget_unknown_requests(1) for _ in range(3)] == [1, 1, 0]

    kinds: tuple[Kind, ...] = ("command", "edit")
    assert works.by_words(["wombat"], Scope(), kinds, 9) == []
    assert [hit.key for hit in works.by_words(["passed"], Scope(), kinds, 9)] == [one]
    assert [hit.key for hit in works.by_words(["cart"], Scope(), ("edit",), 9)] == [two]
    assert [record.turn for record in works.after(0, 9)] == [None, None]


def test_what_a_fork_repeats_belongs_to_both_sessions(works: Works) -> None:
    keys = add(works, done(1, TEST), done(2, EDIT))
    works.add([done(1, TEST, session_id="fork")], [""])

    assert works.keys(Scope(session_id="fork")) == keys[:1]
    assert works.in_other_sessions(keys, "s1") == keys[:1]
    assert works.in_other_sessions(keys, "fork") == keys


def test_sessions_are_known_where_there_are_several(works: Works) -> None:
    one, two = add(works, done(1, TEST), done(2, EDIT))

    works.share({one: ["s1", "fork", "left", ""], two: ["s1"]})
    works.leave([one], "left")
    works.share({one: ["left"]})

    assert works.sessions_of([one, two]) == {one: ["fork", "s1"]}


def test_what_leaves_one_session_stays_with_the_other_and_does_not_come_back(works: Works) -> None:
    (key,) = add(works, done(1, TEST))
    works.add([done(1, TEST, session_id="fork")], [""])

    works.leave([key], "s1")
    works.add([done(1, TEST)], [""])

    assert works.keys(Scope(session_id="s1")) == []
    assert works.keys(Scope(session_id="fork")) == [key]
    assert works.in_other_sessions([key], "fork") == []
    assert works.get([key])[0].provenance.session_id == "fork"


def test_what_belongs_to_one_session_only_does_not_leave_it(works: Works) -> None:
    (key,) = add(works, done(1, TEST))

    works.leave([key], "s1")
    works.leave([key], "another")

    assert works.keys(Scope(session_id="s1")) == [key]
