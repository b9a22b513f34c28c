"""What people say to agents that tells nothing by itself."""

import pytest

from iai_mcp.domain.short_prompts import answers_shortly, only_asks, says_only_yes


@pytest.mark.parametrize(
    "text",
    [
        "why does the cache go stale?",
        "ok, what about the other one?",
        "Which port? And which host?",
        "为什么缓存会过期？",
        "is it done?",
    ],
)
def test_short_questions_only_ask(text: str) -> None:
    assert only_asks(text)


@pytest.mark.parametrize(
    "text",
    [
        "we moved to Postgres 16, why is it slow?",
        "The cache is stale. Why?",
        "never touch main, ok?",
        "the cache is stale",
        f"why does {'the cache of the cache ' * 8} go stale?",
    ],
)
def test_what_tells_something_does_more_than_ask(text: str) -> None:
    assert not only_asks(text)


def test_short_answers_mean_what_was_proposed() -> None:
    assert answers_shortly("yes, do it")
    assert answers_shortly("Great. I'll see if these end up in the transcript.")
    assert not answers_shortly("ok, but never push to main")
    assert says_only_yes("Do it.")
    assert not says_only_yes("yes, and take the second queue for it, too")
    assert not says_only_yes("link the PR")
