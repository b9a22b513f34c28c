"""What counts as a habit."""

import pytest

from iai_mcp.domain.habits import alike, habit_text, observations


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Please always use tabs in makefiles.", "instruction"),
        ("I prefer pytest over unittest.", "preference"),
        ("No, use the staging bucket for uploads.", "correction"),
        ("Then run `cargo test --all` and look.", "command"),
        ("$ make ship TAG=3\nthat is all", "command"),
    ],
)
def test_wishes_corrections_and_commands_are_noticed(text: str, kind: str) -> None:
    assert [one.kind for one in observations("user", text)] == [kind]


@pytest.mark.parametrize(
    "text",
    ["Should we always use tabs?", "See `README.md` for more.", "Call `parse(x)` first.", "ok"],
)
def test_other_things_are_not(text: str) -> None:
    assert observations("user", text) == []


def test_only_people_have_wishes_but_everybody_runs_commands() -> None:
    text = "I prefer brevity. I ran `npm run build` for you."
    assert [one.kind for one in observations("assistant", text)] == ["command"]


def about(text: str) -> tuple[str, ...]:
    return observations("user", text)[0].terms


def test_the_same_wish_in_other_words_is_the_same_habit_and_its_opposite_is_not() -> None:
    tabs = about("Always use tabs in makefiles.")
    assert alike("instruction", tabs, about("From now on please use tabs in the makefiles."))
    assert not alike("instruction", tabs, about("Never use tabs in makefiles."))
    assert not alike("instruction", tabs, about("Always use British spelling."))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "from now on use black for all the work in this repo",
            "from now on use bun for all the work in this repo",
        ),
        (
            "from now on use ruff instead of black for all the work in this repo",
            "from now on use bun instead of yarn for all the work in this repo",
        ),
        (
            "from now on use black for all the work in this repo",
            "from now on use ruff instead of black for all the work in this repo",
        ),
        ("from now on use bun instead of yarn here", "from now on use yarn instead of bun here"),
        ("always prefix method names with m_", "always prefix method names with k_"),
    ],
)
def test_wishes_that_name_different_values_are_different_habits(one: str, other: str) -> None:
    assert not alike("instruction", about(one), about(other))


def test_a_habit_is_told_in_the_words_it_was_last_stated_in() -> None:
    said = ["Use tabs.", "Always use tabs."]
    told = habit_text("instruction", said, "2026-01-02", "2026-03-04")
    assert told == "Always use tabs.\n(instruction, said 2 times from 2026-01-02 to 2026-03-04)"
