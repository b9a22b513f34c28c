"""Which turns make a piece of work: the request, its conclusion, and what only carried it on."""

from dataclasses import replace

import pytest

from iai_mcp.domain.instants import from_micros
from iai_mcp.domain.memories import SUMMARY, Memory, Provenance
from iai_mcp.domain.work import Command, Record
from iai_mcp.domain.work_pieces import bare_request, pieces, spoken_by_person


def turns(*said: str, session: str = "s", start: int = 0, **more: object) -> list[Memory]:
    """`u: …` by the person, `a: …` by the assistant, `m: …` a summary."""
    roles = {"u": "user", "a": "assistant", "m": SUMMARY}
    found = []
    for n, turn in enumerate(said):
        who, _, text = turn.partition(": ")
        key = start + n + 1
        found.append(
            Memory(
                key=key,
                id=f"{key:08x}",
                text=text,
                role=roles[who],
                at=from_micros(key * 1_000_000),
                provenance=Provenance(session_id=session),
                **more,  # type: ignore[arg-type]
            )
        )
    return found


def told(*memories: Memory) -> list[tuple[str, str]]:
    return [
        (one.request.text if one.request else "", one.conclusion.text if one.conclusion else "")
        for one in pieces(memories)
    ]


LOCK = "why does the worker hang in the lock?"
FIXED = "The lock was never released when the job failed."


def test_the_last_reply_concludes_a_request() -> None:
    assert told(*turns(f"u: {LOCK}", "a: Let me look.", f"a: {FIXED}")) == [(LOCK, FIXED)]


def test_newest_work_comes_first_across_sessions() -> None:
    first = turns(f"u: {LOCK}", f"a: {FIXED}", session="b")
    second = turns("u: rename the till module", "a: It is called drawer.", session="a", start=9)
    assert [request for request, _ in told(*first, *second)] == ["rename the till module", LOCK]


@pytest.mark.parametrize("chore", ["commit", "push it", "commit this please", "ok, go on", "继续"])
def test_a_chore_belongs_to_the_work_before_it(chore: str) -> None:
    said = turns(f"u: {LOCK}", f"a: {FIXED}", f"u: {chore}", "a: Committed as `1a2b3c4`.")
    assert told(*said) == [(LOCK, FIXED)]


def test_what_comes_of_a_yes_concludes_the_work() -> None:
    said = turns(f"u: {LOCK}", "a: Shall I release it?", "u: yes", "a: Looking.", f"a: {FIXED}")
    assert told(*said) == [(LOCK, FIXED)]


def test_words_that_many_requests_share_are_nobodys_own() -> None:
    is_bare = bare_request([f"please review module{n} again" for n in range(30)])
    assert is_bare("please review again", 3)
    assert not is_bare("review the cookie parser", 3)
    assert not is_bare("review till/count.py please", 3)


def test_a_short_request_that_names_something_is_work_of_its_own() -> None:
    said = turns(f"u: {LOCK}", f"a: {FIXED}", "u: fix parse_header too", "a: Fixed there as well.")
    assert told(*said)[0] == ("fix parse_header too", "Fixed there as well.")


def test_what_announced_a_command_concludes_nothing() -> None:
    assert told(*turns(f"u: {LOCK}", "a: Let me run the tests:")) == [(LOCK, "")]
    assert told(*turns("u: continue", "a: Let me run the tests:")) == []


def ran(at: int) -> Record:
    """A command of the session, so many seconds after its beginning."""
    whence = Provenance(session_id="s")
    done = Command("make test", exit=0)
    return Record(key=1, id="w", at=from_micros(at * 1_000_000), done=done, provenance=whence)


def test_what_led_to_work_concludes_nothing() -> None:
    said = turns(f"u: {LOCK}", "a: Let me run the tests.", "u: too slow, stop the worker first")
    ((second, _), (first, concluded)) = [
        (one.request, one.conclusion)
        for one in pieces(said, [replace(ran(2), at=from_micros(2_500_000))])
    ]
    assert concluded is None
    assert first is not None and first.text == LOCK
    assert second is not None
    kept = pieces(turns(f"u: {LOCK}", "a: Let me look.", f"a: {FIXED}"), [ran(1), ran(2)])
    assert [one.conclusion.text for one in kept if one.conclusion] == [FIXED]


def test_an_answer_to_the_host_goes_on_with_the_work() -> None:
    said = turns(f"u: {LOCK}", "a: Which lock?", "u: the second", f"a: {FIXED}")
    said[2] = replace(said[2], meta={"answers": "Which lock?"})
    assert told(*said) == [(LOCK, FIXED)]


def test_summaries_are_no_work() -> None:
    assert told(*turns(f"u: {LOCK}", f"a: {FIXED}", "m: Fixing the lock")) == [(LOCK, FIXED)]


@pytest.mark.parametrize(
    ("meta", "whence", "is_theirs"),
    [
        ({}, Provenance(), True),
        ({"profile": "claude"}, Provenance(agent_id="backend", agent_name="backend"), True),
        ({}, Provenance(agent_id="a1b2"), False),
        ({"sidechain": True}, Provenance(), False),
        ({"profile": "claude", "subagent": "a1"}, Provenance(agent_id="backend"), False),
        ({}, Provenance(captured_by="backend"), False),
    ],
)
def test_what_models_say_to_their_sub_agents_is_no_persons(
    meta: dict[str, object], whence: Provenance, is_theirs: bool
) -> None:
    (turn,) = turns("u: always squash")
    assert spoken_by_person(replace(turn, meta=meta, provenance=whence)) is is_theirs


def test_only_a_users_turn_is_spoken() -> None:
    assert not any(map(spoken_by_person, turns("a: always squash", "m: always squash")))
