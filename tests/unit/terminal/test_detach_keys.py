"""The detach key is found however a terminal spells it, and nothing else is touched."""

import pytest

from iai_mcp.cli.session_keys import DEFAULT, Keys
from iai_mcp.domain.errors import InvalidInput


@pytest.mark.parametrize(
    "typed",
    [
        [b"\x1dd"],
        [b"\x1d", b"d"],
        [b"abc\x1dd"],
        [b"\x1b[93;5ud"],
        [b"\x1b[93;5u\x1b[93;5:3u\x1b[100u"],
        [b"\x1b[27;5;93~d"],
    ],
)
def test_the_default_key_is_understood_in_every_spelling(typed: list[bytes]) -> None:
    keys = Keys(DEFAULT)

    outcomes = [keys.feed(piece)[1] for piece in typed]

    assert outcomes[-1] is True
    assert not any(outcomes[:-1])


@pytest.mark.parametrize(
    "typed", [b"plain", b"\x1b[A", b"\x1b[200~\x1dd\x1b[201~", b"d", b"\x03", "grüße".encode()]
)
def test_everything_else_goes_to_the_program(typed: bytes) -> None:
    assert Keys(DEFAULT).feed(typed) == (typed, False)


def test_the_first_stroke_twice_is_the_key_itself() -> None:
    assert Keys(DEFAULT).feed(b"\x1d\x1d") == (b"\x1d", False)


def test_the_first_stroke_and_another_key_are_both_typed() -> None:
    assert Keys(DEFAULT).feed(b"\x1dx") == (b"\x1dx", False)


def test_a_single_stroke_detaches_at_once() -> None:
    assert Keys("ctrl-\\").feed(b"ab\x1c") == (b"ab", True)


@pytest.mark.parametrize("spec", ["", "ctrl-", "ctrl-] d x", "f12", "ctrl-1"])
def test_a_key_that_is_none_is_refused(spec: str) -> None:
    with pytest.raises(InvalidInput):
        Keys(spec)
