"""What a new session is told is chosen from what was really said."""

from dataclasses import replace
from itertools import count

from iai_mcp.domain import briefing
from iai_mcp.domain.briefing_text import LONGEST_TEXT, Section, compose
from iai_mcp.domain.instants import from_micros
from iai_mcp.domain.memories import Memory, Provenance
from iai_mcp.domain.recap import endings
from iai_mcp.domain.rule_register import register
from iai_mcp.domain.rulings import rulings

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


def rules_of(memories: list[Memory]) -> list[str]:
    return texts(briefing.rules(register((one, rulings(one.text)) for one in memories)))


def test_rules_of_people_are_told_once_and_in_their_newest_version() -> None:
    memories = [
        said("Always run the linter before committing."),
        said("End all function names with '_x'."),
        said("always run the linter before committing"),
        said("I prefer tabs over spaces."),
        said("From now on, end all function names with '_y'."),
    ]
    assert rules_of(memories) == [
        "From now on, end all function names with '_y'.",
        "I prefer tabs over spaces.",
        "always run the linter before committing",
    ]


def test_a_turn_that_states_an_outdated_rule_is_no_source_of_rules() -> None:
    memories = [
        said("Never push to main. I prefer tabs over spaces."),
        said("End all function names with '_x'. Always use docstrings in methods."),
        said("From now on, end all function names with '_y'."),
    ]
    assert rules_of(memories) == [
        "From now on, end all function names with '_y'.",
        "I prefer tabs over spaces.",
        "Never push to main.",
    ]


def test_what_people_rule_in_an_aside_is_told_and_what_they_paste_is_not() -> None:
    memories = [
        said("remove it completely, no need to deprecate it"),
        said("I got this feedback:\nThe helper should be removed instead of kept."),
        said("can you add a test?"),
        said("The port must be closed.\n\nHigh severity\n\nIt should be shut.\n\nSee above."),
    ]
    assert texts(briefing.rulings_in_passing(memories)) == [
        "remove it completely, no need to deprecate it"
    ]


def test_a_question_without_an_answer_is_left_open() -> None:
    asked = endings([said("why is the build red?")])
    assert briefing.open_threads(asked)[0].why == "asked last, without an answer"


def test_a_next_step_of_the_last_answer_is_left_open() -> None:
    question = said("fix the login")
    answer = said("The login works for everybody. Next step: write the tests.", role="assistant")
    (point,) = briefing.open_threads(endings([question, answer]))
    assert point.text == "Next step: write the tests."
    go = said("go", session="s2")
    done = said("All done and merged.", role="assistant", session="s2")
    assert briefing.open_threads(endings([go, done])) == []


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


def test_the_latest_exchanges_are_quoted_newest_first_the_answer_before_its_question() -> None:
    turns = [
        said("how do we\n  start the server?"),
        said("With make serve — ünïcode.", role="assistant"),
        said("and where is its log?"),
        said("It lies in var/log.", role="assistant"),
    ]
    made = compose("Project shop.", [], endings(turns), 500, words)
    assert "\n    how do we\n      start the server?" in made.text
    assert "  asked: “and where is its log?”" in made.text
    assert [source.id for source in made.sources] == [turns[place].id for place in (3, 2, 1, 0)]


def test_narration_nods_and_copies_are_not_told() -> None:
    turns = [
        said("the login page is broken, please fix it"),
        said("Let me look at the tests.", role="assistant"),
        said("The cookie had no path; it has one now.", role="assistant"),
        said("yes"),
        said("ok", role="assistant"),
        said("the login page is broken, please fix it", session="s2"),
        said("The cookie had no path; it has one now.", role="assistant", session="s2"),
    ]
    text = compose("P.", [], endings(turns), 500, words).text
    assert text.count("The cookie had no path") == text.count("login page is broken") == 1
    assert "Let me look" not in text and "    ok" not in text and "yes" not in text


def test_nothing_known_is_nothing_said() -> None:
    made = compose("Project shop.", [Section("Known", [], 0.3)], [], 500, words)
    assert (made.text, made.tokens, made.sources) == ("", 0, ())


def test_the_budget_holds_and_leaves_room_for_the_words_themselves() -> None:
    points = [
        briefing.Point(f"fact number {n} is worth knowing", said("x"), "known") for n in range(50)
    ]
    turns = [said(f"turn {n} " + "word " * 20, session=f"s{n}") for n in range(50)]
    for budget in (1, 20, 60, 200, 1200):
        made = compose(
            "Project shop.", [Section("Known", points, 0.5)], endings(turns), budget, words
        )
        assert made.tokens <= budget
        assert words(made.text) <= budget
    assert "turn 49" in made.text and "fact number 0" in made.text


def test_of_a_long_conclusion_its_beginning_and_its_end_are_told_and_the_code_is_not() -> None:
    middle = "\n".join(f"- `file{n}.go`" for n in range(200))
    answer = (
        f"The parser drops empty cookies.\n```\ncode\n```\n{middle}\nThe header stays as it was."
    )
    turns = [said("why?"), said(answer, role="assistant")]
    made = compose("P.", [], endings(turns), 300, words)
    assert "The parser drops empty cookies. … " in made.text
    assert "The header stays as it was." in made.text
    assert "code" not in made.text and len(made.text) < 1000


def test_the_text_stays_below_the_hosts_limit_whatever_the_budget() -> None:
    turns = [said(f"{n} " + "x" * 230, session=f"s{n}") for n in range(90)]
    made = compose("Project shop.", [], endings(turns), 100_000, words)
    assert len(made.text) <= LONGEST_TEXT


def test_every_section_gets_its_share() -> None:
    first = [briefing.Point("alpha " * 10, said("a"), "known") for _ in range(30)]
    last = [briefing.Point("omega", said("o"), "left open")]
    made = compose("P.", [Section("First", first, 0.5), Section("Last", last, 0.2)], [], 200, words)
    assert "omega" in made.text


def test_the_budget_holds_by_bytes_as_well_whatever_a_tokenizer_counts() -> None:
    points = [briefing.Point(f"“extraordinary” fact — {n}", said("x"), "known") for n in range(90)]
    turns = [said(f"turn {n} " + "extraordinarily " * 20, session=f"s{n}") for n in range(50)]
    for budget in (100, 400, 1500):
        section = Section("Known", points, 0.5, verbatim=True)
        made = compose("Project shop.", [section], endings(turns), budget, words)
        assert made.sources
        assert len(made.text.encode()) <= 4 * budget


def test_a_habit_whose_rule_was_replaced_since_is_not_known_any_more() -> None:
    old = said("Use flake8 for linting in this repo.")
    new = said("From now on use ruff instead of flake8 for linting.")
    found = register((one, rulings(one.text)) for one in (old, new))
    habit = replace(said("Use flake8 for linting.", tier="procedural"), derived=True)
    of_old = replace(habit, meta={"sources": [new.id, old.id]})
    of_new = replace(habit, meta={"sources": [old.id, new.id]})
    assert briefing.not_outlived([of_old, of_new], found) == [of_new]
