"""What a new session is told is chosen from what was really said."""

from dataclasses import replace
from itertools import count

from iai_mcp.domain import briefing
from iai_mcp.domain.briefing_text import LONGEST_TEXT, Section, compose, sessions_section
from iai_mcp.domain.instants import from_micros
from iai_mcp.domain.memories import Memory, Provenance

_keys = count(1)
DAY = 86_400_000_000


def words(text: str) -> int:
    return len(text.split())


def said(
    text: str,
    *,
    role: str = "user",
    session: str = "s1",
    at: int | None = None,
    agent: str = "",
    tier: str = "episodic",
) -> Memory:
    key = next(_keys)
    return Memory(
        key=key,
        id=f"m{key}",
        text=text,
        role=role,
        at=from_micros(key * 1_000_000 if at is None else at),
        tier=tier,
        provenance=Provenance(
            session_id=session, host="codex", agent_id=agent, agent_name=agent.title()
        ),
    )


def texts(points: list[briefing.Point]) -> list[str]:
    return [point.text for point in points]


def test_what_was_superseded_does_not_hold() -> None:
    old, new = said("postgres is on 5432"), said("postgres is on 5433")
    assert briefing.holding([replace(old, valid_to=5, successor=new.key), new, new]) == [new]


def test_decisions_of_people_are_found_newest_first() -> None:
    memories = [
        said("Good morning to you all. We decided to use Postgres. The weather is fine today."),
        said("let's go with pnpm for the front end"),
        said("what did we decide?"),
        said("Should we switch to yarn instead of npm?"),
        said("I had an apple for lunch today"),
    ]
    points = briefing.decisions(memories, frozenset())
    assert texts(points) == ["let's go with pnpm for the front end", "We decided to use Postgres."]
    assert {point.why for point in points} == {"decision"}


def test_a_proposal_of_the_assistant_is_no_decision_but_a_report_is() -> None:
    proposal = said("You could go with Redis instead of Memcached.", role="assistant")
    report = said("Done. Decision: the cache stays in-process.", role="assistant")
    points = briefing.decisions([proposal, report], frozenset())
    assert texts(points) == ["Done. Decision: the cache stays in-process."]


def test_corrections_are_found_and_marked() -> None:
    points = briefing.decisions(
        [
            said("No, the port of the staging database is 5433."),
            said("No, I'm good for now, thanks"),
        ],
        frozenset(),
    )
    assert [(point.why, point.text) for point in points] == [
        ("correction", "No, the port of the staging database is 5433.")
    ]


def test_what_supersedes_something_is_a_correction_whatever_its_words() -> None:
    new = said("port 5433")
    assert briefing.decisions([new], frozenset({new.key}))[0].why == "correction"


def test_a_long_sentence_is_cut_down_to_the_clause_that_matters() -> None:
    long = f"After {'a lot of thinking ' * 20}, we decided to use Postgres, {'and more ' * 40}"
    (point,) = briefing.decisions([said(long)], frozenset())
    assert point.text.startswith("…we decided to use Postgres, and more")
    assert len(point.text) <= 280


def test_wishes_of_people_are_found_and_said_once() -> None:
    memories = [
        said("Always run the linter before committing."),
        said("always run the linter before committing"),
        said("I prefer tabs over spaces."),
        said("Always run everything twice, I suggest.", role="assistant"),
    ]
    assert texts(briefing.wishes(memories)) == [
        "I prefer tabs over spaces.",
        "always run the linter before committing",
    ]


def test_sessions_come_latest_first_with_their_opening_question() -> None:
    memories = [
        said("hello from the assistant", role="assistant", session="a"),
        said("fix the login page", session="a"),
        said("add a dark mode", session="b"),
        said("no session", session=""),
    ]
    found = briefing.sittings(memories)
    assert [sitting.opening.text for sitting in found] == ["add a dark mode", "fix the login page"]
    section = sessions_section(found, 4)
    assert section.points[1].text == "fix the login page (2 turns, codex)"


def test_a_question_without_an_answer_is_left_open() -> None:
    asked = briefing.sittings([said("why is the build red?")])
    assert briefing.open_threads(asked)[0].why == "asked last, without an answer"


def test_a_next_step_of_the_last_answer_is_left_open() -> None:
    question = said("fix the login")
    answer = said("The login works for everybody. Next step: write the tests.", role="assistant")
    (point,) = briefing.open_threads(briefing.sittings([question, answer]))
    assert point.text == "Next step: write the tests."
    go = said("go", session="s2")
    done = said("All done and merged.", role="assistant", session="s2")
    assert briefing.open_threads(briefing.sittings([go, done])) == []


def test_an_agent_is_told_what_the_others_learned_since_it_last_ran() -> None:
    memories = [
        said("old news of bob", role="assistant", agent="bob", session="b1"),
        said("my own last words", role="assistant", agent="ann", session="a1"),
        said("do it", agent="bob", session="b2"),
        said("The API moved to /v2. More below.", role="assistant", agent="bob", session="b2"),
    ]
    points = briefing.learned_by_others(memories, "ann", memories[1].at.micros)
    assert texts(points) == ["The API moved to /v2. More below."]
    assert len(briefing.learned_by_others(memories, "ann", None)) == 2


def test_the_latest_words_are_quoted_line_by_line_newest_first() -> None:
    turns = [
        said("first\n  line two\ttab"),
        said("second", role="assistant"),
        said("third — ünïcode"),
    ]
    made = compose("Project shop.", [], turns, 500, words)
    assert "\n    first\n      line two\ttab" in made.text
    places = [made.text.index(f"    {turn.text.splitlines()[0]}") for turn in turns]
    assert places == sorted(places, reverse=True)
    assert [source.id for source in made.sources] == [turn.id for turn in reversed(turns)]


def test_nothing_known_is_nothing_said() -> None:
    made = compose("Project shop.", [Section("Known", [], 3)], [], 500, words)
    assert (made.text, made.tokens, made.sources) == ("", 0, ())


def test_the_budget_holds_and_leaves_room_for_the_words_themselves() -> None:
    points = [
        briefing.Point(f"fact number {n} is worth knowing", said("x"), "known") for n in range(50)
    ]
    turns = [said(f"turn {n} " + "word " * 20) for n in range(50)]
    for budget in (1, 20, 60, 200, 1200):
        made = compose("Project shop.", [Section("Known", points, 50)], turns, budget, words)
        assert made.tokens <= budget
        assert words(made.text) <= budget
    assert "turn 49" in made.text and "fact number 0" in made.text


def test_a_long_answer_is_cut_and_older_words_still_fit() -> None:
    turns = [said("how?"), said("why not?"), said("answer " * 2000, role="assistant")]
    made = compose("Project shop.", [], turns, 300, words)
    assert "[…]" in made.text
    assert made.text.rstrip().endswith("how?")


def test_a_session_whose_opening_is_quoted_is_not_listed_again() -> None:
    turn = said("fix the login page")
    section = sessions_section(briefing.sittings([turn]), 4)
    assert compose("P.", [section], [turn], 200, words).text.count("fix the login page") == 1


def test_the_text_stays_below_the_hosts_limit_whatever_the_budget() -> None:
    turns = [said(f"{n} " + "x" * 700) for n in range(50)]
    made = compose("Project shop.", [], turns, 100_000, words)
    assert len(made.text) <= LONGEST_TEXT


def test_every_section_gets_its_share() -> None:
    first = [briefing.Point("alpha " * 10, said("a"), "known") for _ in range(30)]
    last = [briefing.Point("omega", said("o"), "left open")]
    made = compose("P.", [Section("First", first, 30), Section("Last", last, 3)], [], 200, words)
    assert "omega" in made.text
