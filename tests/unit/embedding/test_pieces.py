"""Splitting text into the pieces of a unigram vocabulary, and reading such a vocabulary."""

from pathlib import Path

import pytest
from tests import averaging_models as tiny

from iai_mcp.adapters.embedding.pieces import NAMES, SCORES, Pieces
from iai_mcp.domain.errors import ModelDamaged
from iai_mcp.model_builder.universal_sentence_encoder import read_vocabulary, write_pieces

PLACE = {piece: place for place, (piece, _, _) in enumerate(tiny.PIECES)}


@pytest.fixture
def pieces(tmp_path: Path) -> Pieces:
    write_pieces(read_vocabulary(tiny.sentencepiece_model()), tmp_path, "tokenizer.json")
    return Pieces(tmp_path / "tokenizer.json", max_tokens=8)


def _of(*names: str) -> list[int]:
    return [tiny.BEGIN, *(PLACE[name] for name in names), tiny.END]


def test_the_likeliest_split_wins(pieces: Pieces) -> None:
    assert pieces.ids("hello port") == _of("▁hello", "▁port")
    # "▁port" reaches further at first, but what it leaves over is dear.
    assert pieces.ids("ports") == _of("▁", "ports")
    assert pieces.ids("aports") == _of("▁", "a", "ports")


def test_a_language_without_blanks_is_split_too(pieces: Pieces) -> None:
    assert pieces.ids("端口") == _of("▁", "端口")


def test_blanks_count_once_and_not_at_the_ends(pieces: Pieces) -> None:
    assert pieces.ids("  hello   the ") == _of("▁hello", "▁the")
    assert pieces.ids("") == pieces.ids("  ") == [tiny.BEGIN, tiny.END]


def test_unknown_signs_in_a_row_are_one_piece(pieces: Pieces) -> None:
    assert pieces.ids("a√√√b") == _of("▁", "a", "<unk>", "b")


def test_a_mark_in_what_somebody_said_is_text(pieces: Pieces) -> None:
    assert pieces.ids("<s>") == _of("▁", "<unk>", "s", "<unk>")


def test_a_long_text_keeps_its_beginning_and_both_marks(pieces: Pieces) -> None:
    ids = pieces.ids("the " + "hello " * 5000)

    assert ids == [tiny.BEGIN, PLACE["▁the"], *[PLACE["▁hello"]] * 5, tiny.END]
    assert len(pieces.ids("端" * 100_000)) == 8


def test_a_text_is_counted_whole_and_without_marks(pieces: Pieces) -> None:
    assert pieces.count("hello " * 1000) == 1000
    assert pieces.count("") == 0


def test_half_a_character_does_not_stop_it(pieces: Pieces) -> None:
    assert pieces.ids("a\ud83d") == _of("▁", "a", "<unk>")


def test_a_voiced_sign_of_half_width_is_one_with_its_letter(pieces: Pieces) -> None:
    assert pieces.ids("ｶﾞ") == _of("▁", "ガ")


def test_many_different_words_are_not_all_remembered(pieces: Pieces) -> None:
    for number in range(20_000):
        pieces.count(f"a{number}")

    assert len(pieces._kept) <= 16_384


@pytest.mark.parametrize("file", [NAMES, SCORES, "tokenizer.json"])
def test_a_damaged_vocabulary_is_a_sentence(tmp_path: Path, file: str) -> None:
    write_pieces(read_vocabulary(tiny.sentencepiece_model()), tmp_path, "tokenizer.json")
    (tmp_path / file).write_bytes((tmp_path / file).read_bytes()[:9])

    with pytest.raises(ModelDamaged, match="the tokenizer in"):
        Pieces(tmp_path / "tokenizer.json", 8)


def test_a_vocabulary_is_read_with_its_marks() -> None:
    found = read_vocabulary(tiny.sentencepiece_model())

    assert (found.unknown, found.begin, found.end) == (tiny.UNKNOWN, tiny.BEGIN, tiny.END)
    assert found.pieces[:4] == ("", "", "", "▁")
    assert found.pieces[PLACE["端口"]] == "端口"
    assert found.scores[PLACE["▁port"]] == -2.0


@pytest.mark.parametrize(
    "model",
    [
        tiny.sentencepiece_model(kind=2),
        tiny.sentencepiece_model(tiny.PIECES[3:]),
        tiny.sentencepiece_model()[:-9],
        b"<html>not here</html>",
        b"",
    ],
)
def test_a_vocabulary_of_another_kind_is_refused(model: bytes) -> None:
    with pytest.raises(ModelDamaged, match="the model's tokenizer"):
        read_vocabulary(model)
