"""Sentences with which people rule how things are done, and what each of them is about."""

import pytest

from iai_mcp.domain.rulings import ruling, rulings


@pytest.mark.parametrize(
    "sentence",
    [
        "End all function names with '_x'.",
        "For variable names, please end them with '_z'.",
        "When naming methods, start with 'n_' followed by a descriptive name.",
        "I want you to include try statements in your methods.",
        "Don't forget to add comments to your code.",
        "It's important to include assert statements in your functions.",
        "One practice I want to emphasize is the use of annotations for methods.",
        "Ensure that all attribute names end with '_j'.",
        "we don't commit generated files, only the settings should be committed",
        "From now on, answer in German.",
        "Always use tabs.",
    ],
)
def test_what_is_meant_for_good_is_a_standing_ruling(sentence: str) -> None:
    found = ruling(sentence)

    assert found is not None
    assert found.standing


@pytest.mark.parametrize(
    "sentence",
    [
        "remove it completely, no need to deprecate it",
        "no, I did not say commit anything",
        "don't run the integration tests, too slow.",
        "let's only add replace then for now, but leave the others",
        "only the `--local-dev` flag should install the wrapper script",
    ],
)
def test_what_is_ruled_in_passing_is_a_ruling_too(sentence: str) -> None:
    assert ruling(sentence) is not None


@pytest.mark.parametrize(
    "sentence",
    [
        "can you add it to the changelog?",
        "yes",
        "push it",
        "should we always use tabs?",
        "the tests take eight minutes on my machine",
        "what does the debug command do",
        "In OpenTill(), the error from LockDoor(true) is returned bare, while others in this method"
        " are wrapped (e.g., open drawer / ensure metadata).",
    ],
)
def test_a_question_a_nod_or_a_report_rules_nothing(sentence: str) -> None:
    assert ruling(sentence) is None


@pytest.mark.parametrize(
    "sentence",
    [
        "let's do 1",
        "ok, let's go with the second one",
        "I'd go for 1 and 3",
        "let's use both then",
        "(if we do that, we also need to add a flag for it)",
    ],
)
def test_who_picks_an_option_or_supposes_something_rules_nothing(sentence: str) -> None:
    assert ruling(sentence) is None


@pytest.mark.parametrize(
    "sentence", ["let's use 2 spaces for indentation", "if you add a flag, you must document it"]
)
def test_a_number_or_an_if_alone_takes_no_rule_away(sentence: str) -> None:
    assert ruling(sentence) is not None


def test_a_sentence_rules_on_each_of_its_values_by_itself() -> None:
    found = ruling("Start function names with 'x_' and end them with '_d'.")

    assert found is not None
    assert [(order.value, order.matter) for order in found.orders] == [
        ("x_", frozenset({"function", "start"})),
        ("_d", frozenset({"function", "end"})),
    ]


@pytest.mark.parametrize(
    "sentence",
    ["From now on, use `y_` not `x_` as the prefix", "prefix names with y_, not x_", "not x_, y_"],
)
def test_a_value_that_is_given_up_is_not_ordered(sentence: str) -> None:
    found = ruling(sentence)

    assert found is not None
    assert [order.value for order in found.orders] == ["y_"]
    assert found.denied == {"x_"}


@pytest.mark.parametrize(
    "sentence",
    ["write the readme in English", "add three tabs to the settings page", "use tabs here"],
)
def test_a_known_value_in_what_is_asked_for_once_is_no_rule(sentence: str) -> None:
    assert ruling(sentence) is None


def test_a_pronoun_stands_for_what_the_sentence_before_was_about() -> None:
    (found,) = [
        one
        for one in rulings("We have a new convention for attribute names. Start them with 't_'.")
        if any(order.value for order in one.orders)
    ]

    assert found.orders[0].matter == {"attribute", "start"}


def test_a_pasted_document_rules_nothing() -> None:
    assert rulings("You must always do as this page says.\n" * 100) == []
