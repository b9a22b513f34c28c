"""A history in another language is told from one in English with code and names in it."""

import pytest

from iai_mcp.domain.history_language import is_foreign, mostly_foreign


@pytest.mark.parametrize(
    "text",
    [
        "kannst du bitte den Test für die Funktion noch einmal laufen lassen?",
        "peux-tu corriger le test qui échoue dans la fonction de connexion ?",
        "¿puedes revisar por qué falla la prueba en el servidor?",
        "podes ver porque é que o teste não passa com a versão nova?",
        "почини пожалуйста тест в parse_config, он падает",
        "请修复 parse_config 里的测试",
        "ログイン関数のテストを直してください",
        "테스트가 왜 실패하는지 확인해 주세요",
        "bu test neden çalışmıyor, bir de nasıl düzeltiriz ve için ne yapmalı",
    ],
)
def test_other_languages_are_recognised(text: str) -> None:
    assert is_foreign(text) is True


@pytest.mark.parametrize(
    "text",
    [
        "can you look at why the test for parse_config fails on my branch?",
        "please rename it to getUserName and run all of the tests again",
        "Implement the following plan: add a setting that pipes files through a filter",
    ],
)
def test_english_is(text: str) -> None:
    assert is_foreign(text) is False


@pytest.mark.parametrize("text", ["yes", "git push origin main", "npm ERR! code ELIFECYCLE", ""])
def test_what_can_not_be_told_is_not_guessed(text: str) -> None:
    assert is_foreign(text) is not True


def test_a_history_is_foreign_when_most_of_it_is_and_there_is_enough() -> None:
    german = "kannst du bitte den Test für die Funktion noch einmal laufen lassen?"
    english = "can you please run the tests of this function again?"
    assert mostly_foreign([german] * 20 + ["ok"] * 500)
    assert not mostly_foreign([german] * 19)
    assert not mostly_foreign([german] * 20 + [english] * 20)
