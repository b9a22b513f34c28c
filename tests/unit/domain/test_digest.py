"""Digests quote, they never rephrase."""

from iai_mcp.domain.digest import digest, sentences
from iai_mcp.domain.instants import instant
from iai_mcp.domain.memories import Memory


def memory(key: int, text: str, ts: str = "2026-03-01T10:00:00Z", role: str = "user") -> Memory:
    return Memory(key=key, id=f"id{key}", text=text, role=role, at=instant(ts))


def test_sentences_are_letter_by_letter_as_they_stand_there() -> None:
    text = 'First the cache.\n- Then  the "index"!\n```\ncode = 1. No.\n```\nIs it v1.2? 数据库在这里。好的。'
    found = sentences(text)
    assert all(one in text for one in found)
    assert 'Then  the "index"!' in found
    assert "Is it v1.2?" in found
    assert "数据库在这里。" in found
    assert not any("code" in one for one in found)


def test_a_digest_holds_the_shared_matter_with_dates_and_speakers() -> None:
    members = [
        memory(1, "The upload queue retries three times before it gives up."),
        memory(2, "Yes.", "2026-03-02T10:00:00Z"),
        memory(
            3,
            "The upload queue keeps failed uploads for a week.",
            "2026-03-04T10:00:00Z",
            "assistant",
        ),
        memory(4, "Lunch was nice, thank you all very much."),
    ]
    made = digest(members)
    assert made is not None
    lines = made.text.splitlines()
    assert "upload" in made.label
    assert "queue" in made.label
    assert lines[0] == f"{made.label} (2026-03-01 to 2026-03-04, 4 turns)"
    assert "- 2026-03-01 user: The upload queue retries three times before it gives up." in lines
    assert "- 2026-03-04 assistant: The upload queue keeps failed uploads for a week." in lines
    assert set(made.quoted) >= {1, 3}


def test_no_sentence_says_the_same_twice() -> None:
    same = "The upload queue retries three times before it gives up{}"
    made = digest([memory(n, same.format(end)) for n, end in enumerate(".!", 1)])
    assert made is not None
    assert len(made.text.splitlines()) == 2


def test_where_nothing_can_be_quoted_there_is_no_digest() -> None:
    assert digest([memory(1, "yes"), memory(2, "ok"), memory(3, "go on")]) is None
    assert digest([memory(1, "x" * 5000)]) is None
