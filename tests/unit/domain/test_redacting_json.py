"""JSON stays JSON when secrets are taken out of it."""

import json

from iai_mcp.domain.redaction import redact, redact_json


def cleaned(value: object) -> object:
    return json.loads(redact_json(json.dumps(value), lambda text: redact(text).text))


def test_json_without_secrets_comes_back_as_the_very_same_text() -> None:
    text = '{"a":  [1, 2.0, null]}'
    assert redact_json(text, lambda t: redact(t).text) is text


def test_secrets_in_values_are_replaced() -> None:
    assert cleaned({"password": "hunter2", "n": [1]}) == {"password": "[secret:password]", "n": [1]}


def test_a_secret_that_reaches_over_brackets_leaves_json_behind() -> None:
    value = {"a": "<private>x", "b": ["ghp_" + "a1B2" * 9, 3]}
    assert cleaned(value) == {"a": "[private]", "b": ["[secret:github-token]", 3]}


def test_a_name_gives_its_value_away_whatever_else_is_torn() -> None:
    value = {"torn": "<private>x", "password": "hunter22", "ghp_" + "a1B2" * 9: 1, "n": ["a", 2]}
    assert cleaned(value) == {
        "torn": "[private]",
        "password": "[secret:password]",
        "[secret:github-token]": 1,
        "n": ["a", 2],
    }
