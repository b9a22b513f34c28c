"""Secrets of many kinds are found in texts as people have them, and innocent lines are left alone."""

import pytest
from bench.planted import innocent, planted

from iai_mcp.domain.redaction import redact

SEEDS = range(3)


def test_the_sets_are_large_enough_to_mean_something() -> None:
    assert len(planted()) >= 350
    assert sum(len(one.text.splitlines()) for one in innocent()) >= 500


@pytest.mark.parametrize("seed", SEEDS)
def test_nearly_all_planted_secrets_are_found(seed: int) -> None:
    texts = planted(seed)
    missed = [one.kind for one in texts if one.survivors(redact(one.text).text)]
    assert len(missed) <= 0.02 * len(texts), missed


@pytest.mark.parametrize("seed", SEEDS)
def test_hardly_an_innocent_line_is_changed(seed: int) -> None:
    lines = changed = 0
    for one in innocent(seed):
        before, after = one.text.split("\n"), redact(one.text).text.split("\n")
        assert len(before) == len(after), one.kind
        lines += len(before)
        changed += sum(
            line != together or line != redact(line).text
            for line, together in zip(before, after, strict=True)
        )
    assert changed <= lines / 500


@pytest.mark.parametrize("seed", SEEDS)
def test_only_what_is_secret_is_replaced(seed: int) -> None:
    """What stands around a secret stays, letter by letter."""
    for one in planted(seed):
        pieces = redact(one.text).text.replace("[private]", "[secret:").split("[secret:")
        at = 0
        for number, piece in enumerate(pieces):
            rest = piece.partition("]")[2] if number else piece
            found = one.text.find(rest, at)
            assert found >= 0, one.kind
            at = found + len(rest)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_was_redacted_is_not_redacted_again(seed: int) -> None:
    for one in (*planted(seed), *innocent(seed)):
        once = redact(one.text).text
        assert redact(once).text == once, one.kind
