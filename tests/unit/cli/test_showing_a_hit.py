"""A memory among the turns around it, as people read it."""

import os

import pytest

from iai_mcp.cli import output, show

LOG = "\n".join(f"line {n} of a log" for n in range(900))


def turn(number: int, text: str, **more: object) -> dict[str, object]:
    return {
        "id": f"id-{number}",
        "text": text,
        "role": "user",
        "ts": f"2026-09-0{number}T10:00",
        **more,
    }


def shown(*before: dict[str, object], after: tuple[dict[str, object], ...] = ()) -> list[str]:
    record = turn(5, "the hit\nin full\n" + LOG)
    return show.told({"record": record, "before": [*before], "after": [*after]}).split("\n")


def test_the_memory_is_marked_among_its_neighbours_and_whole() -> None:
    lines = shown(turn(1, "short"), after=(turn(6, "behind"),))
    (marked,) = [place for place, line in enumerate(lines) if line.startswith("▶ ")]
    assert lines[marked + 1 : marked + 3] == ["the hit", "in full"]
    assert "line 899 of a log" in lines
    assert "short" in lines and "behind" in lines


def test_alone_it_needs_no_mark() -> None:
    assert not shown()[0].startswith("▶")


def test_of_long_turns_around_it_the_first_lines_are_shown_with_where_the_rest_is() -> None:
    lines = shown(turn(1, LOG))
    assert lines[1:13] == [f"line {n} of a log" for n in range(12)]
    assert lines[13] == "… 888 more lines (iai-mcp show id-1)"


def test_a_line_without_an_end_is_cut_too() -> None:
    lines = shown(turn(1, "x" * 50_000))
    assert len(lines[1]) <= 1200
    assert lines[2] == "… more of this line (iai-mcp show id-1)"


def test_of_what_came_as_an_excerpt_the_size_of_the_whole_is_told_once() -> None:
    text = "\n".join(shown(turn(1, LOG, excerpt=True, characters=70_000)))
    assert "(70,000 characters in all: iai-mcp show id-1)" in text
    assert "more lines" not in text


def test_the_memory_begins_on_the_first_page_of_a_small_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(output, "terminal_size", lambda: os.terminal_size((80, 24)))
    lines = shown(*(turn(n, LOG) for n in (1, 2, 3)))
    (marked,) = [place for place, line in enumerate(lines) if line.startswith("▶ ")]
    assert marked < 20
