"""A tool's answer has to fit one line of the wire, whatever the core found."""

import json

import pytest

from iai_mcp.api.tools import AnswerTooLongError, answer
from iai_mcp.protocol.codes import MAX_LINE


def wire_size(text: str, structured: object) -> int:
    content = [{"type": "text", "text": text}]
    message = {"content": content, "structuredContent": structured}
    return len(json.dumps(message, ensure_ascii=False).encode())


def test_text_and_object_say_the_same() -> None:
    said = answer({"hits": [{"text": "Grüße\n"}]})
    assert json.loads(said.text) == said.structured == {"hits": [{"text": "Grüße\n"}]}
    assert "Grüße" in said.text


@pytest.mark.parametrize("character", ["x", "é", '"', "\x00", ","])
def test_an_answer_of_any_characters_fits_a_line_or_is_refused(character: str) -> None:
    for size in (MAX_LINE // 12, MAX_LINE // 5, MAX_LINE // 2 - 40_000, MAX_LINE - 70_000):
        try:
            said = answer({"text": character * (size // len(character.encode()))})
        except AnswerTooLongError:
            continue
        assert wire_size(said.text, said.structured) <= MAX_LINE


def test_what_does_not_fit_twice_is_sent_as_the_object_alone() -> None:
    result: dict[str, object] = {"text": "x" * (MAX_LINE * 2 // 3)}
    said = answer(result)
    assert said.structured is result
    assert len(said.text) < 200


def test_old_clients_get_the_text_however_long_it_is() -> None:
    said = answer({"text": "x" * (MAX_LINE * 2 // 3)}, text_only=True)
    assert said.structured is None
    assert len(said.text) > MAX_LINE // 2


@pytest.mark.parametrize("text_only", [True, False])
def test_what_does_not_fit_at_all_says_what_to_do(text_only: bool) -> None:
    with pytest.raises(AnswerTooLongError, match="ask for less"):
        answer({"text": "x" * MAX_LINE}, text_only=text_only)
