import pytest

from iai_mcp.domain.answer_kinds import Kinds, asked_for
from iai_mcp.domain.traits import traits_of


@pytest.mark.parametrize(
    ("cue", "wants"),
    [
        ("When did Caroline move?", Kinds(time=True, name=False)),
        ("How long have they been married?", Kinds(time=True, name=False)),
        ("Which library parses the dates?", Kinds(time=False, name=True)),
        ("Where does the build keep its cache?", Kinds(time=False, name=True)),
        ("Why is the cache cold?", Kinds(time=False, name=False)),
        ("Wann wurde umgestellt?", Kinds(time=True, name=False)),
        ("何时发布？", Kinds(time=True, name=False)),
    ],
)
def test_a_cue_asks_for_a_time_or_a_name(cue: str, wants: Kinds) -> None:
    assert asked_for(cue) == wants


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("We met last week.", Kinds(time=True, name=False)),
        ("It started in 2019", Kinds(time=True, name=False)),
        ("then we went to Lisbon", Kinds(time=False, name=True)),
        ('she read "the hobbit" aloud', Kinds(time=False, name=True)),
        ("Sounds great!", Kinds(time=False, name=False)),
        ("Gestern ging es noch.", Kinds(time=True, name=False)),
        ("Мы переехали на прошлой неделе", Kinds(time=True, name=False)),
        ("昨天上线了", Kinds(time=True, name=False)),
    ],
)
def test_a_turn_holds_a_time_or_a_name(text: str, holds: Kinds) -> None:
    assert traits_of(text, "user").holds == holds


def test_only_the_start_of_a_huge_text_is_read() -> None:
    huge = "x " * 3_000 + " yesterday in Lisbon"
    assert traits_of(huge, "user").holds == Kinds(time=False, name=False)
