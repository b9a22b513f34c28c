"""One form of a word for the index and for the cue."""

import pytest

from iai_mcp.domain.words import index_terms, indexed, words


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("数据库端口改成5433了", "端口"),
        ("データベースのポートは5433です", "ポート"),
        ("пароль от базы данных", "паролями"),
        ("новый сервер", "сервере"),
        ("قَاعِدَة البيانات", "قاعدة"),
        ("المنفذ هو 5433", "منفذ"),
        ("rename getUserName", "user"),
        ("HTTPServer", "server"),
    ],
)
def test_what_was_stored_is_found_by_a_form_of_the_word(stored: str, asked: str) -> None:
    kept = indexed(stored).lower().split()

    assert all(term in kept for word in words(asked) for term in index_terms(word))


def test_plain_english_goes_in_as_it_is() -> None:
    assert indexed("the port is 5433") == "the port is 5433"


def test_an_identifier_stays_whole_beside_its_parts() -> None:
    kept = indexed("call getUserName now").split()

    assert "getUserName" in kept
    assert {"get", "User", "Name"} <= set(kept)


def test_a_pair_of_kana_is_no_term_beside_telling_ones() -> None:
    assert "です" not in index_terms("端口です")
    assert index_terms("です") == ["です"]
