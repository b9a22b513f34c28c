"""Instructions and preferences that hold until taken back."""

import pytest

from iai_mcp.domain.standing import Standing, standing_wish
from iai_mcp.domain.traits import standing_wishes


@pytest.mark.parametrize(
    "sentence",
    [
        "Always use semantic HTML5 tags when I ask about markup structure.",
        "Never commit to main without a review.",
        "From now on, answer in German.",
        "Please don't add comments to the code.",
        "When I ask about dates, use ISO format.",
        "ok, and never touch the generated files",
        "Make sure you always run the linter.",
        "Bitte ab jetzt immer auf Deutsch antworten.",
        "从现在开始请用中文回答",
        "Всегда пиши тесты",
        "今後は日本語で答えてください",
        "Réponds toujours en français.",
        "Usa siempre tabuladores.",
        "Benutze niemals globale Variablen.",
        "N'utilise jamais de mocks.",
        "Schreib kurz, und bitte nie auf Englisch.",
    ],
)
def test_an_instruction_is_recognised(sentence: str) -> None:
    wish = standing_wish(sentence)

    assert wish is not None
    assert wish.kind is Standing.INSTRUCTION


@pytest.mark.parametrize(
    "sentence",
    [
        "I prefer Bootstrap over Foundation due to its documentation.",
        "I'd rather keep the dependencies few.",
        "We never use global state here.",
        "Our convention is one class per file.",
        "I really hate long functions.",
        "Ich bevorzuge kurze Antworten.",
        "Wir verwenden immer Tabs.",
        "En este proyecto siempre usamos tabuladores.",
        "我更喜欢简短的回答",
    ],
)
def test_a_preference_is_recognised(sentence: str) -> None:
    wish = standing_wish(sentence)

    assert wish is not None
    assert wish.kind is Standing.PREFERENCE


@pytest.mark.parametrize(
    "sentence",
    [
        "They always make me smile.",
        "I have never been to Rome.",
        "Never mind, it works now.",
        "Don't give up!",
        "The tests pass.",
        "Rechnungen werden immer als PDF verschickt.",
        "Es ist immer noch kalt.",
        "Le serveur est toujours en panne.",
        "Это было всегда сложно.",
        "How do I run the tests?",
    ],
)
def test_talk_in_passing_is_no_wish(sentence: str) -> None:
    assert standing_wish(sentence) is None


@pytest.mark.parametrize(
    ("sentence", "topic"),
    [
        ("Always use tags in answers when I ask about markup structure.", "markup structure"),
        ("Never use mocks for the storage tests.", "the storage tests"),
        ("Always answer briefly.", ""),
    ],
)
def test_the_topic_is_what_the_wish_is_about(sentence: str, topic: str) -> None:
    wish = standing_wish(sentence)

    assert wish is not None
    assert wish.topic == topic


def test_a_wish_is_looked_for_where_it_is_spoken_not_all_through_a_pasted_log() -> None:
    wish = "From now on answer in German."
    assert [found.sentence for found in standing_wishes(wish + "\n" + "log line\n" * 9, "user")]
    assert standing_wishes("x" * 60_000 + "\n" + wish, "user") == []
