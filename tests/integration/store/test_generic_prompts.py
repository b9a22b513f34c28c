"""Prompts that are said in every project bring nothing up, whatever was said with the same words."""

from collections.abc import Callable

import pytest
from tests.support.generic_prompts import GENERIC_PROMPTS

from iai_mcp.core import dispatch
from iai_mcp.store import MemoryStore

SHOP, BLOG = "/gone/ann/shop", "/gone/ann/blog"
ABOUT = "the drawer of the till jams when coins of the old mint are counted twice"


@pytest.fixture
def store(opened: Callable[[], MemoryStore]) -> MemoryStore:
    """A project in which each of these prompts was said before, and answered in its words."""
    made = opened()
    events: list[dict[str, object]] = []
    for n, prompt in enumerate(GENERIC_PROMPTS):
        at = f"2026-03-{n // 8 + 1:02}T10:{n % 60:02}"
        answer = f"Done: {prompt}. The tests pass, lint is clean, and the change is committed."
        events.append({"id": f"u{n}", "role": "user", "text": prompt, "ts": f"{at}:00Z"})
        events.append({"id": f"a{n}", "role": "assistant", "text": answer, "ts": f"{at}:30Z"})
    events.append({"id": "u", "role": "user", "text": f"why is it that {ABOUT}?"})
    events.append({"id": "a", "role": "assistant", "text": f"I see why {ABOUT}: the mint's dies."})
    dispatch(made, "capture_events", {"session_id": "s", "cwd": SHOP, "events": events})
    return made


def spoken(store: MemoryStore, prompt: str, where: str) -> str:
    asked = {"prompt": prompt, "cwd": where, "session_id": f"new {prompt}"}
    return str(dispatch(store, "prompt_injection", asked)["text"])


def test_nothing_is_told_with_a_prompt_of_every_project(store: MemoryStore) -> None:
    for where in (SHOP, BLOG):
        assert [prompt for prompt in GENERIC_PROMPTS if spoken(store, prompt, where)] == []


def test_a_prompt_about_something_is_told_what_was_concluded(store: MemoryStore) -> None:
    assert "I see why the drawer of the till jams" in spoken(store, f"again {ABOUT}", SHOP)
    assert not spoken(store, f"again {ABOUT}", BLOG)
