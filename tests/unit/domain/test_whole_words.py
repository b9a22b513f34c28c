"""What contains a word or a phrase, in any script, and what only has its letters."""

import time

import pytest

from iai_mcp.domain.whole_words import Phrase


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("cat", "The CAT, asleep."),
        ("cat", "concatenated, then a cat"),
        ("staging password", "the staging\n   password is gone"),
        ("c++", "we write C++ here"),
        ("Straße", "die STRASSE dort"),
        ("caf\u00e9", "a cafe\u0301 by the sea"),
        ("кот", "это кот."),
        ("قط", "هذا قط هنا"),
        ("東京", "私は東京都に住む"),
        ("ค่า", "ตั้งค่าระบบ"),
        ("한국", "한국 사람"),
        ("pencil 東京", "a pencil 東京都"),
        ("\x01", "a\x01b"),
    ],
)
def test_a_word_or_phrase_that_stands_there_is_found(words: str, text: str) -> None:
    assert Phrase(words).is_in(text)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("cat", "concatenate the category of scatter cats"),
        ("cat", "cat_food and 2cat"),
        ("staging password", "password of staging, staging passwords"),
        ("кот", "котлета и который"),
        ("क", "की"),
        ("한국", "한국인"),
        ("é", "cafe\u0301"),
    ],
)
def test_letters_inside_other_words_are_not(words: str, text: str) -> None:
    assert not Phrase(words).is_in(text)


def test_a_sample_shows_the_words_where_they_stand() -> None:
    text = "long before " * 50 + "the cat sleeps" + " long after" * 50

    sample = Phrase("Cat").sample(text, 80)

    assert "the cat sleeps" in sample
    assert sample.startswith("…")
    assert sample.endswith("…")
    assert len(sample) <= 82
    assert Phrase("cat").sample("a cat", 80) == "a cat"
    assert Phrase("dog").sample(text, 20) == f"{text[:20]}…"


def test_a_text_of_nothing_but_near_misses_is_read_in_no_time() -> None:
    began = time.process_time()
    assert not Phrase("a a").is_in("aa " * 300_000)
    assert time.process_time() - began < 5
