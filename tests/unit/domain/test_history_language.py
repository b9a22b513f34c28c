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


_GERMAN = "kannst du bitte den Test für die Funktion noch einmal laufen lassen?"
_ENGLISH = "can you please run the tests of this function again?"
_TERSE = "fix failing cart checkout"  # in which language can not be told


def test_a_history_is_foreign_when_most_of_it_is_and_there_is_enough() -> None:
    assert mostly_foreign([_GERMAN] * 20 + ["ok"] * 500)
    assert not mostly_foreign([_GERMAN] * 20 + [_ENGLISH] * 20)
    assert not mostly_foreign([_GERMAN] * 9)


def test_a_prompt_in_each_of_fifteen_sessions_is_enough() -> None:
    asked = [
        "warum ist die Kasse so langsam, wenn viele Kunden gleichzeitig bezahlen?",
        "bitte schreibe einen Test für den Warenkorb",
        "das geht noch nicht, der Knopf tut nichts",
        "füge eine Spalte für die Steuer hinzu und zeige sie in der Rechnung",
        "Kasse Nummer vier reparieren",
    ]
    assert mostly_foreign(asked * 3)
    assert mostly_foreign(["请修复 parse_config 里的测试，然后提交代码"] * 15)


def test_a_few_foreign_prompts_among_terse_english_ones_say_nothing() -> None:
    assert is_foreign(_TERSE) is None
    assert not mostly_foreign([_GERMAN] * 12 + [_TERSE] * 60)
    assert not mostly_foreign([_GERMAN] * 12 + [_ENGLISH] * 13)
