"""A pause is about when something was said, not about when it arrives."""

from iai_mcp.adapters.consent import PAUSED, SAID_IN_A_PAUSE, Pause, pause_refusal

PAUSES = (Pause(100, 200), Pause(300))


def test_what_was_said_between_pauses_is_welcome() -> None:
    assert [pause_refusal(PAUSES, at) for at in (0, 99, 201, 299)] == [None] * 4


def test_what_was_said_in_a_pause_is_not_whenever_it_arrives() -> None:
    assert [pause_refusal(PAUSES, at) for at in (100, 150, 200)] == [SAID_IN_A_PAUSE] * 3


def test_a_pause_that_lasts_has_no_end() -> None:
    assert pause_refusal(PAUSES, 300) == pause_refusal(PAUSES, 10**18) == PAUSED


def test_without_pauses_everything_is_welcome() -> None:
    assert pause_refusal((), 0) is None
