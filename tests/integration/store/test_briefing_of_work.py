"""A session's start in a project where agents worked: asides, plans, open points, chores, copies."""

from collections.abc import Callable

import pytest

from iai_mcp.core import dispatch
from iai_mcp.store import MemoryStore

SHOP = "/gone/ann/shop"
PLAN = """Implement the following plan:

# Coins for the till

## Context

The till counts notes only. Coins are to be counted too so that no drawer is ever short.

## Steps

1. **Count** the coins in `till/count.py`
2. **Show** them
""" + "\n".join(f"{n}. Check drawer number {n} of the shop" for n in range(3, 60))
DONE = "Coins are counted in `till/count.py`, in cents, and the drawer shows them below the notes."


@pytest.fixture
def store(opened: Callable[[], MemoryStore]) -> MemoryStore:
    return opened()


def tell(store: MemoryStore, session: str, *turns: str, day: int = 1, **user: object) -> None:
    """Turns of a session, each with who said it; `user` is added to what the person says."""
    events: list[dict[str, object]] = []
    for n, turn in enumerate(turns):
        who, _, text = turn.partition(": ")
        role = {"A": "assistant", "U": "user"}[who]
        at = f"2026-03-{day:02}T10:{n:02}:00Z"
        events.append({"text": text, "role": role, "ts": at, "id": f"{session}{n}"})
        if role == "user":
            events[-1].update(user)
    dispatch(store, "capture_events", {"session_id": session, "cwd": SHOP, "events": events})


def told(store: MemoryStore) -> str:
    return str(dispatch(store, "session_start_payload", {"cwd": SHOP})["text"])


def test_who_breaks_in_is_still_about_what_was_asked(store: MemoryStore) -> None:
    under_way = "A: All unit tests pass. Let me also run the slow ones:"
    tell(store, "s", "U: Count the coins in the till too", under_way, "U: too slow.", f"A: {DONE}")
    text = told(store)
    assert text.index(DONE) < text.index("asked: “Count the coins in the till too”")
    assert "All unit tests pass" not in text


def test_what_was_under_way_when_the_session_ended_is_told_as_asked(store: MemoryStore) -> None:
    tell(store, "s", "U: Count the coins in the till too", "A: Let me look at it:", "U: wait")
    assert "Count the coins in the till too" in told(store)


def test_a_plan_is_told_by_its_title_and_what_it_is_for(store: MemoryStore) -> None:
    tell(store, "s", f"U: {PLAN}", f"A: {DONE}")
    text = told(store)
    assert "Coins for the till … The till counts notes only." in text
    assert "so that no drawer is ever short." in text
    assert "Check drawer" not in text


@pytest.mark.parametrize(
    ("line", "is_open"),
    [
        ("The slow tests were not run.", True),
        ("Fish shells are not supported yet.", True),
        ("Remaining work: the drawer of the second till.", True),
        ("The findings are kept in `todos/` for future consideration.", True),
        ("- **Own branch only** if the commit is not yet merged", False),
        ("- Renamed the remaining tests after what they do, with no follow-up", False),
        ("The remaining two commits applied cleanly on top.", False),
        ("## Next steps for whoever debugs the till later", False),
    ],
)
def test_open_is_what_is_to_be_done_not_what_happens_to_remain(
    store: MemoryStore, line: str, is_open: bool
) -> None:
    said = "\n".join(
        [DONE, *(f"Drawer {n} holds {n} coins of each kind." for n in range(40)), line]
    )
    tell(
        store, "s", "U: Count the coins in the till too", f"A: {said}\nAll drawers were looked at."
    )
    assert (line in told(store).partition("Left open:")[2]) == is_open


def test_a_chore_is_not_told_as_work(store: MemoryStore) -> None:
    tell(
        store,
        "s",
        "U: Count the coins in the till",
        f"A: {DONE}",
        "U: commit",
        "A: Committed as `1a2b3c4` to the branch.",
    )
    assert "1a2b3c4" not in told(store)


def test_a_sentence_that_was_pasted_again_is_told_once(store: MemoryStore) -> None:
    ruled = "ok, I think we should keep the coins in cents"
    tell(store, "a", f"U: {ruled}", f"A: {DONE}")
    for n in range(40):  # so that both are too old to be quoted with how they ended
        tell(store, f"b{n}", f"U: Look at drawer {n} of the shop", f"A: Drawer {n}: {DONE}", day=3)
    tell(store, "c", f"U: v * {ruled} and not in euros", f"A: So: {DONE}", day=2)
    assert told(store).count("we should keep the coins in cents") == 1


def test_a_refusal_says_what_was_refused(store: MemoryStore) -> None:
    refused = {"rejected": "make slow-tests"}
    tell(store, "s", "U: Count the coins", "A: Let me run all:", f"A: {DONE}")
    tell(store, "t", "A: Let me run the tests:", "U: too slow.", f"A: So: {DONE}", meta=refused)
    assert "“too slow.” (refusing: make slow-tests)" in told(store)


def test_a_pasted_log_is_told_by_its_start_alone(store: MemoryStore) -> None:
    log = "\n".join(f"=== RUN the test of drawer number {n} passed" for n in range(200))
    tell(store, "s", f"U: {log}", f"A: {DONE}")
    text = told(store)
    assert DONE in text
    assert "drawer number 0 passed" in text
    assert "drawer number 5 passed" not in text


RULED = "Coins of the old mint are counted by weight, since their edges wear down in the drawer."


@pytest.mark.parametrize(
    "second",
    [
        ("U: And how are the coins of the old mint counted?", f"A: {RULED}"),  # the same again
        ("U: And how are the coins of the old mint counted?", f"A: As said: {RULED} {DONE}"),
        (
            f"U: Implement the following plan:\n\n{RULED}",
            "A: The scale is wired to the drawer now.",
        ),
        (f"U: {RULED} {'Then wire the scale. ' * 40}", "A: The scale is wired to the drawer now."),
    ],
)
@pytest.mark.parametrize("order", [1, -1])
def test_words_that_a_later_session_repeats_are_told_once(
    store: MemoryStore, second: tuple[str, str], order: int
) -> None:
    first = ("U: How do we count coins of the old mint?", f"A: {RULED}")
    for day, (name, turns) in enumerate([("a", first), ("b", second)][::order], start=1):
        tell(store, name, *turns, day=day)
    assert told(store).count(RULED) == 1
    asked = {"prompt": "count coins of the old mint by weight as edges wear down", "cwd": SHOP}
    injected = dispatch(store, "prompt_injection", {**asked, "session_id": "new"})["text"]
    assert str(injected).count(RULED) == 1


_RULES_TITLE = "Rules that hold"


def test_a_prompt_that_only_rules_is_told_as_a_rule_and_not_as_work(store: MemoryStore) -> None:
    rule = "never commit to main directly, always open a branch"
    tell(store, "r", f"U: {rule}", "A: OK, branches only from here on.", day=1)
    tell(store, "s", "U: Count the coins in the till too", f"A: {DONE}", day=2)
    text = told(store)
    assert text.count(rule) == 1
    assert text.index(DONE) < text.index(_RULES_TITLE) < text.index(rule)
    assert "branches only" not in text


def test_a_rule_that_was_replaced_is_told_neither_as_one_nor_as_work(store: MemoryStore) -> None:
    old, new = "always prefix method names with m_", "prefix method names with k_, not m_"
    tell(store, "r", f"U: {old}", "A: All methods are prefixed with m_ now.", day=1)
    tell(store, "q", f"U: {new}", "A: Renamed to k_.", day=2)
    tell(store, "s", "U: Count the coins in the till too", f"A: {DONE}", day=3)
    text = told(store)
    assert text.index(_RULES_TITLE) < text.index(new)
    assert "with m_ now" not in text
    assert old not in text


def test_work_that_began_with_a_rule_is_told_by_what_came_of_it(store: MemoryStore) -> None:
    rule = "always add a test for each kind of coin"
    tell(
        store,
        "r",
        f"U: {rule}",
        f"A: {DONE} {DONE.replace('Coins', 'Notes')} Each kind has its test by now.",
    )
    text = told(store)
    assert text.index("Notes are counted") < text.index(_RULES_TITLE) < text.index(rule)
    assert text.count(rule) == 1
