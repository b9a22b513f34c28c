import pytest

from iai_mcp.domain.narration import broken_off, on_the_way


@pytest.mark.parametrize(
    "text",
    [
        "All tests pass. Let me also run the linter:",
        "Now let me look at the parser.",
        "Got it. I'll wait here until you are done with the rebase, and go on then.",
        "让我看看测试。",
        "Wait, the rc file is in a subdirectory. The test joins the home directory with its base name.",
        "Hmm, comparing the printed slices is clunky.",
        "Actually, the flag is read before the file.",
    ],
)
def test_a_turn_that_ends_with_what_comes_next_was_broken_off(text: str) -> None:
    assert broken_off(text)


@pytest.mark.parametrize(
    "text",
    [
        "Done. The retry loop waits two seconds.",
        "The lock file has to be committed, only the cache beside it is ignored by git. Let me fix that:",
        f"Let me tell you. {'The cache keeps stale entries. ' * 12}",
        "All tests pass.",
        "Waiting for the lock takes two seconds.",
        "",
    ],
)
def test_a_turn_that_says_something_was_not(text: str) -> None:
    assert not broken_off(text)


def test_a_sentence_may_only_lead_to_the_next_step() -> None:
    assert on_the_way("Let me look at the parser.")
    assert not on_the_way("The parser reads one line at a time.")
