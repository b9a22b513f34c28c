"""Chinese is read as it is written: without blanks, and twice as dense."""

from iai_mcp.domain.words import count, width


def test_words_are_counted_where_no_blanks_stand() -> None:
    assert count("run the tests") == 3
    assert count("用方案B") == 2
    assert count("这种事下次能提前知道吗，有没有告警") > 6


def test_a_character_is_as_wide_as_two_letters() -> None:
    assert width("abc") == 3
    assert width("中文 ok") == 7
