"""The narrow rows of all memories."""

import random
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from iai_mcp.domain.traits import Fact
from iai_mcp.engine.columns import NOBODY, Columns, having
from iai_mcp.ports.memories import Entry, EntryPage, Renewed, Scope


def _line(key: int, *, at: int = 0, session: str = "s", **other: object) -> Entry:
    given: dict[str, Any] = {
        "length": 10,
        "facts": int(Fact.SPOKEN),
        "project": "p",
        "speaker": "",
        "role": "user",
        "host": "",
        "agent_id": "",
        "agent_name": "",
    } | other
    return Entry(key=key, at=at, session=session, **given)


class _Log:
    """What is stored, as the columns read it; something else may happen while they do."""

    def __init__(self, *entries: Entry) -> None:
        self.stored = list(entries)
        self.meanwhile: list[Callable[[], None]] = []

    def keys(self, scope: Scope) -> list[int]:
        return [entry.key for entry in self.stored if entry.session == scope.session_id]

    def latest(self) -> int:
        return max((entry.key for entry in self.stored), default=0)

    def entries(self, after: int, limit: int) -> EntryPage:
        found = sorted(entry for entry in self.stored if entry.key > after)
        while self.meanwhile:
            self.meanwhile.pop()()
        return EntryPage.of(found[:limit])


def _columns(*entries: Entry) -> Columns:
    columns = Columns(_Log(*entries))
    columns.catch_up()
    return columns


def _chain(columns: Columns) -> list[int]:
    """The keys of the one session, first to last, by following the links."""
    view = columns.view()
    rows = [row for row in range(len(view.keys)) if view.alive[row] and view.before[row] == NOBODY]
    assert len(rows) == 1
    found, row = [], rows[0]
    while row != NOBODY:
        found.append(int(view.keys[row]))
        row = int(view.after[row])
    return found


def test_turns_of_a_session_are_linked_in_the_order_they_were_said() -> None:
    columns = _columns(_line(1, at=10), _line(2, at=30), _line(3, at=20), _line(4, at=5))

    assert _chain(columns) == [4, 1, 3, 2]


def test_equal_times_are_in_order_of_arrival() -> None:
    assert _chain(_columns(*(_line(key, at=7) for key in range(1, 6)))) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("gone", [1, 2, 3])
def test_a_dropped_turn_leaves_its_neighbours_linked(gone: int) -> None:
    log = _Log(*(_line(key, at=key) for key in (1, 2, 3)))
    columns = Columns(log)
    columns.catch_up()
    columns.drop([gone])

    assert _chain(columns) == [key for key in (1, 2, 3) if key != gone]
    log.stored.append(_line(9, at=9))
    columns.catch_up()
    assert _chain(columns)[-1] == 9


def test_memories_without_a_session_have_no_neighbours() -> None:
    view = _columns(_line(1, session=""), _line(2, session="")).view()

    assert list(view.before) == [NOBODY, NOBODY]


def test_rows_grow_beyond_the_first_allocation() -> None:
    columns = _columns(*(_line(key, at=key) for key in range(1, 3001)))

    assert len(columns.view().keys) == 3000
    assert _chain(columns)[-1] == 3000


def test_what_was_stored_meanwhile_comes_in_once_and_in_order() -> None:
    log = _Log(_line(2), _line(1))
    columns = Columns(log)
    assert list(columns.current().keys) == [1, 2]
    log.stored += [_line(5), _line(4), _line(3)]

    assert list(columns.current().keys) == [1, 2, 3, 4, 5]
    assert list(columns.current().keys) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("what", ["forgotten", "corrected"])
def test_what_happens_to_a_memory_while_its_row_is_read_holds_afterwards(what: str) -> None:
    log = _Log(_line(1), _line(2))
    columns = Columns(log)

    def change() -> None:
        if what == "forgotten":
            columns.drop([1])
        else:
            columns.correct([Renewed(1, 77, 0)])

    beside = threading.Thread(target=change)
    log.meanwhile.append(beside.start)
    columns.catch_up()
    beside.join(10)

    view = columns.view()
    told = {"forgotten": not view.alive[0], "corrected": view.length[0] == 77}
    assert told[what]


@pytest.mark.parametrize(
    ("scope", "keys"),
    [
        (Scope(), [1, 2, 3]),
        (Scope(projects=("p",)), [1, 3]),
        (Scope(projects=("unheard of",)), []),
        (Scope(not_projects=("p",)), [2]),
        (Scope(session_id="other"), [3]),
        (Scope(role="assistant"), [2]),
        (Scope(agent="scout"), [3]),
        (Scope(since=2), [2, 3]),
        (Scope(until=2), [1]),
        (Scope(known_at=2), [1, 2]),
        (Scope(projects=("p",), since=2), [3]),
    ],
)
def test_a_scope_holds_the_rows_that_meet_all_its_conditions(scope: Scope, keys: list[int]) -> None:
    columns = _columns(
        _line(1, at=1),
        _line(2, at=2, project="q", role="assistant"),
        _line(3, at=3, session="other", agent_name="scout"),
    )
    view = columns.view()

    assert list(view.keys[columns.within(view, scope)]) == keys


def test_facts_say_what_a_turn_is() -> None:
    view = _columns(
        _line(1, facts=Fact.ASKS | Fact.INSTRUCTION | Fact.SPOKEN),
        _line(2, facts=Fact.PREFERENCE | Fact.WITHIN),
    ).view()

    assert list(having(view.facts, Fact.ASKS)) == [True, False]
    assert list(having(view.facts, Fact.WITHIN)) == [False, True]
    assert list(view.spoken) == [True, False]
    assert list(view.standing) == [True, True]


def test_rows_are_found_by_key_in_the_order_asked() -> None:
    view = _columns(_line(2), _line(5), _line(9)).view()

    assert list(view.rows_of(np.array([9, 3, 2], dtype=np.int64))) == [2, 0]


def test_a_memory_without_a_session_is_alone() -> None:
    view = _columns(_line(1, session="a"), _line(2, session=""), _line(3, session="")).view()
    said = view.sessions(np.array([0, 1, 2]))

    assert len(set(said.tolist())) == 3
    assert said[0] == view.session[0]


def _exchanges(columns: Columns) -> list[list[int]]:
    """The keys of each exchange of the one session, in the order said."""
    view = columns.view()
    rows = view.rows_of(np.array(_chain(columns), np.int64))
    heads = [int(view.head[row]) for row in rows]
    return [
        [int(view.keys[row]) for row, head in zip(rows, heads, strict=True) if head == one]
        for one in dict.fromkeys(heads)
    ]


def test_an_exchange_is_a_prompt_and_all_until_the_next_one() -> None:
    roles = ["assistant", "user", "assistant", "assistant", "user", "user", "assistant"]
    lines = [_line(key, at=key, role=role) for key, role in enumerate(roles, 1)]

    assert _exchanges(_columns(*lines)) == [[1], [2, 3, 4], [5], [6, 7]]


def test_an_exchange_goes_on_through_what_is_said_within_it() -> None:
    roles = ["user", "assistant", "user", "assistant", "user", "assistant"]
    lines = [
        _line(key, at=key, role=role, facts=int(Fact.SPOKEN | Fact.WITHIN) if key == 3 else 0)
        for key, role in enumerate(roles, 1)
    ]
    columns = _columns(*lines)

    assert _exchanges(columns) == [[1, 2, 3, 4], [5, 6]]
    columns.correct([Renewed(3, 1, int(Fact.SPOKEN)), Renewed(5, 1, int(Fact.WITHIN))])
    assert _exchanges(columns) == [[1, 2], [3, 4, 5, 6]]
    columns.drop([3])
    assert _exchanges(columns) == [[1, 2, 4, 5, 6]]


@pytest.mark.parametrize("order", [[4, 3, 2, 1, 5], [2, 5, 3, 1, 4], [5, 1, 2, 4, 3]])
def test_turns_that_arrive_late_come_into_the_exchange_they_were_said_in(order: list[int]) -> None:
    roles = {1: "user", 2: "assistant", 3: "user", 4: "assistant", 5: "assistant"}
    columns = _columns(*(_line(key, at=at, role=roles[at]) for key, at in enumerate(order, 1)))
    said = dict(enumerate(order, 1))

    assert [[said[key] for key in one] for one in _exchanges(columns)] == [[1, 2], [3, 4, 5]]


@pytest.mark.parametrize(
    ("gone", "left"),
    [(1, [[2], [3, 4, 5]]), (2, [[1], [3, 4, 5]]), (3, [[1, 2, 4, 5]]), (4, [[1, 2], [3, 5]])],
)
def test_what_followed_a_forgotten_prompt_joins_what_was_before(
    gone: int, left: list[list[int]]
) -> None:
    roles = ["user", "assistant", "user", "assistant", "assistant"]
    columns = _columns(*(_line(key, at=key, role=role) for key, role in enumerate(roles, 1)))
    columns.drop([gone])

    assert _exchanges(columns) == left


def test_memories_without_a_session_are_exchanges_of_their_own() -> None:
    view = _columns(*(_line(key, session="", role="assistant") for key in (1, 2))).view()

    assert list(view.head) == [0, 1]


@pytest.mark.parametrize("late", [0.0, 0.2])
def test_many_that_come_at_once_are_linked_as_if_each_came_by_itself(late: float) -> None:
    chance = random.Random(11)
    entries = [
        _line(
            key,
            at=key - (50 if chance.random() < late else 0),
            session=chance.choice(["", "a", "b", "c"]),
            role=chance.choice(["user", "assistant"]),
            facts=int(chance.choice([0, Fact.WITHIN])),
        )
        for key in range(1, 400)
    ]
    log = _Log()
    one_by_one, in_pages = Columns(log), Columns(log)
    for number, entry in enumerate(entries):
        log.stored.append(entry)
        one_by_one.catch_up()
        if number % 90 == 0:
            in_pages.catch_up()
    in_pages.catch_up()
    expected, found = one_by_one.view(), in_pages.view()
    for name in ("before", "after", "head", "session", "role"):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist(), name


def test_a_page_of_rows_is_the_same_whole_or_from_any_key_on() -> None:
    lines = [
        _line(3, at=7, session="a", role="user"),
        _line(5, at=8, session="b", role="assistant", length=2),
        _line(9, at=9, session="a", role="user", facts=0),
    ]
    page = EntryPage.of(lines)
    assert list(page) == lines
    assert list(page.part(3, 9)) == lines[1:]
    assert list(page.part(0, 2)) == lines[:2]
    assert list(page.part(9, 9)) == list(EntryPage.of([])) == []
    assert page.named["session"].known == ("a", "b")
    assert page.named["project"].numbers is None  # as one name has them all
