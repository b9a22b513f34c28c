"""What was superseded, copies, and repeated memories."""

from typing import Any

from iai_mcp.domain.instants import from_micros
from iai_mcp.domain.memories import Memory, Provenance
from iai_mcp.recall.resolve import SUCCESSOR, Entry, Resolved, repeats, resolve


def memory(key: int, text: str = "", **given: Any) -> Memory:
    made: dict[str, Any] = {"role": "user", "at": from_micros(key), "valid_from": key, **given}
    return Memory(key=key, id=f"id{key}", text=text or f"text {key}", **made)


def entry(main: Memory, *keys: int, score: float = 1.0) -> Entry:
    return Entry(main=main, keys=keys or (main.key,), score=score)


def keys(resolved: Resolved) -> tuple[list[int], list[int]]:
    """Of what holds and of what was superseded."""
    return (
        [one.main.key for one in resolved.entries],
        [one.main.key for one in resolved.superseded],
    )


def test_what_nobody_superseded_stays_as_it_is() -> None:
    rule = memory(1, "From now on always use tabs.")
    later = memory(2, "Never use tabs, you must use spaces.")

    assert keys(resolve([entry(rule), entry(later)], {})) == ([1, 2], [])


def test_the_end_of_a_chain_takes_the_place_of_its_beginning() -> None:
    old, middle = memory(1, successor=2, valid_to=5), memory(2, successor=3, valid_to=6)
    resolved = resolve([entry(old), entry(memory(9))], {2: middle, 3: memory(3)})

    assert keys(resolved) == ([3, 9], [1])
    assert resolved.entries[0].reason == SUCCESSOR


def test_each_memory_of_a_chain_is_answered_by_its_end_once() -> None:
    chain = [memory(1, successor=2), memory(2, successor=3), memory(3)]
    known = {one.key: one for one in chain}

    assert keys(resolve([entry(one) for one in chain], known)) == ([3], [1, 2])


def test_a_chain_that_bites_its_tail_ends() -> None:
    one, two = memory(1, successor=2), memory(2, successor=1)

    assert keys(resolve([entry(one), entry(two)], {1: one, 2: two}))[1]


def test_a_successor_that_is_not_open_is_not_told_instead() -> None:
    assert keys(resolve([entry(memory(1, successor=2))], {})) == ([1], [])


def test_what_held_then_is_the_answer_as_of_then() -> None:
    old = memory(1, successor=2, valid_to=50)

    assert keys(resolve([entry(old)], {2: memory(2)}, as_of=49)) == ([1], [])
    assert keys(resolve([entry(old)], {2: memory(2)}, as_of=50)) == ([2], [1])


def test_a_superseded_turn_stays_in_its_exchange_behind_its_successor() -> None:
    old = memory(2, role="assistant", successor=9, valid_to=5)
    asked = entry(memory(1), 1, 2, 3)

    resolved = resolve([asked], {9: memory(9)}, turns={2: old})
    assert keys(resolved) == ([9, 1], [2])
    main = resolve([entry(old, 1, 2, 3)], {9: memory(9)}, turns={2: old})
    assert keys(main) == ([9, 2], [2])


def test_copies_are_one_entry_with_the_first_said_for_the_best_score() -> None:
    text = "The plan: measure it, clear it at each deploy, then measure it once more."
    resolved = resolve([entry(memory(7, text), score=3.0), entry(memory(2, text), score=2.0)], {})

    (one,) = resolved.entries
    assert (one.main.key, one.score, one.same) == (2, 3.0, ("id7",))
    assert (
        len(resolve([entry(memory(7, text)), entry(memory(2, text))], {}, fold=False).entries) == 2
    )


def test_numbers_tell_texts_apart() -> None:
    texts = [f"the service of the second region listens on port {n} today" for n in (5432, 5433)]

    assert len(resolve([entry(memory(n, text)) for n, text in enumerate(texts)], {}).entries) == 2


def test_what_a_tool_wrote_does_not_stand_for_what_was_said() -> None:
    text = "the deploy failed because the disk of the builder was full"
    noted = memory(1, text, provenance=Provenance(captured_by="an agent"))

    assert len(resolve([entry(noted), entry(memory(2, text))], {}).entries) == 2


def test_what_sleep_folded_is_one_entry() -> None:
    resolved = resolve(
        [entry(memory(1)), entry(memory(2)), entry(memory(3))], {}, folds={1: 5, 3: 5}
    )

    assert keys(resolved)[0] == [1, 2]
    assert resolved.entries[0].same == ("id3",)


def reply(key: int, text: str) -> Memory:
    return memory(key, text, role="assistant", provenance=Provenance(session_id="later"))


SAID = "The staging database moved to the host heron in March."


def test_a_reply_stands_behind_the_memory_that_it_repeats() -> None:
    echo = reply(2, "You told me: the staging database moved to the host heron in March.")
    found = [entry(echo), entry(memory(5, "lemon cake")), entry(memory(1, SAID))]

    given = resolve(found, {}, given=lambda session: frozenset({"id1"} if session else ()))
    assert keys(given)[0] == [1, 2, 5]
    assert keys(resolve(found, {}))[0] == [2, 5, 1]


def test_a_reply_that_says_something_else_or_was_not_given_it_keeps_its_place() -> None:
    other = reply(2, "The tests are green, and the linter has nothing to say.")
    found = [entry(other), entry(memory(1, SAID))]

    assert keys(resolve(found, {}, given=lambda _: frozenset({"id1"})))[0] == [2, 1]


def test_texts_repeat_each_other_by_half_the_words_of_the_shorter() -> None:
    assert repeats("the grey heron stands", "a grey heron")
    assert not repeats("the grey heron stands", "lemon cake wants eggs")
    assert not repeats("", "heron")
