"""Whose words a memory is shown under."""

import pytest
from tests.support.answers import Json

from iai_mcp.cli.recall import hit_text


@pytest.mark.parametrize(
    ("role", "shown"),
    [("user", "user to Ada"), ("assistant", "Ada"), ("tool", "tool of Ada")],
)
def test_words_stand_under_the_name_of_who_said_them(role: str, shown: str) -> None:
    hit: Json = {
        "ts": "2026-11-17T17:00",
        "role": role,
        "agent": "Ada",
        "host": "codex",
        "text": "hi",
    }

    assert f" · {shown} · codex" in hit_text(hit)


def test_a_named_speaker_is_shown_as_named() -> None:
    hit: Json = {
        "ts": "2026-11-17T17:00",
        "role": "user",
        "agent": "Ada",
        "speaker": "Bo",
        "text": "hi",
    }

    assert " · Bo" in hit_text(hit)
