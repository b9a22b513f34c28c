"""What is so now and was otherwise before."""

from datetime import UTC, datetime

import pytest

from iai_mcp.domain.cue.analysis import read
from iai_mcp.domain.traits import traits_of

_NOW = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    "cue",
    [
        "Which port does the API use now?",
        "Do we still build on Travis?",
        "Where do the tiles currently come from?",
        "Where is the index kept today?",
        "Auf welchem Port läuft der Server inzwischen?",
        "Quelle base utilisons-nous actuellement ?",
        "¿Qué base de datos usamos ahora?",
        "Какую базу мы сейчас используем?",
        "ما هي قاعدة البيانات التي نستخدمها حاليا؟",
        "我们现在用哪个数据库？",
        "現在どのデータベースを使っていますか？",
    ],
)
def test_a_cue_asks_how_things_are(cue: str) -> None:
    assert read(cue, _NOW).wants.change
    assert not read(cue, _NOW).windows


@pytest.mark.parametrize(
    "cue",
    [
        "Which port did we choose?",
        "What did I ask for today?",
        "What do I have to do today?",
        "What was John currently doing in August 2023?",
        "Where is the snowball of knowledge?",
    ],
)
def test_a_cue_about_what_happened_or_a_named_time_asks_for_no_change(cue: str) -> None:
    assert not read(cue, _NOW).wants.change


def test_today_is_a_day_where_something_happened_on_it() -> None:
    assert read("What did I ask for today?", _NOW).windows
    assert "today" not in read("Where is the index kept today?", _NOW).terms


@pytest.mark.parametrize(
    "text",
    [
        "Changed to 8240 in the Makefile.",
        "Let's drop arq and move to procrastinate.",
        "Yes, no mail any more, the chat room gets it.",
        "minSdk is 30 now",
        "Wir haben auf Postgres umgestellt.",
        "Das nutzen wir nicht mehr.",
        "On a remplacé Redis par Postgres.",
        "Ya no usamos Redis.",
        "Мы перешли на Postgres",
        "لم نعد نستخدم ريديس",
        "端口改为8240",
        "ポートを変更しました",
    ],
)
def test_a_turn_tells_a_change(text: str) -> None:
    assert traits_of(text, "user").holds.change


@pytest.mark.parametrize("text", ["The API listens on 8137.", "I know that.", "Sounds great!"])
def test_a_turn_that_states_something_tells_no_change(text: str) -> None:
    assert not traits_of(text, "user").holds.change
