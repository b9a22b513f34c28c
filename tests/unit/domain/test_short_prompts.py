"""What people say to agents that tells nothing by itself."""

import pytest

from iai_mcp.domain.exchanges import turning
from iai_mcp.domain.short_prompts import answers_shortly, only_asks, option_picked, says_only_yes


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


PROPOSAL = """There are three ways:

Option A: in Postgres as bytea.
Option B: on local disk.
- **C.** in a bucket with one prefix per tenant.

Which one do you prefer?"""


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        ("Option C", "- **C.** in a bucket with one prefix per tenant."),
        ("b", "Option B: on local disk."),
        ("let's do option A", "Option A: in Postgres as bytea."),
        ("I like Option C", "- **C.** in a bucket with one prefix per tenant."),
        ("yes", ""),
        ("a-b testing", ""),
        ("D", ""),
    ],
)
def test_an_option_is_told_by_its_line(answer: str, line: str) -> None:
    assert option_picked(answer, PROPOSAL) == line


def test_options_may_be_numbered() -> None:
    assert (
        option_picked("2", "1. Keep it.\n2) Drop it, and say so.\n\nWhich?")
        == "2) Drop it, and say so."
    )
    assert (
        option_picked("用方案B", "- **A. 收到就处理**\n- **B. 先落库再异步**")
        == "- **B. 先落库再异步**"
    )


def test_who_likes_an_option_picks_it() -> None:
    assert turning("I like Option C", "user")
    assert not turning("I like the way it reads the file now", "user")
