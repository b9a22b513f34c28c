"""A turn cut into passages."""

from hypothesis import given
from hypothesis import strategies as st

from iai_mcp.domain.passages import passages


def test_each_sentence_is_a_passage() -> None:
    text = "The port is 5433 now. We moved it on Monday! Why did nobody tell the team?"

    assert passages(text) == [
        "The port is 5433 now.",
        "We moved it on Monday!",
        "Why did nobody tell the team?",
    ]


def test_a_few_words_join_their_neighbour() -> None:
    assert passages("Thanks! That worked fine for us.") == ["Thanks! That worked fine for us."]


def test_a_closing_quote_stays_with_its_sentence() -> None:
    said = 'She told us: "move the database to the new host." Then she left the room for good.'

    assert passages(said)[0] == 'She told us: "move the database to the new host."'


def test_chinese_sentences_part_without_spaces() -> None:
    text = (
        "数据库的端口已经从五四三二改成了五四三三，请大家更新本地的配置。"
        "昨天的部署因为迁移脚本超时而失败了，需要重新运行一次。"
    )

    assert len(passages(text)) == 2


@given(st.text(max_size=2000), st.integers(min_value=1, max_value=12))
def test_nothing_is_lost_and_the_limit_holds(text: str, limit: int) -> None:
    found = passages(text, limit)

    assert len(found) <= limit
    assert "".join("".join(found).split()) == "".join(text.split())


def test_a_text_of_very_many_sentences_is_cut_in_one_pass() -> None:
    text = "It was so. " * 200_000

    found = passages(text, 12)

    assert len(found) == 12
    assert " ".join(found) == text.strip()
