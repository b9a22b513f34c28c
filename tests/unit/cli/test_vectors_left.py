"""What people are told of vectors that are still to come, in two stages and with an estimate."""

import pytest

from iai_mcp.cli.vectors_left import VectorsLeft


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({}, ""),
        ({"vectors_pending": 0, "first_vectors_pending": 0, "vectors_seconds": None}, ""),
        (
            {"vectors_pending": 7600, "first_vectors_pending": 5120, "vectors_seconds": 41.6},
            "5,120 memories are found by their words alone (about 42 s)",
        ),
        (
            {"vectors_pending": 3000, "first_vectors_pending": 0, "vectors_seconds": 130.0},
            "all are found by meaning; passages of 3,000 follow (about 2 min)",
        ),
        (
            {"vectors_pending": 9, "first_vectors_pending": 9, "vectors_seconds": None},
            "9 memories are found by their words alone",
        ),
        (
            {"vectors_pending": 1, "first_vectors_pending": 1, "vectors_seconds": 0.01},
            "1 memory is found by its words alone (about 1 s)",
        ),
        (
            {"vectors_pending": 900_000, "first_vectors_pending": 0, "vectors_seconds": 9000},
            "all are found by meaning; passages of 900,000 follow (about 2.5 h)",
        ),
    ],
)
def test_what_is_left_is_told_in_a_sentence(answer: dict[str, object], said: str) -> None:
    assert str(VectorsLeft.told(answer)) == said
